package records

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"troupe/fleetd/audit"
)

// flight is a whole record of a robot.
func flight(t *testing.T, robot string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := mcap.NewWriter(&out, &mcap.WriterOptions{Chunked: true, IncludeCRC: true})
	for _, err := range []error{
		err, w.WriteHeader(&mcap.Header{}), w.WriteMetadata(&mcap.Metadata{Name: "robotd", Metadata: map[string]string{"robot": robot}}),
		w.WriteChannel(&mcap.Channel{ID: 1, Topic: "/sample", MessageEncoding: "json"}),
		w.WriteMessage(&mcap.Message{ChannelID: 1, LogTime: uint64(noon.UnixNano()), Data: []byte(`{}`)}), w.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

type rig struct {
	*Keeper
	t      *testing.T
	now    time.Time
	notes  []audit.Note
	failed string // what the command of the robot came to
}

func newRig(t *testing.T, dir string) *rig {
	r := &rig{t: t, now: noon}
	r.Keeper = New(Deps{
		Log: slog.New(slog.DiscardHandler), Dir: dir, Now: func() time.Time { return r.now },
		Note:    func(n audit.Note) { r.notes = append(r.notes, n) },
		Outcome: func(context.Context, string) (bool, string) { return r.failed != "", r.failed },
	})
	return r
}

func (r *rig) ask() (Record, string) {
	r.t.Helper()
	got, key, err := r.Ask("r1", 10*time.Minute, "ann", audit.Source{Principal: "ann"}, "it fell")
	if err != nil {
		r.t.Fatal(err)
	}
	r.SetCommand(got.ID, "command-1")
	return got, key
}

func (r *rig) send(key string, body []byte, size int64) error {
	return r.Receive(key, Upload{Robot: "r1", Size: size, Body: bytes.NewReader(body), Extend: func() {}})
}

// files are what is in the folder besides what is known of records.
func (r *rig) files() (names []string) {
	all, err := os.ReadDir(r.Dir)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range all {
		if filepath.Ext(f.Name()) != aboutSuffix {
			names = append(names, f.Name())
		}
	}
	return names
}

// What a robot sends is kept for a day, also over a restart of fleetd, and its key is valid once.
func TestRecordIsKeptForADay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	r := newRig(t, dir)
	asked, key := r.ask()
	if len(key) < 32 || strings.Contains(asked.ID, key) {
		t.Errorf("key %q of record %s", key, asked.ID)
	}
	body := flight(t, "r1")
	if err := r.send(key, body, int64(len(body))); err != nil {
		t.Fatal(err)
	}
	if err := r.send(key, body, int64(len(body))); err == nil {
		t.Error("the key counted twice")
	}
	last := r.notes[len(r.notes)-1]
	if last.Outcome != audit.Done || last.Who != "ann" || last.Principal != "ann" || last.Why != "it fell" || last.Target != "robot r1" ||
		!strings.Contains(last.Detail, "the last 10m0s: 1 messages") {
		t.Errorf("%+v", last)
	}
	again := newRig(t, dir)
	got, known := again.Get("r1", asked.ID)
	if !known || got.State != Done || got.Bytes != int64(len(body)) || got.Messages != 1 || len(again.List("r2")) > 0 {
		t.Fatalf("after a restart: %+v", got)
	}
	f, err := again.Open(got)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := io.ReadAll(f); err != nil || !bytes.Equal(kept, body) {
		t.Errorf("%d bytes, %v", len(kept), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again.now = noon.Add(KeepFor)
	again.look(t.Context())
	if left := again.files(); len(again.List("r1")) > 0 || len(left) > 0 {
		t.Errorf("after a day: %v", left)
	}
}

// diskOf takes so many bytes.
type diskOf struct{ left int }

func (d *diskOf) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return len(p), nil
}
func (*diskOf) Close() error { return nil }

// Whatever goes wrong ends the record with a sentence, in the audit too, and leaves no file.
func TestRecordThatFailsSaysWhyAndLeavesNothing(t *testing.T) {
	body := flight(t, "r1")
	damaged := bytes.Clone(body)
	damaged[bytes.Index(body, []byte("{}"))] ^= 0xff // in the chunk
	whole := int64(len(body))
	for what, c := range map[string]struct {
		do   func(r *rig, key string)
		says string
	}{
		"the connection breaks": {func(r *rig, key string) {
			_ = r.Receive(key, Upload{Size: whole, Body: io.MultiReader(bytes.NewReader(body[:100]), iotest.ErrReader(errors.New("reset"))),
				Extend: func() {}})
		}, "broke after 100 of"},
		"it ends early": {func(r *rig, key string) { _ = r.send(key, body[:100], whole) }, "broke after 100 of"},
		"it is damaged": {func(r *rig, key string) { _ = r.send(key, damaged, whole) }, "no whole MCAP file"},
		"it is cut off": {func(r *rig, key string) { _ = r.send(key, body[:whole-20], whole-20) }, "no whole MCAP file"},
		"it is of another robot": {func(r *rig, key string) {
			other := flight(t, "r2")
			_ = r.send(key, other, int64(len(other)))
		}, "recorded by robot r2"},
		"it is too large": {func(r *rig, key string) { _ = r.send(key, body, 1<<30) }, "at most"},
		"the disk is full": {func(r *rig, key string) {
			r.Create = func(string) (io.WriteCloser, error) { return &diskOf{10}, nil }
			_ = r.send(key, body, whole)
		}, "the disk of fleetd is full"},
		"the robot refuses": {func(r *rig, _ string) { r.failed = "its recorder is off"; r.look(t.Context()) }, "its recorder is off"},
		"the robot sends nothing": {func(r *rig, _ string) {
			r.now = noon.Add(askedFor)
			r.look(t.Context())
		}, "sent nothing within"},
		"it takes too long": {func(r *rig, key string) {
			_ = r.Receive(key, Upload{Size: whole, Body: io.MultiReader(bytes.NewReader(body[:100]), endless{}), Extend: func() {
				r.now = noon.Add(sendFor)
				r.look(t.Context())
			}})
		}, "ask for a shorter time"},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, filepath.Join(t.TempDir(), "records"))
			asked, key := r.ask()
			c.do(r, key)
			got, _ := r.Get("r1", asked.ID)
			if got.State != Failed || !strings.Contains(got.Why, c.says) {
				t.Errorf("%+v", got)
			}
			if len(r.notes) != 1 || r.notes[0].Outcome != audit.Failed || !strings.Contains(r.notes[0].Why, c.says) {
				t.Errorf("%+v", r.notes)
			}
			if left := r.files(); len(left) > 0 {
				t.Errorf("it leaves %v", left)
			}
			if err := r.send(key, body, whole); err == nil {
				t.Error("its key is valid after that")
			}
			r.ask() // the next one is not kept back
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return 1, nil }

// A robot that uses the key of another one ends nothing.
func TestOtherRobotDoesNotEndTheRecord(t *testing.T) {
	r := newRig(t, filepath.Join(t.TempDir(), "records"))
	_, key := r.ask()
	body := flight(t, "r1")
	var no *Refused
	if err := r.Receive(key, Upload{Robot: "r2", Size: int64(len(body)), Body: bytes.NewReader(body), Extend: func() {}}); !errors.As(err,
		&no) || no.Why != OtherRobot {
		t.Errorf("%v", err)
	}
	if err := r.send(key, body, int64(len(body))); err != nil {
		t.Error(err)
	}
}

func TestRestartEndsWhatWasOnItsWay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	r := newRig(t, dir)
	asked, key := r.ask()
	if err := os.WriteFile(r.path(asked.ID, partSuffix), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := newRig(t, dir)
	got, _ := again.Get("r1", asked.ID)
	if got.State != Failed || !strings.Contains(got.Why, "fleetd was restarted") || len(again.files()) > 0 {
		t.Errorf("%+v, %v", got, again.files())
	}
	var no *Refused
	if err := again.send(key, []byte("x"), 1); !errors.As(err, &no) || no.Why != UnknownKey {
		t.Errorf("%v", err)
	}
}

// As of a later release, or damaged.
func TestRecordThatCannotBeReadIsDeletedAtTheStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	newRig(t, dir)
	for name, text := range map[string]string{"later" + aboutSuffix: `{"id":7}`, "later" + fileSuffix: "mcap"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newRig(t, dir)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
