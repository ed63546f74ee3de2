package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"troupe/fleetd/atomicfile"
)

func names(t *testing.T, folder string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func content(t *testing.T, path string) (string, os.FileMode) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), info.Mode().Perm()
}

func TestFileIsReplacedWithItsMode(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "key")
	for _, c := range []struct {
		text string
		mode os.FileMode
	}{{"first", 0o644}, {"second", 0o600}, {"third", 0o640}} {
		if err := atomicfile.Write(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if text, mode := content(t, path); text != c.text || mode != c.mode {
			t.Errorf("%q with mode %v, want %q with mode %v", text, mode, c.text, c.mode)
		}
	}
	if all := names(t, folder); len(all) != 1 {
		t.Errorf("the folder has %v", all)
	}
}

func TestFileStaysUntilNewOneIsComplete(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "key")
	if err := atomicfile.Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("ne"); err != nil {
		t.Fatal(err)
	}
	if text, _ := content(t, path); text != "old" {
		t.Errorf("before the new file is complete there is %q", text)
	}
	if err := f.Discard(); err != nil {
		t.Error(err)
	}
	if all := names(t, folder); len(all) != 1 {
		t.Errorf("after a discarded file the folder has %v", all)
	}
	if err := f.Discard(); err != nil {
		t.Errorf("discarded twice: %v", err)
	}
}

// A folder stands where the file should be, so it cannot be replaced.
func TestFileThatCannotBeReplacedLeavesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "key")
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("new"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if all := names(t, folder); len(all) != 1 {
		t.Errorf("the folder has %v", all)
	}
}
