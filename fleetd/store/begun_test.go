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

// A new fleet has another id, and no robot of the earlier one heeds it.
func TestMissingSQLiteFileOfAnEarlierFleetIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	if err := storetest.Open(t, "sqlite:"+path).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a refusal changes nothing: the next one is the same
		_, err := open(t, "sqlite:"+path)
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "restore the backup") || !strings.Contains(err.Error(), path+".lock") {
			t.Fatalf("a missing file: %v", err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	storetest.Open(t, "sqlite:"+path)
}

// A power cut leaves the empty file of a fleet that never was.
func TestEmptySQLiteFileOfAStartThatWasCutShortBeginsAFleet(t *testing.T) {
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

// An earlier version wrote its process into the lock and nothing else.
func TestEmptySQLiteFileBesideALockOfAnEarlierVersionIsRefused(t *testing.T) {
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
