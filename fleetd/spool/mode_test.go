//go:build unix

package spool

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestFilesAreReadableByTheirOwnerOnly(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // the most permissive
	path := filepath.Join(t.TempDir(), "stops")
	for _, when := range []string{"new files", "files of an earlier start", "files with wider modes"} {
		s, _, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, path + ".lock"} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s: mode %v, want 0600", when, filepath.Base(name), info.Mode().Perm())
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if when == "files of an earlier start" {
			for _, name := range []string{path, path + ".lock", path + ".new"} {
				if err := os.WriteFile(name, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(name, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
