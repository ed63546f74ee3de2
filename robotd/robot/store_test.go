package robot

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"troupe/robotd/disk"
	"troupe/robotd/effect"
)

func TestLostDiskIsDetected(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "identity"), 0o700); err != nil { // it was enrolled
		t.Fatal(err)
	}
	db := filepath.Join(dir, "robot.db")
	for _, start := range []struct {
		what string
		do   func() error
		lost bool
	}{
		{"its first start", nil, false},
		{"a start as any other", nil, false},
		{"the file is gone", func() error { return os.Remove(db) }, true},
		{"it ended before it had kept that it is held", nil, true},
		{"once it has kept that", func() error {
			d, _, err := disk.Open(dir)
			if err != nil {
				return err
			}
			return errors.Join(d.Apply(effect.SaveValue{Name: "lost"}), d.Close())
		}, false},
		{"the file is empty", func() error { return os.Truncate(db, 0) }, true},
	} {
		if start.do != nil {
			if err := start.do(); err != nil {
				t.Fatal(err)
			}
		}
		store, _, memory, err := openStore(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if memory.Lost != start.lost {
			t.Errorf("%s: lost %v, want %v", start.what, memory.Lost, start.lost)
		}
		if err := store.close(); err != nil {
			t.Fatal(err)
		}
	}
}
