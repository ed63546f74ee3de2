package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/schema"
)

// recordingFile records the operations on a file and can make them fail.
type recordingFile struct {
	inPlaceFile
	done    []string
	refuses map[string]error
}

func (f *recordingFile) WriteAt(b []byte, at int64) (int, error) {
	f.done = append(f.done, fmt.Sprintf("write at %d", at))
	if err := f.refuses["write"]; err != nil {
		n, _ := f.inPlaceFile.WriteAt(b[:len(b)/2], at) // a partial write
		return n, err
	}
	return f.inPlaceFile.WriteAt(b, at)
}

func (f *recordingFile) Sync() error {
	f.done = append(f.done, "sync")
	return errors.Join(f.refuses["sync"], f.inPlaceFile.Sync())
}

func recordWrites(t *testing.T, d *Disk) *recordingFile {
	t.Helper()
	f := &recordingFile{inPlaceFile: d.latches.file, refuses: map[string]error{}}
	d.latches.file = f
	return f
}

func mustKeep(t *testing.T, d *Disk, value string) {
	t.Helper()
	if err := d.SaveLatches([]byte(value)); err != nil {
		t.Fatal(err)
	}
}

func TestLatchesAreSyncedInPlaceAndSurviveRestart(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	f := recordWrites(t, d)
	mustKeep(t, d, "one")
	mustKeep(t, d, "two")
	if want := []string{"write at 131072", "sync", "write at 0", "sync"}; !slices.Equal(f.done, want) {
		t.Errorf("done %q, want %q", f.done, want)
	}
	for range 3 {
		var saved Saved
		if d, saved = reopen(t, d); string(saved.Latches) != "two" || saved.LatchesLost || saved.WriteErr != nil {
			t.Fatalf("latches %q, lost %v, refused %v", saved.Latches, saved.LatchesLost, saved.WriteErr)
		}
	}
	if err := d.SaveLatches(make([]byte, slotBytes)); err == nil {
		t.Error("a value that does not fit was accepted")
	}
	if info, err := os.Stat(d.latches.path); err != nil || info.Size() != latchSlots*slotBytes {
		t.Errorf("the file has %d bytes: %v", info.Size(), err)
	}
}

func TestFailedLatchWriteKeepsNewestValue(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	mustKeep(t, d, "newest")
	f := recordWrites(t, d)
	for op, value := range map[string]string{"write": "refused", "sync": "refused too"} {
		f.refuses = map[string]error{op: syscall.EIO}
		for range 3 { // retries must not reach the slot of the newest value
			if err := d.SaveLatches([]byte(value)); !errors.Is(err, syscall.EIO) {
				t.Fatalf("%s: got %v", op, err)
			}
		}
	}
	f.refuses = map[string]error{"write": syscall.EIO} // a partial write
	_ = d.SaveLatches([]byte("refused at last"))
	if _, saved := reopen(t, d); string(saved.Latches) != "newest" || !saved.LatchesLost {
		t.Errorf("latches %q, lost %v", saved.Latches, saved.LatchesLost)
	}
}

// The valid slots are read, and the loss is reported until a value is stored again.
func TestDamagedLatchesAreReportedAsLost(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(b []byte) []byte
		kept string
	}{
		"the newest value":       {func(b []byte) []byte { b[slotHeader+1] ^= 4; return b }, "older"},
		"the newest header":      {func(b []byte) []byte { b[9] ^= 4; return b }, "older"},
		"the newest header zero": {func(b []byte) []byte { clear(b[:512]); return b }, "older"},
		"the older value":        {func(b []byte) []byte { b[slotBytes+slotHeader] ^= 4; return b }, "newest"},
		"both":                   {func(b []byte) []byte { clear(b); return b }, ""},
		"truncated":              {func(b []byte) []byte { return b[:slotBytes+8] }, "newest"},
		"empty":                  {func(b []byte) []byte { return nil }, ""},
		"gone":                   {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := mustOpen(t, t.TempDir())
			mustKeep(t, d, "older")
			mustKeep(t, d, "newest")
			_ = d.Close()
			b, err := os.ReadFile(d.latches.path)
			if err != nil {
				t.Fatal(err)
			}
			if c.harm == nil {
				err = os.Remove(d.latches.path)
			} else {
				err = os.WriteFile(d.latches.path, c.harm(b), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			d, saved := mustOpen(t, filepath.Dir(d.path))
			if string(saved.Latches) != c.kept || !saved.LatchesLost || saved.WriteErr != nil {
				t.Errorf("latches %q, lost %v, refused %v", saved.Latches, saved.LatchesLost, saved.WriteErr)
			}
			mustKeep(t, d, c.kept)
			if _, saved = reopen(t, d); saved.LatchesLost || string(saved.Latches) != c.kept {
				t.Errorf("after it was stored again: latches %q, lost %v", saved.Latches, saved.LatchesLost)
			}
		})
	}
}

func TestFileOfOldFormatIsRefusedUnchanged(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	err := d.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(formatKey, bigEndian(oldestFormat-1)) })
	if err = errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(filepath.Dir(d.path)); err == nil || !strings.Contains(err.Error(), "start the release that wrote it") {
		t.Errorf("a file of format %d: %v", oldestFormat-1, err)
	}
	if after, err := os.ReadFile(d.path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the refused file was changed: %v", err)
	}
}

// limitedFiles names the environment variable that makes a test limit the size of this
// process's files.
const limitedFiles = "TROUPE_TEST_LIMITED_FILES"

// RLIMIT_FSIZE simulates the full disk, in a process of its own: go test logs what a test
// binary opens, and the limit would refuse that file too.
func TestFullDiskStoresLatches(t *testing.T) {
	if os.Getenv(limitedFiles) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), limitedFiles+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
			t.Errorf("with limited files: %v\n%s", err, out)
		}
		return
	}
	d, _ := mustOpen(t, t.TempDir())
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	limitFileSize := func(bytes uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { limitFileSize(was.Cur) })
	limitFileSize(latchSlots * slotBytes)
	var err error
	for n := int64(1); err == nil; n++ {
		r := record(n)
		r.By = strings.Repeat("x", 50_000)
		err = d.Apply(effect.SaveRequests{Put: []command.Record{r}})
	}
	if Reason(err) != schema.ReasonNoSpace {
		t.Errorf("reason %s: %v", Reason(err), err)
	}
	mustKeep(t, d, "held")
	limitFileSize(0)
	if err := d.SaveLatches([]byte("more")); Reason(err) != schema.ReasonNoSpace {
		t.Errorf("on a disk that refuses every write: %v", err)
	}
	d, saved := reopen(t, d)
	if string(saved.Latches) != "held" || Reason(saved.WriteErr) != schema.ReasonNoSpace || saved.Starts != 2 {
		t.Errorf("latches %q, refused %v, start %d", saved.Latches, saved.WriteErr, saved.Starts)
	}
	limitFileSize(was.Cur)
	mustApply(t, d, setting("a", "1"))
	mustKeep(t, d, "again")
	if _, saved := reopen(t, d); saved.WriteErr != nil || saved.Starts != 3 || string(saved.Latches) != "again" {
		t.Errorf("with free space again: latches %q, refused %v, start %d", saved.Latches, saved.WriteErr, saved.Starts)
	}
}
