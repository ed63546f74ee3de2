package disk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"troupe/robotd/delivery"
	"troupe/robotd/disk/disktest"
	"troupe/robotd/request"
	"troupe/schema/sign"
)

// usedFile returns the bytes of a robot.db that has everything in it: trees of
// several levels, values that span pages, free pages, small buckets within others.
func usedFile(t *testing.T, records int64) []byte {
	t.Helper()
	d, _ := mustOpen(t, t.TempDir())
	k := kept()
	mustApply(t, d, Content{delivery.Save{Kind: sign.Story, Kept: k, Blobs: []delivery.Blob{{SHA256: k.Active.Story.SHA256, Bytes: bytes.Repeat([]byte("a"), 20_000)}, {SHA256: k.Staged.Story.SHA256, Bytes: []byte("c")}}}})
	for n := int64(1); n <= records; n += 50 {
		var batch []Write
		for i := n; i < n+50; i++ {
			batch = append(batch, Commands{request.Save{Put: []request.Record{record(i)}}}, Event{fmt.Appendf(nil, `{"seq":%d}`, i)})
		}
		mustApply(t, d, append(batch, Setting{"mode.ato", "off"}, Setting{"newest", fmt.Sprint(n)})...)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// startOn writes a robot.db and opens it.
func startOn(t *testing.T, file []byte) (*Disk, Saved, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(dir)
}

// TestDamagedFileIsRefusedOrServes damages a file in 500 ways. Each is refused with
// what to do, or opens and then takes whatever a robot writes, and opens again.
func TestDamagedFileIsRefusedOrServes(t *testing.T) {
	files := [][]byte{usedFile(t, 100), usedFile(t, 800)}
	refused := 0
	for seed := range uint64(500) {
		what, file := disktest.Damage(seed, files[seed/10%2])
		t.Run(fmt.Sprintf("seed %d: %s", seed, what), func(t *testing.T) {
			d, saved, err := startOn(t, file)
			if err != nil {
				refused++
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "move the file away") {
					t.Errorf("the refusal does not say what to do: %v", err)
				}
				return
			}
			defer func() { _ = d.Close() }()
			d.db.NoSync = true // nothing here is about power
			var forget []request.Key
			for _, r := range saved.Commands {
				forget = append(forget, r.Key())
			}
			mustApply(t, d, Commands{request.Save{Put: []request.Record{record(9001), record(9002)}}}, Event{[]byte("new")}, Setting{"new", "1"})
			mustApply(t, d, Content{delivery.Save{Kind: sign.Places, Blobs: []delivery.Blob{{SHA256: strings.Repeat("d", 64), Bytes: make([]byte, 50_000)}}}})
			mustApply(t, d, Commands{request.Save{Forget: forget}})
			if _, err := d.Events(); err != nil {
				t.Error(err)
			}
			if err := d.db.View(func(tx *bbolt.Tx) error { return errors.Join(errorsOf(tx)...) }); err != nil {
				t.Errorf("bbolt finds damage: %v", err)
			}
			reopen(t, d)
		})
	}
	if refused < 100 || refused > 450 {
		t.Errorf("%d of 500 were refused: the damage is not what it was meant to be", refused)
	}
}

func errorsOf(tx *bbolt.Tx) (all []error) {
	for err := range tx.Check() {
		all = append(all, err)
	}
	return all
}

// TestDamageThatOnlyTheCheckSeesIsRefused has a page that is used and free at once:
// bbolt opens such a file, reads all of it, and overwrites the page some day.
func TestDamageThatOnlyTheCheckSeesIsRefused(t *testing.T) {
	file := usedFile(t, 2000)
	m, err := newestMeta(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	free := file[int64(m.freelist)*m.page:][:m.page]
	if count(free) < 2 {
		t.Fatal("there are no free pages")
	}
	for name, id := range map[string]uint64{"used and free": m.root, "free beyond the end": m.end} {
		was := bytes.Clone(free)
		last := headerBytes + 8*(count(free)-1)
		if id == m.root { // it has to stand in its order
			for last > headerBytes && order.Uint64(free[last-8:]) > id {
				last -= 8
			}
		}
		order.PutUint64(free[last:], id)
		if _, _, err := startOn(t, file); !errors.Is(err, ErrDamaged) {
			t.Errorf("a page that is %s was not noticed: %v", name, err)
		}
		copy(free, was)
	}
}

// TestSoundFilesAreTaken lets a store live through everything that a robot writes,
// at random, and looks at it after each commit: no sound file is refused.
func TestSoundFilesAreTaken(t *testing.T) {
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 1))
		d, _ := mustOpen(t, t.TempDir())
		d.db.NoSync = true // nothing here is about power
		var known []request.Key
		for step := range 300 {
			var batch []Write
			switch r.IntN(6) {
			case 0:
				batch = append(batch, Content{delivery.Save{Kind: sign.Story, Kept: delivery.Kept{Active: accepted(string(rune('a'+r.IntN(6))), 1)},
					Blobs: []delivery.Blob{{SHA256: strings.Repeat(string(rune('a'+r.IntN(6))), 64), Bytes: make([]byte, r.IntN(200_000))}}}})
			case 1:
				n := r.IntN(len(known) + 1)
				batch = append(batch, Commands{request.Save{Forget: known[:n]}})
				known = known[n:]
			case 2:
				batch = append(batch, Setting{fmt.Sprint("s", r.IntN(200)), strings.Repeat("v", r.IntN(300))})
			default:
				for range r.IntN(120) {
					rec := record(r.Int64N(100_000))
					rec.By = strings.Repeat("x", r.IntN(64)*r.IntN(64))
					known = append(known, rec.Key())
					batch = append(batch, Commands{request.Save{Put: []request.Record{rec}}}, Event{make([]byte, r.IntN(500))})
				}
			}
			mustApply(t, d, batch...)
			if step%4 > 0 {
				continue
			}
			info, err := os.Stat(d.path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.Open(d.path)
			if err != nil {
				t.Fatal(err)
			}
			if err := walk(file, info.Size()); err != nil {
				t.Fatalf("seed %d, after step %d: %v", seed, step, err)
			}
			_ = file.Close()
		}
	}
}

// TestEveryCommitIsSynced looks at the store's own settings: that a commit waits for
// the disk is nothing that a test without a power cut sees.
func TestEveryCommitIsSynced(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	if d.db.NoSync || d.db.NoGrowSync || d.db.NoFreelistSync {
		t.Errorf("the store does not sync what it promises: NoSync %v, NoGrowSync %v, NoFreelistSync %v", d.db.NoSync, d.db.NoGrowSync, d.db.NoFreelistSync)
	}
}

func TestLargeClaimsTakeNoMemory(t *testing.T) {
	file := usedFile(t, 100)
	m, err := newestMeta(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	order.PutUint32(file[int64(m.root)*m.page+12:], 1<<31)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := startOn(t, file); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("the refusal took %d bytes", took)
	}
}
