package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// Contexts hold tokens: a file that somebody else could read does not stay so.
func TestContextsAreForTheirOwnerOnly(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "troupe", "contexts.yaml")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	sh := &shell{Streams: Streams{Environ: []string{"XDG_CONFIG_HOME=" + folder}}}
	if err := sh.writeContexts(contexts{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}
