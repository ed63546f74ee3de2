package spool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/stop"
	"troupe/schema"
)

func request(id string) stop.Request {
	return stop.Request{ID: id, Level: schema.StopStop, By: "anna", Why: "ü \n \"", At: time.Date(2026, 5, 17, 9, 30, 0, 123456000, time.UTC),
		Robots: []string{"r1"}}
}

func open(t *testing.T, path string) (*Spool, string) {
	t.Helper()
	s, waiting, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	_ = s.lock.Close() // the system does so after a crash
	var ids []string
	for _, e := range waiting {
		if e.Request.At != request("").At || e.Request.Why != request("").Why {
			t.Errorf("%s came back as %+v", e.Request.ID, e.Request)
		}
		ids = append(ids, e.Request.ID)
	}
	return s, strings.Join(ids, " ")
}

func keep(t *testing.T, s *Spool, id string) Entry {
	t.Helper()
	e, err := s.Append(request(id))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestUnpersistedStopsSurviveRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "stops")
	s, waiting := open(t, path)
	if waiting != "" {
		t.Fatalf("a new file holds %s", waiting)
	}
	a := keep(t, s, "a")
	keep(t, s, "b")
	if err := s.Done(a); err != nil {
		t.Fatal(err)
	}
	again, waiting := open(t, path) // s is not closed, as after a crash
	if waiting != "b" {
		t.Fatalf("waiting are %q", waiting)
	}
	c := keep(t, again, "c")
	if c.N <= a.N {
		t.Errorf("number %d was given twice", c.N)
	}
	third, waiting := open(t, path)
	if waiting != "b c" {
		t.Errorf("waiting are %q", waiting)
	}
	if err := third.Done(Entry{N: 2}, c); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the file of an empty spool has %d bytes, %v", info.Size(), err)
	}
	keep(t, third, "d")
	if _, waiting := open(t, path); waiting != "d" {
		t.Errorf("waiting are %q", waiting)
	}
}

func TestIncompleteLastLineIsIgnored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stops")
	s, _ := open(t, path)
	keep(t, s, "a")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, s, "b")
	both, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(whole); cut < len(both); cut++ {
		if err := os.WriteFile(path, both[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s, waiting := open(t, path)
		if waiting != "a" {
			t.Fatalf("cut at %d: %q", cut, waiting)
		}
		keep(t, s, "c")
		if _, waiting := open(t, path); waiting != "a c" {
			t.Fatalf("cut at %d, then written to: %q", cut, waiting)
		}
	}
}

func TestDamagedFileIsNotChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stops")
	s, _ := open(t, path)
	keep(t, s, "a")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := "{{{\n" + string(text)
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("got %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != damaged {
		t.Errorf("the file was changed: %q, %v", after, err)
	}
}

func TestFileIsUsedByOneInstanceOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stops")
	first, _, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Errorf("second instance: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, waiting := open(t, path); waiting != "" {
		t.Errorf("waiting are %q", waiting)
	}
}

// A disk that was full for a moment leaves an incomplete line in the file.
func TestIncompleteLineOfFailedWriteDoesNotDamageTheNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stops")
	s, _ := open(t, path)
	a := keep(t, s, "a")
	half := func(text string) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	half(`{"n":0,"order":{"id`)
	keep(t, s, "b")
	half(`{"n":2,"order":{"id":"c"`)
	if err := s.Done(a); err != nil {
		t.Fatal(err)
	}
	half(`{`)
	keep(t, s, "c")
	if _, waiting := open(t, path); waiting != "b c" {
		t.Errorf("waiting are %q", waiting)
	}
}

// syncedFile counts what was written after the newest sync.
type syncedFile struct {
	file
	unsynced int
	refuses  error // of Sync
}

func (f *syncedFile) Write(b []byte) (int, error) {
	f.unsynced += len(b)
	return f.file.Write(b)
}

func (f *syncedFile) Sync() error {
	if f.refuses != nil {
		return f.refuses
	}
	f.unsynced = 0
	return f.file.Sync()
}

func TestAppendReturnsWhenTheStopIsSynced(t *testing.T) {
	s, _ := open(t, filepath.Join(t.TempDir(), "stops"))
	f := &syncedFile{file: s.file}
	s.file = f
	if keep(t, s, "a"); f.unsynced > 0 {
		t.Errorf("Append returned, and %d bytes are not on the disk: a loss of power would lose the stop", f.unsynced)
	}
	f.refuses = errors.New("input/output error")
	if _, err := s.Append(request("b")); !errors.Is(err, f.refuses) {
		t.Errorf("the disk refused to sync, and Append returned %v", err)
	}
}
