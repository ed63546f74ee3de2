//go:build unix

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

// A new fleet would have another id, and the robots of the earlier one would not obey it.
func TestMissingSQLiteFileOfAFleetIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	if err := storetest.Open(t, "sqlite:"+path).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a refusal changes nothing, so the next start is refused as well
		_, err := open(t, "sqlite:"+path)
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "restore the backup") ||
			!strings.Contains(err.Error(), path+".lock") {
			t.Fatalf("a missing file: %v", err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was created")
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	storetest.Open(t, "sqlite:"+path)
}

// A power cut in the first start leaves an empty file without a fleet.
func TestEmptySQLiteFileOfAnInterruptedFirstStartIsUsed(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "fleet.db")
	if err := os.Mkdir(path+"-wal", 0o700); err != nil { // the first page cannot be written
		t.Fatal(err)
	}
	if _, err := open(t, "sqlite:"+path); err == nil {
		t.Fatal("a start whose log cannot be written succeeded")
	}
	if err := errors.Join(os.Remove(path+"-wal"), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	storetest.Open(t, "sqlite:"+path)
}

// An earlier version wrote only its process id into the lock.
func TestEmptySQLiteFileWithAnUnmarkedLockIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	if err := errors.Join(os.WriteFile(path+".lock", []byte("4711\n"), 0o600), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := open(t, "sqlite:"+path); !errors.Is(err, store.ErrDamaged) {
			t.Fatalf("an empty file: %v", err)
		}
	}
}
