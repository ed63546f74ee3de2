package robot

import (
	"context"
	"log/slog"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
)

// latchWriter saves latches in a goroutine of its own, so that a stop waits neither for
// other writes nor for a disk that hangs in one. Of several waiting values it writes only
// the newest.
type latchWriter struct {
	ctx     context.Context // ends when the loop does
	disk    store
	loop    *loop
	log     *slog.Logger
	waiting chan effect.SaveLatches // capacity 1
	done    chan struct{}

	before func(what string) // Config.BeforeWrite
}

func newLatchWriter(ctx context.Context, d store, l *loop, log *slog.Logger) *latchWriter {
	return &latchWriter{ctx: ctx, disk: d, loop: l, log: log, waiting: make(chan effect.SaveLatches, 1), done: make(chan struct{}),
		before: func(string) {}}
}

// put replaces the waiting value. Only the loop calls it.
func (w *latchWriter) put(e effect.SaveLatches) {
	select {
	case <-w.waiting:
	default:
	}
	w.waiting <- e
}

// run writes values until close, and then the last waiting one.
func (w *latchWriter) run() {
	defer close(w.done)
	for e := range w.waiting {
		w.before("latches")
		ev := event.LatchesSaved{N: e.N}
		began := time.Now()
		err := w.disk.saveLatches(e.Value)
		if w.loop.meter.wrote(began, err); err != nil {
			ev.Refused = w.disk.why(err)
			w.log.Error("latches not persisted: a restart would lose them", "reason", ev.Refused, "error", err)
		}
		w.loop.stop(w.ctx, ev) // the answer to a stop waits for it
	}
}

func (w *latchWriter) close() { close(w.waiting) }
