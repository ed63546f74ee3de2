package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The robot starts several times and ends each time before it stores anything.
func TestLossOfLatchesIsReportedUntilNewOnesAreStored(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"damaged": func(path string) error {
			b, err := os.ReadFile(path)
			if err == nil {
				b[slotHeader+1] ^= 4
				err = os.WriteFile(path, b, 0o600)
			}
			return err
		},
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"zeroed":  func(path string) error { return os.WriteFile(path, make([]byte, latchSlots*slotBytes), 0o600) },
		"deleted": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := mustOpen(t, t.TempDir())
			mustKeep(t, d, "older")
			mustKeep(t, d, "newest")
			if err := errors.Join(d.Close(), harm(d.latches.path)); err != nil {
				t.Fatal(err)
			}
			d, saved := mustOpen(t, filepath.Dir(d.path))
			for n := range 3 {
				if !saved.LatchesLost || saved.WriteErr != nil {
					t.Errorf("start %d: lost %v, refused %v", n, saved.LatchesLost, saved.WriteErr)
				}
				d, saved = reopen(t, d)
			}
			mustKeep(t, d, "held")
			if _, saved = reopen(t, d); saved.LatchesLost || string(saved.Latches) != "held" {
				t.Errorf("after they were stored: lost %v, latches %q", saved.LatchesLost, saved.Latches)
			}
		})
	}
}

// The first write after the damage fails halfway; the value of the valid slot must
// survive.
func TestDamagedSlotIsWrittenFirst(t *testing.T) {
	for slot, kept := range []string{"older", "newest"} {
		d, _ := mustOpen(t, t.TempDir())
		mustKeep(t, d, "older")
		mustKeep(t, d, "newest")
		b, err := os.ReadFile(d.latches.path)
		if err != nil {
			t.Fatal(err)
		}
		newest := int(d.latches.tx % latchSlots)
		b[(newest+slot)%latchSlots*slotBytes+slotHeader+1] ^= 4
		if err = errors.Join(d.Close(), os.WriteFile(d.latches.path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
		d, _ = mustOpen(t, filepath.Dir(d.path))
		recordWrites(t, d).refuses["write"] = syscall.EIO
		if err := d.SaveLatches([]byte("held")); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v", err)
		}
		if _, saved := reopen(t, d); string(saved.Latches) != kept || !saved.LatchesLost {
			t.Errorf("latches %q, lost %v; want %q, lost", saved.Latches, saved.LatchesLost, kept)
		}
	}
}
