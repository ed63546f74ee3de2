package cli

import (
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// A file that fleetd needs and the backup lacks is missed when the server is gone.
func TestBackupHasEveryFileThatASettingNames(t *testing.T) {
	files := regexp.MustCompile(`^(PEM |YAML )?(file|folder) with`)
	sh := &shell{}
	sh.serveCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if files.MatchString(f.Usage) && !slices.Contains(fileSettings, f.Name) {
			t.Errorf("--%s names a file that no backup has", f.Name)
		}
	})
	if c := sh.backupCommand(); c.Flags().Lookup("sign-key") == nil || c.Flags().Lookup("http") != nil {
		t.Error("the flags of backup are not those of the files")
	}
}
