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

	"troupe/robotd/command"
	"troupe/robotd/delivery"
	"troupe/robotd/disk/disktest"
	"troupe/robotd/effect"
	"troupe/schema/sign"
)

// usedFile returns the bytes of a robot.db with every structure of bbolt: trees of
// several levels, values that span pages, free pages, inline buckets.
func usedFile(t *testing.T, records int64) []byte {
	t.Helper()
	d, _ := mustOpen(t, t.TempDir())
	k := kept()
	mustApply(t, d, effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Persisted: k,
		Blobs: []delivery.Blob{{SHA256: k.Active.Pin.SHA256, Bytes: bytes.Repeat([]byte("a"), 20_000)},
			{SHA256: k.Staged.Pin.SHA256, Bytes: []byte("c")}}}})
	for n := int64(1); n <= records; n += 50 {
		var batch []effect.Save
		for i := n; i < n+50; i++ {
			batch = append(batch, effect.SaveRequests{Put: []command.Record{record(i)}}, effect.SaveEvent{Payload: fmt.Appendf(nil, `{"seq":%d}`, i)})
		}
		mustApply(t, d, append(batch, setting("mode.ato", "off"), setting("newest", fmt.Sprint(n)))...)
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

// openBytes writes a robot.db and opens it.
func openBytes(t *testing.T, file []byte) (*Disk, Saved, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(dir)
}

// Files with 500 different damages, 100 in a short run. Open either refuses a file and says
// what to do, or the file then takes every kind of write and opens again.
func TestDamagedFileIsRefusedOrWorks(t *testing.T) {
	files := [][]byte{usedFile(t, 100), usedFile(t, 800)}
	refused, damages := 0, 500
	if testing.Short() {
		damages = 100
	}
	for seed := range uint64(damages) {
		what, file := disktest.Damage(seed, files[seed/10%2])
		t.Run(fmt.Sprintf("seed %d: %s", seed, what), func(t *testing.T) {
			d, saved, err := openBytes(t, file)
			if err != nil {
				refused++
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "move the file away") {
					t.Errorf("the refusal does not say what to do: %v", err)
				}
				return
			}
			defer func() { _ = d.Close() }()
			d.db.NoSync = true // this test does not need durability
			var forget []command.Key
			for _, r := range saved.Commands {
				forget = append(forget, r.Key())
			}
			mustApply(t, d, effect.SaveRequests{Put: []command.Record{record(9001), record(9002)}}, effect.SaveEvent{Payload: []byte("new")},
				setting("new", "1"))
			mustApply(t, d,
				effect.SaveContent{Save: delivery.Save{Kind: sign.Places,
					Blobs: []delivery.Blob{{SHA256: strings.Repeat("d", 64), Bytes: make([]byte, 50_000)}}}})
			mustApply(t, d, effect.SaveRequests{Forget: forget})
			if _, err := d.Events(); err != nil {
				t.Error(err)
			}
			if err := d.db.View(func(tx *bbolt.Tx) error { return errors.Join(checkErrors(tx)...) }); err != nil {
				t.Errorf("bbolt finds damage: %v", err)
			}
			reopen(t, d)
		})
	}
	if refused < damages/5 || refused > damages*9/10 {
		t.Errorf("%d of %d were refused: the damages are not as intended", refused, damages)
	}
}

func checkErrors(tx *bbolt.Tx) (all []error) {
	for err := range tx.Check() {
		all = append(all, err)
	}
	return all
}

// A page is both used and free. bbolt would open such a file, read all of it, and
// overwrite the page some day.
func TestUsedPageInFreelistIsRefused(t *testing.T) {
	file := usedFile(t, 2000)
	m, err := newestMeta(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	free := file[int64(m.freelist)*m.page:][:m.page]
	if elementCount(free) < 2 {
		t.Fatal("the file has no free pages")
	}
	for name, id := range map[string]uint64{"used and free": m.root, "free beyond the end": m.end} {
		was := bytes.Clone(free)
		last := headerBytes + 8*(elementCount(free)-1)
		if id == m.root { // keep the list in order
			for last > headerBytes && order.Uint64(free[last-8:]) > id {
				last -= 8
			}
		}
		order.PutUint64(free[last:], id)
		if _, _, err := openBytes(t, file); !errors.Is(err, ErrDamaged) {
			t.Errorf("a page that is %s was not detected: %v", name, err)
		}
		copy(free, was)
	}
}

// Random sequences of all writes; no state of the file may be refused.
func TestValidFilesAreAccepted(t *testing.T) {
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 1))
		d, _ := mustOpen(t, t.TempDir())
		d.db.NoSync = true // this test does not need durability
		var known []command.Key
		for step := range 300 {
			var batch []effect.Save
			switch r.IntN(6) {
			case 0:
				batch = append(batch,
					effect.SaveContent{Save: delivery.Save{Kind: sign.Story,
						Persisted: delivery.Persisted{Active: accepted(string(rune('a'+r.IntN(6))), 1)},
						Blobs:     []delivery.Blob{{SHA256: strings.Repeat(string(rune('a'+r.IntN(6))), 64), Bytes: make([]byte, r.IntN(200_000))}}}})
			case 1:
				n := r.IntN(len(known) + 1)
				batch = append(batch, effect.SaveRequests{Forget: known[:n]})
				known = known[n:]
			case 2:
				batch = append(batch, setting(fmt.Sprint("s", r.IntN(200)), strings.Repeat("v", r.IntN(300))))
			default:
				for range r.IntN(120) {
					rec := record(r.Int64N(100_000))
					rec.By = strings.Repeat("x", r.IntN(64)*r.IntN(64))
					known = append(known, rec.Key())
					batch = append(batch, effect.SaveRequests{Put: []command.Record{rec}}, effect.SaveEvent{Payload: make([]byte, r.IntN(500))})
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
			if err := checkFile(file, info.Size()); err != nil {
				t.Fatalf("seed %d, after step %d: %v", seed, step, err)
			}
			_ = file.Close()
		}
	}
}

// The test checks the settings of bbolt, because without a power cut a missing sync has
// no visible effect.
func TestEveryCommitIsSynced(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	if d.db.NoSync || d.db.NoGrowSync || d.db.NoFreelistSync {
		t.Errorf("bbolt does not sync: NoSync %v, NoGrowSync %v, NoFreelistSync %v", d.db.NoSync, d.db.NoGrowSync, d.db.NoFreelistSync)
	}
}

func TestFalsePageSizeAllocatesLittle(t *testing.T) {
	file := usedFile(t, 100)
	m, err := newestMeta(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	order.PutUint32(file[int64(m.root)*m.page+12:], 1<<31)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := openBytes(t, file); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("the refusal took %d bytes", took)
	}
}
