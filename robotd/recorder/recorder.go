package recorder

import (
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"
)

const (
	maxQueue   = 2560             // records that wait for the disk; further ones are dropped
	maxSamples = 2048             // samples beyond it are dropped, so that there is room for what happens once
	retryAfter = 10 * time.Second // after an error of the disk
	maxErrors  = 10               // further errors are not logged
)

// Recorder is a robot's flight recorder. A nil one records nothing.
type Recorder struct {
	log     *slog.Logger
	dir     string
	limit   int64
	writer  writer
	queue   chan entry
	quit    chan struct{}
	done    chan struct{}
	dropped atomic.Int64 // since the start
	failing atomic.Bool  // the disk refused the newest write

	reported int64 // how many of dropped the Dropped records in the files have counted
	flushes  []flush
	failed   int
	retry    time.Time
}

// entry is a record with the time of its step.
type entry struct {
	at time.Time
	Record
}

// flush asks for what came before it to be on the disk; it is closed then.
type flush chan struct{}

func (flush) record() {}

// New returns a recorder that keeps at most limit bytes below the data directory dir, or nil if
// the limit is 0. Its Run has to be called.
func New(dir string, limit int64, about About, log *slog.Logger) *Recorder {
	if limit == 0 {
		return nil
	}
	return &Recorder{
		log: log, dir: filepath.Join(dir, Folder), limit: max(limit, LimitMin),
		writer: writer{about: about, open: openFile},
		queue:  make(chan entry, maxQueue), quit: make(chan struct{}), done: make(chan struct{}),
	}
}

// Put records r. It never waits.
func (r *Recorder) Put(at time.Time, rec Record) {
	if r == nil {
		return
	}
	if _, is := rec.(Sample); is && len(r.queue) >= maxSamples {
		r.dropped.Add(1)
		return
	}
	select {
	case r.queue <- entry{at, rec}:
	default:
		r.dropped.Add(1)
	}
}

// Dropped returns how many records were lost since the start, because the disk was too slow or
// refused them.
func (r *Recorder) Dropped() int64 {
	if r == nil {
		return 0
	}
	return r.dropped.Load()
}

// Failing reports whether the disk refuses to write, or hangs.
func (r *Recorder) Failing() bool {
	return r != nil && (r.failing.Load() || len(r.queue) == cap(r.queue))
}

// Close ends Run once everything that waits was written. No Put may follow.
func (r *Recorder) Close() {
	if r != nil {
		close(r.quit)
	}
}

// Done is closed when Run has ended.
func (r *Recorder) Done() <-chan struct{} {
	if r == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	return r.done
}

// Run writes records until Close.
func (r *Recorder) Run() {
	if r == nil {
		return
	}
	defer close(r.done)
	for {
		select {
		case e := <-r.queue:
			r.take(e)
		case <-r.quit:
			for len(r.queue) > 0 {
				r.take(<-r.queue)
			}
			if err := r.writer.close(); err != nil {
				r.warn(cannotWrite, err)
			}
			return
		}
	}
}

// take writes one record, after the number of those that are missing before it.
func (r *Recorder) take(e entry) {
	if f, ok := e.Record.(flush); ok {
		r.flushes = append(r.flushes, f)
		r.writer.endChunkWithNextRecord()
		r.flushed()
		return
	}
	defer r.flushed()
	if e.at.Before(r.retry) && e.at.Add(retryAfter).After(r.retry) { // otherwise the clock was set back
		r.dropped.Add(1)
		return
	}
	data, err := encode(e.Record)
	if err != nil { // such as NaN in what the body reports
		r.dropped.Add(1)
		r.warn("flight record dropped", err)
		return
	}
	if err := r.write(e, data); err != nil {
		r.dropped.Add(1)
		r.retry = e.at.Add(retryAfter)
		r.failing.Store(true)
		r.warn(cannotWrite, err)
		return
	}
	r.failing.Store(false)
}

func (r *Recorder) write(e entry, data []byte) error {
	if err := r.open(); err != nil {
		return err
	}
	if missing := r.dropped.Load() - r.reported; missing > 0 {
		d := Dropped{Records: missing}
		text, err := encode(d)
		if err == nil {
			err = r.writer.write(e.at, d, text)
		}
		if err != nil {
			return err
		}
		r.reported += missing
	}
	return r.writer.write(e.at, e.Record, data)
}

// flushed wakes those that wait until what came before is on the disk.
func (r *Recorder) flushed() {
	if len(r.flushes) > 0 && r.writer.isFlushed() {
		for _, c := range r.flushes {
			close(c)
		}
		r.flushes = nil
	}
}

// open opens the ring at the first record.
func (r *Recorder) open() (err error) {
	if r.writer.ring != nil {
		return nil
	}
	ring, err := openRing(r.dir, r.limit)
	if err != nil {
		return err
	}
	if err := ring.makeRoom(0); err != nil {
		return err
	}
	if err := ring.reindexCutFile(); err != nil {
		r.warn(cannotWrite, err)
	}
	r.writer.ring = ring
	return nil
}

const cannotWrite = "flight recorder cannot write"

func (r *Recorder) warn(message string, err error) {
	if r.failed++; r.failed <= maxErrors {
		r.log.Warn(message, "error", err, "lost", r.dropped.Load())
	}
}
