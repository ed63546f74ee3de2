// Package spool keeps stops on this machine's disk until the database has them. It is a
// file of JSON lines; Append returns when its line is synced to the disk.
//
// A stop is sent before it is appended. fleetd persists the entries in the database until it
// succeeds, which is idempotent.
package spool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"troupe/fleetd/stop"
)

// Entry is one stop that is not persisted yet.
type Entry struct {
	N       int64        `json:"n"` // sequence number
	Request stop.Request `json:"order"`
}

// line is one line of the file: an entry, or the number of an entry that is done.
type line struct {
	Entry
	Done int64 `json:"done,omitzero"`
}

// ErrDamaged is returned by Open for a file that cannot be parsed. Open has not changed
// it.
var ErrDamaged = errors.New("the spool of stops is damaged")

// ErrInUse is returned by Open for a file that another instance has open.
var ErrInUse = errors.New("another fleetd instance uses this spool; start this one with another --spool")

// file is what the spool does with its file.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// Spool is an open spool file.
type Spool struct {
	path string
	lock *os.File

	mu   sync.Mutex
	file file
	size int64 // bytes of complete lines
	last int64
	open map[int64]Entry
}

// Open opens or makes the file and returns the entries that are not persisted, in order. It
// ignores an incomplete last line: a loss of power cut it before Append returned. Any other
// line that cannot be parsed is an error, and the file stays unchanged.
func Open(path string) (*Spool, []Entry, error) {
	s := &Spool{path: path, open: map[int64]Entry{}}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("make folder of the spool: %w", err)
	}
	var err error
	if s.lock, err = lock(path + ".lock"); err != nil {
		return nil, nil, err
	}
	waiting, err := s.load()
	if err != nil {
		return nil, nil, errors.Join(err, s.lock.Close())
	}
	return s, waiting, nil
}

// load reads the file and rewrites it without entries that are done.
func (s *Spool) load() ([]Entry, error) {
	path := s.path
	body, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	var waiting []Entry
	if end := bytes.LastIndexByte(body, '\n'); end < len(body) {
		body = body[:end+1]
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%w: %s, line %d: %w", ErrDamaged, path, n, err)
		}
		s.last = max(s.last, l.N)
		if l.Done > 0 {
			delete(s.open, l.Done)
			continue
		}
		s.open[l.N] = l.Entry
		waiting = append(waiting, l.Entry)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	kept := waiting[:0]
	for _, e := range waiting {
		if _, ok := s.open[e.N]; ok {
			kept = append(kept, e)
		}
	}
	if err := s.rewrite(kept); err != nil {
		return nil, err
	}
	return kept, nil
}

// rewrite replaces the file atomically.
func (s *Spool) rewrite(entries []Entry) error {
	next := s.path + ".new"
	_ = os.Remove(next) // one that a crash left may have a wider mode
	f, err := os.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write spool: %w", err)
	}
	var body []byte
	for _, e := range entries {
		text, err := json.Marshal(line{Entry: e})
		if err != nil {
			return errors.Join(fmt.Errorf("write spool: %w", err), f.Close())
		}
		body = append(append(body, text...), '\n')
	}
	_, err = f.Write(body)
	s.size = int64(len(body))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write spool: %w", err)
	}
	if err := os.Rename(next, s.path); err != nil {
		return fmt.Errorf("write spool: %w", err)
	}
	dir, err := os.Open(filepath.Dir(s.path))
	if err == nil {
		err = errors.Join(dir.Sync(), dir.Close())
	}
	if err != nil {
		return fmt.Errorf("sync folder of the spool: %w", err)
	}
	if s.file, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("open spool: %w", err)
	}
	return nil
}

// Append writes a stop and returns when it is synced to the disk.
func (s *Spool) Append(o stop.Request) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	e := Entry{N: s.last, Request: o}
	if err := s.write(line{Entry: e}); err != nil {
		return e, fmt.Errorf("spool stop %s: %w", o.ID, err)
	}
	s.open[e.N] = e
	return e, nil
}

// Done removes stops that are persisted. It does not sync: after a crash they are
// persisted again, which is idempotent.
func (s *Spool) Done(entries ...Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if _, kept := s.open[e.N]; !kept {
			continue
		}
		delete(s.open, e.N)
		if err := s.write(line{Done: e.N}); err != nil {
			return fmt.Errorf("mark spooled stop %s as done: %w", e.Request.ID, err)
		}
	}
	if len(s.open) > 0 {
		return nil
	}
	if err := s.file.Truncate(0); err != nil { // last stays, so that no number is used twice in one run
		return fmt.Errorf("truncate spool: %w", err)
	}
	s.size = 0
	return nil
}

// write appends a line. It first truncates the incomplete line of an earlier failed write,
// which would make both lines unreadable.
func (s *Spool) write(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := s.file.Truncate(s.size); err != nil {
		return err
	}
	n, err := s.file.Write(append(text, '\n'))
	if err == nil && l.Done == 0 {
		err = s.file.Sync()
	}
	if err == nil {
		s.size += int64(n)
	}
	return err
}

// probeBytes is room for a few stops.
const probeBytes = 16 << 10

// CheckWrite reports whether the disk accepts writes now.
func (s *Spool) CheckWrite() error {
	path := s.path + ".probe"
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write to the disk of the spool: %w", err)
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err = errors.Join(err, f.Sync(), f.Close(), os.Remove(path)); err != nil {
		return fmt.Errorf("write to the disk of the spool: %w", err)
	}
	return nil
}

// Close closes the file and releases its lock.
func (s *Spool) Close() error { return errors.Join(s.file.Close(), s.lock.Close()) }
