package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestLostLatchesAreLostUntilNewOnesAreKept starts a robot again and again that ends
// each time before it has kept that it is held.
func TestLostLatchesAreLostUntilNewOnesAreKept(t *testing.T) {
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
				if !saved.LatchesLost || saved.Refused != nil {
					t.Errorf("start %d: lost %v, refused %v", n, saved.LatchesLost, saved.Refused)
				}
				d, saved = reopen(t, d)
			}
			mustKeep(t, d, "held")
			if _, saved = reopen(t, d); saved.LatchesLost || string(saved.Latches) != "held" {
				t.Errorf("once it was kept: lost %v, kept %q", saved.LatchesLost, saved.Latches)
			}
		})
	}
}

// TestDamagedSlotIsWrittenFirst cuts the first write after a loss short: what was read
// then is there the next time.
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
		record1(t, d).refuses["write"] = syscall.EIO
		if err := d.KeepLatches([]byte("held")); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v", err)
		}
		if _, saved := reopen(t, d); string(saved.Latches) != kept || !saved.LatchesLost {
			t.Errorf("kept %q, lost %v; want %q, lost", saved.Latches, saved.LatchesLost, kept)
		}
	}
}
