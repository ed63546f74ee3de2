package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Why there is no extract.
var (
	ErrNothing = errors.New("nothing was recorded")
	ErrTooBig  = errors.New("too big")
	ErrNoRoom  = errors.New("no room on the disk")
)

// flushTimeout is how long an extract waits for the newest records to be on the disk. An idle
// robot records four times a second, and the record after the request ends the chunk.
const flushTimeout = time.Second

// Extract writes what was recorded from a time until now into one file of at most limit bytes,
// and returns it, opened at its beginning. The file has no name: it is gone when it is closed, also
// by the end of robotd. The recorder goes on meanwhile, and the file is not part of its ring.
func (r *Recorder) Extract(ctx context.Context, from time.Time, limit int64) (f *os.File, records uint64, err error) {
	r.flush(ctx)
	spans, err := List(r.dir)
	if err != nil {
		return nil, 0, err
	}
	var wanted []Span
	var bytes int64
	for _, s := range spans {
		if s.Messages > 0 && !s.To.Before(from) {
			wanted, bytes = append(wanted, s), bytes+s.Bytes
		}
	}
	if len(wanted) == 0 {
		return nil, 0, nothingIn(spans)
	}
	free, err := freeBytes(r.dir)
	if err != nil {
		return nil, 0, fmt.Errorf("free space: %w", err)
	}
	if need := reservedBytes + min(bytes, limit); free < need {
		return nil, 0, fmt.Errorf("%w: it has %d MiB left, and %d MiB are needed", ErrNoRoom, free>>20, need>>20)
	}
	if f, err = os.CreateTemp(r.dir, "extract-*"+partSuffix); err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it has no name any more
			f, records = nil, 0
		}
	}()
	if err := os.Remove(f.Name()); err != nil {
		return f, 0, err
	}
	to := &bounded{to: f, ctx: ctx, left: limit}
	records, err = Export(to, wanted, from, time.Time{})
	switch {
	case to.err != nil: // which the library does not wrap
		err = to.err
	case IsDamage(err):
		err = nil // what is not damaged is more than nothing
	}
	if err == nil && records == 0 {
		err = nothingIn(spans)
	}
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	return f, records, err
}

// nothingIn returns ErrNothing with how far the recordings reach.
func nothingIn(spans []Span) error {
	newest := Newest(spans)
	if newest.IsZero() {
		return fmt.Errorf("%w: there is no recording yet", ErrNothing)
	}
	return fmt.Errorf("%w: the newest record is of %s UTC", ErrNothing, newest.Format(time.DateTime))
}

// flush waits until what was recorded before is on the disk, if the disk does not hang.
func (r *Recorder) flush(ctx context.Context) {
	written := make(flush)
	select {
	case r.queue <- entry{Record: written}:
	default:
		return // the disk is too slow; what it has is read
	}
	late := time.NewTimer(flushTimeout)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C:
	case <-ctx.Done():
	}
}

// bounded is a file that takes only so many more bytes, until ctx ends.
type bounded struct {
	to   *os.File
	ctx  context.Context
	left int64
	err  error // of the first write that failed
}

func (b *bounded) Write(p []byte) (n int, err error) {
	b.left -= int64(len(p))
	switch {
	case b.err != nil:
	case b.ctx.Err() != nil:
		b.err = b.ctx.Err()
	case b.left < 0:
		b.err = ErrTooBig
	default:
		n, b.err = b.to.Write(p)
	}
	return n, b.err
}
