// Package spool keeps stops on this machine's disk until the database has them:
// a file of lines, each written and synced before anything is promised.
//
// It decides nothing. A stop is sent before it comes here, and what stands here
// is persisted as often as it takes; the record knows a repetition.
package spool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"troupe/fleetd/stop"
)

// Entry is one stop that is not persisted yet.
type Entry struct {
	N     int64      `json:"n"` // place in the file
	Order stop.Order `json:"order"`
}

// line is one line of the file: an entry, or that one is done.
type line struct {
	Entry
	Done int64 `json:"done,omitzero"`
}

// ErrDamaged is returned by Open for a file that cannot be read; nothing of it was
// changed.
var ErrDamaged = errors.New("the stops that wait are damaged")

// ErrInUse is returned by Open for a file that another instance uses.
var ErrInUse = errors.New("another fleetd keeps its stops there; give this one its own --spool")

// Spool is an open file.
type Spool struct {
	path string
	lock *os.File

	mu   sync.Mutex
	file *os.File
	size int64 // of the whole lines in it
	last int64
	open map[int64]Entry
}

// Open opens the file, makes it if need be, and returns what is not persisted, in
// order. A last line that was cut short by a loss of power was promised to nobody
// and is left out; another one that cannot be read is an error, and nothing is
// changed.
func Open(path string) (*Spool, []Entry, error) {
	s := &Spool{path: path, open: map[int64]Entry{}}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the folder of the stops: %w", err)
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

// load reads the file and makes it anew without what is done.
func (s *Spool) load() ([]Entry, error) {
	path := s.path
	body, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the stops that wait: %w", err)
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
		return nil, fmt.Errorf("read the stops that wait: %w", err)
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

// rewrite makes the file anew, whole or not at all.
func (s *Spool) rewrite(entries []Entry) error {
	next := s.path + ".new"
	_ = os.Remove(next) // one that a crash left may have a wider mode
	f, err := os.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the stops that wait: %w", err)
	}
	var body []byte
	for _, e := range entries {
		text, err := json.Marshal(line{Entry: e})
		if err != nil {
			return errors.Join(fmt.Errorf("write the stops that wait: %w", err), f.Close())
		}
		body = append(append(body, text...), '\n')
	}
	_, err = f.Write(body)
	s.size = int64(len(body))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the stops that wait: %w", err)
	}
	if err := os.Rename(next, s.path); err != nil {
		return fmt.Errorf("write the stops that wait: %w", err)
	}
	dir, err := os.Open(filepath.Dir(s.path))
	if err == nil {
		err = errors.Join(dir.Sync(), dir.Close())
	}
	if err != nil {
		return fmt.Errorf("sync the folder of the stops: %w", err)
	}
	if s.file, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return fmt.Errorf("open the stops that wait: %w", err)
	}
	return nil
}

// Append keeps a stop and returns when it is safe from a loss of power.
func (s *Spool) Append(o stop.Order) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	e := Entry{N: s.last, Order: o}
	if err := s.write(line{Entry: e}); err != nil {
		return e, fmt.Errorf("keep stop %s: %w", o.ID, err)
	}
	s.open[e.N] = e
	return e, nil
}

// Done forgets stops that are persisted. It is not synced: what is forgotten too
// late is persisted again, which changes nothing.
func (s *Spool) Done(entries ...Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if _, kept := s.open[e.N]; !kept {
			continue
		}
		delete(s.open, e.N)
		if err := s.write(line{Done: e.N}); err != nil {
			return fmt.Errorf("forget stop %s: %w", e.Order.ID, err)
		}
	}
	if len(s.open) > 0 {
		return nil
	}
	if err := s.file.Truncate(0); err != nil { // numbers go on, so that none is given twice in one run
		return fmt.Errorf("empty the stops that wait: %w", err)
	}
	s.size = 0
	return nil
}

// write adds a line. Of a line that an earlier write left half there, nothing may
// stand before the next: both would be lost to whoever reads them.
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

// CheckWrite reports whether the disk would take a stop now.
func (s *Spool) CheckWrite() error {
	path := s.path + ".probe"
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write to the disk of the stops: %w", err)
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err = errors.Join(err, f.Sync(), f.Close(), os.Remove(path)); err != nil {
		return fmt.Errorf("write to the disk of the stops: %w", err)
	}
	return nil
}

// Close ends the use of the file.
func (s *Spool) Close() error { return errors.Join(s.file.Close(), s.lock.Close()) }
