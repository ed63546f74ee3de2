package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"troupe/robotd/command"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

func mustOpen(t *testing.T, dir string) (*Disk, Saved) {
	t.Helper()
	d, saved, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, saved
}

func reopen(t *testing.T, d *Disk) (*Disk, Saved) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, filepath.Dir(d.path))
}

func setting(name, value string) effect.Save { return effect.SaveValue{Name: name, Value: value} }

func mustApply(t *testing.T, d *Disk, batch ...effect.Save) {
	t.Helper()
	if err := d.Apply(batch...); err != nil {
		t.Fatal(err)
	}
}

func record(n int64) command.Record {
	return command.Record{N: n, Client: "op1", ID: fmt.Sprintf("k%d", n), Verb: "mode/set", Word: "ato", By: "Ada", At: 1_800_000_000_123,
		SHA256: [32]byte{1, 2, byte(n)}, Answer: command.Answer{Verdict: schema.Verdict{Status: schema.StatusFailed,
			Result: schema.ResultNotReady, Reason: schema.ReasonStartFailed, Detail: "so it is", Pointer: "/args/mode"}, UncheckedAge: true},
		Delivered: true}
}

func accepted(id string, rev int64) *delivery.Accepted {
	return &delivery.Accepted{Rev: rev, Apply: schema.ApplyNow, Since: 1_800_000_000_000, Pin: schema.ContentPin{ID: id, Rev: 3,
		Name: "A story", SHA256: strings.Repeat(id, 64), Size: 5}}
}

func kept() delivery.Persisted {
	return delivery.Persisted{
		Desired: delivery.Desired{Rev: 9, FleetID: "home", Pin: &schema.ContentPin{ID: "c", Rev: 1, SHA256: strings.Repeat("c", 64), Size: 1},
			Apply: schema.ApplyNextStart, Deadline: 1_800_000_000_000},
		Phase: schema.DeployRejected, Reason: schema.ReasonStoryEmpty, Pointer: "/story/acts", Detail: "none", ActsDigest: "abc",
		Active: accepted("a", 8), Previous: accepted("b", 7), Staged: accepted("c", 9),
	}
}

func TestStoredStateSurvivesRestart(t *testing.T) {
	d, saved := mustOpen(t, filepath.Join(t.TempDir(), "new", "directory"))
	if want := (Saved{Starts: 1, Deliveries: map[sign.Kind]delivery.Persisted{}, Blobs: map[string][]byte{},
		Values: map[string]string{}}); !reflect.DeepEqual(saved, want) {
		t.Fatalf("a new directory contains %+v", saved)
	}
	k := kept()
	mustApply(t, d,
		effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Persisted: k,
			Blobs: []delivery.Blob{{SHA256: k.Staged.Pin.SHA256, Bytes: []byte("bytes of c")}}}},
		effect.SaveRequests{Put: []command.Record{record(1), record(2), record(3)}},
		setting("mode.ato", "off"), setting("interrupter.touch", "stopped"),
		effect.SaveEvent{Payload: []byte(`{"seq":1}`)}, effect.SaveEvent{Payload: []byte(`{"seq":2}`)})
	mustApply(t, d, effect.SaveRequests{Forget: []command.Key{"op1/k2"}}, setting("interrupter.touch", ""))

	d, saved = reopen(t, d)
	want := Saved{Starts: 2, Deliveries: map[sign.Kind]delivery.Persisted{sign.Story: k},
		Blobs:    map[string][]byte{k.Staged.Pin.SHA256: []byte("bytes of c")},
		Commands: []command.Record{record(1), record(3)}, Values: map[string]string{"mode.ato": "off"}}
	if !reflect.DeepEqual(saved, want) {
		t.Errorf("got\n%+v, want\n%+v", saved, want)
	}
	if events, err := d.Events(); err != nil || len(events) != 2 || string(events[1]) != `{"seq":2}` {
		t.Errorf("events %q, %v", events, err)
	}
	if _, saved = reopen(t, d); saved.Starts != 3 {
		t.Errorf("the third start is counted as %d", saved.Starts)
	}
}

func TestRecordsAreDeletedBeforeNewOnesAreStored(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	mustApply(t, d, effect.SaveRequests{Put: []command.Record{record(1)}})
	again := record(1)
	again.Answer = command.Answer{}
	mustApply(t, d, effect.SaveRequests{Put: []command.Record{again}, Forget: []command.Key{again.Key()}})
	if _, saved := reopen(t, d); len(saved.Commands) != 1 || !reflect.DeepEqual(saved.Commands[0], again) {
		t.Errorf("got %+v", saved.Commands)
	}
}

func TestUnreferencedBlobsAreDeleted(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	k := kept()
	for _, a := range []*delivery.Accepted{k.Active, k.Previous, k.Staged} {
		mustApply(t, d, effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Persisted: k,
			Blobs: []delivery.Blob{{SHA256: a.Pin.SHA256, Bytes: []byte(a.Pin.ID)}}}})
	}
	k.Previous, k.Active, k.Staged = k.Active, k.Staged, nil
	mustApply(t, d, effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Persisted: k}})
	_, saved := reopen(t, d)
	if len(saved.Blobs) != 2 || string(saved.Blobs[k.Active.Pin.SHA256]) != "c" || string(saved.Blobs[k.Previous.Pin.SHA256]) != "a" {
		t.Errorf("blobs %q", saved.Blobs)
	}
}

func TestEachKindOfContentKeepsItsBlobs(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	blob := func(id string) delivery.Blob { return delivery.Blob{SHA256: strings.Repeat(id, 64), Bytes: []byte(id)} }
	story, places := delivery.Persisted{Active: accepted("a", 1)}, delivery.Persisted{Active: accepted("b", 1)}
	story.Active.Files = []score.Asset{{Name: "gong", Kind: score.AssetSound, SHA256: strings.Repeat("c", 64), Size: 1}}
	mustApply(t, d, effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Persisted: story, Blobs: []delivery.Blob{blob("a"), blob("c")}}})
	mustApply(t, d, effect.SaveContent{Save: delivery.Save{Kind: sign.Places, Persisted: places, Blobs: []delivery.Blob{blob("b")}}})
	mustApply(t, d, effect.SaveContent{Save: delivery.Save{Kind: sign.Activities}})
	d, saved := reopen(t, d)
	if len(saved.Deliveries) != 3 || len(saved.Blobs) != 3 || saved.Deliveries[sign.Places].Active.Pin.ID != "b" ||
		len(saved.Deliveries[sign.Story].Active.Files) != 1 {
		t.Fatalf("stored %+v with blobs %q", saved.Deliveries, saved.Blobs)
	}
	mustApply(t, d, effect.SaveContent{Save: delivery.Save{Kind: sign.Story}})
	_, saved = reopen(t, d)
	if len(saved.Blobs) != 1 || saved.Blobs[strings.Repeat("b", 64)] == nil {
		t.Errorf("after the story was deleted, the blobs are %q", saved.Blobs)
	}
}

func TestNewestEventsAreKept(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	for from := 0; from < MaxEvents+500; from += 100 {
		var batch []effect.Save
		for i := range 100 {
			batch = append(batch, effect.SaveEvent{Payload: fmt.Append(nil, from+i)})
		}
		mustApply(t, d, batch...)
	}
	d, _ = reopen(t, d)
	mustApply(t, d, effect.SaveEvent{Payload: []byte("last")})
	events, err := d.Events()
	if err != nil || len(events) != MaxEvents || string(events[0]) != "501" || string(events[MaxEvents-1]) != "last" {
		t.Errorf("%d events from %q to %q, %v", len(events), events[0], events[len(events)-1], err)
	}
}

func TestBatchIsAtomic(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	refused := setting(strings.Repeat("n", bbolt.MaxKeySize+1), "1")
	if err := d.Apply(setting("a", "1"), refused, setting("b", "2")); err == nil || Reason(err) != schema.ReasonInternal {
		t.Fatalf("a broken batch: %v, %s", err, Reason(err))
	}
	if _, saved := reopen(t, d); len(saved.Values) != 0 {
		t.Errorf("half a batch was stored: %v", saved.Values)
	}
}

func TestWriteToFullDiskFailsWithoutDamage(t *testing.T) {
	dir := t.TempDir()
	d, _, err := open(dir, 256<<10)
	if err != nil {
		t.Fatal(err)
	}
	mustApply(t, d, setting("a", "1"))
	k := kept()
	err = d.Apply(setting("a", "2"), effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Persisted: k,
		Blobs: []delivery.Blob{{SHA256: k.Staged.Pin.SHA256, Bytes: make([]byte, 512<<10)}}}})
	if Reason(err) != schema.ReasonNoSpace {
		t.Fatalf("error on a full disk: %v (%s)", err, Reason(err))
	}
	mustApply(t, d, setting("b", "3"))
	if _, saved := reopen(t, d); saved.Values["a"] != "1" || saved.Values["b"] != "3" || len(saved.Deliveries) != 0 {
		t.Errorf("after a refusal: %+v", saved)
	}
	for _, err := range []error{fmt.Errorf("write: %w", syscall.ENOSPC), fmt.Errorf("file resize error: %s", syscall.ENOSPC), syscall.EDQUOT} {
		if Reason(err) != schema.ReasonNoSpace {
			t.Errorf("the reason of %v is %s", err, Reason(err))
		}
	}
	if Reason(nil) != "" || Reason(syscall.EIO) != schema.ReasonInternal {
		t.Errorf("the reason of nil is %q, of EIO %q", Reason(nil), Reason(syscall.EIO))
	}
}

func TestSecondProgramIsRefused(t *testing.T) {
	dir := t.TempDir()
	d, _ := mustOpen(t, dir)
	_, _, err := Open(dir)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir)
}

func TestDamagedFileIsRefusedUnchanged(t *testing.T) {
	page := os.Getpagesize()
	for name, harm := range map[string]func(b []byte) []byte{
		"not a bbolt file":     func(b []byte) []byte { return []byte("mode,story\nato,welcome\n") },
		"truncated":            func(b []byte) []byte { return b[:len(b)/2] },
		"only meta pages":      func(b []byte) []byte { return b[:2*page] },
		"both meta pages zero": func(b []byte) []byte { clear(b[:2*page]); return b },
		"pages overwritten": func(b []byte) []byte {
			for i := range b[2*page:] {
				b[2*page+i] ^= 0x5a
			}
			return b
		},
		"a record overwritten": func(b []byte) []byte {
			return []byte(strings.ReplaceAll(string(b), `"client":"op1"`, `"client":"op1}`))
		},
		"a later format": func(b []byte) []byte {
			// the value of the key format, wherever it is in the page
			return []byte(strings.ReplaceAll(string(b), "format\x00\x00\x00\x00\x00\x00\x00\x03", "format\x00\x00\x00\x00\x00\x00\x00\x04"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d, _ := mustOpen(t, dir)
			for n := int64(0); n < 200; n += 20 {
				var put []command.Record
				for i := range int64(20) {
					put = append(put, record(n+i+1))
				}
				mustApply(t, d, effect.SaveRequests{Put: put})
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			sound, err := os.ReadFile(d.path)
			if err != nil {
				t.Fatal(err)
			}
			harmed := harm(slices.Clone(sound))
			if slices.Equal(harmed, sound) {
				t.Fatal("the file was not changed")
			}
			if err := os.WriteFile(d.path, harmed, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err = Open(dir)
			if err == nil || !strings.Contains(err.Error(), d.path) {
				t.Fatalf("a damaged file was opened: %v", err)
			}
			if name == "a later format" {
				if errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "format 4") {
					t.Errorf("got %v", err)
				}
			} else if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "move the file away") ||
				!strings.Contains(err.Error(), latchFile+" beside it stays") {
				t.Errorf("got %v", err)
			}
			if after, err := os.ReadFile(d.path); err != nil || !slices.Equal(after, harmed) {
				t.Errorf("the damaged file was changed (%d bytes, were %d), %v", len(after), len(harmed), err)
			}
			// After a repair the file can be opened: no lock was left behind.
			if err := os.WriteFile(d.path, sound, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, saved := mustOpen(t, dir); len(saved.Commands) != 200 {
				t.Errorf("%d commands after the repair", len(saved.Commands))
			}
		})
	}
}

func TestUnusableDirectoryIsNotReportedAsDamage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(filepath.Join(file, "data")); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, fileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(dir); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
}
