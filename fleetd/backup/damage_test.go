package backup_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"troupe/fleetd/backup"
)

// made makes a small backup and returns its bytes.
func made(t *testing.T) []byte {
	t.Helper()
	whole, err := os.ReadFile(mustMake(t, options(filled(t))))
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func TestEveryFlippedBitIsRefused(t *testing.T) {
	whole := made(t)
	path := filepath.Join(t.TempDir(), "damaged.backup")
	verify := func(text []byte) error {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := backup.Verify(t.Context(), path, nil)
		return err
	}
	if err := verify(whole); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		// What follows the sealed members is short, so most bits that are drawn would be in these.
		at := rapid.OneOf(rapid.IntRange(0, len(whole)-1), rapid.IntRange(len(whole)-5000, len(whole)-1), rapid.IntRange(0, 511)).Draw(t, "byte")
		bit := rapid.IntRange(0, 7).Draw(t, "bit")
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << bit
		if err := verify(damaged); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("bit %d of byte %d: %v", bit, at, err)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, len(whole)-1), rapid.IntRange(len(whole)-5000, len(whole)-1)).Draw(t, "bytes")
		if err := verify(whole[:n]); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	})
	for _, more := range []int{1, 511, 512, 1024} {
		if err := verify(append(bytes.Clone(whole), make([]byte, more)...)); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%d more zeros: %v", more, err)
		}
	}
}
