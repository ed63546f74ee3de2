package robot

import (
	"context"
	"log/slog"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
)

// latchWriter saves what holds the robot, beside the writer: a stop waits neither for
// what else is written nor for a disk that hangs over it. Of several values that wait the
// newest is written.
type latchWriter struct {
	ctx     context.Context // ends when the loop does
	disk    store
	loop    *loop
	log     *slog.Logger
	takes   time.Duration           // Config.LatchTime
	waiting chan effect.SaveLatches // 1
	done    chan struct{}
}

func newLatchWriter(ctx context.Context, d store, l *loop, log *slog.Logger) *latchWriter {
	return &latchWriter{ctx: ctx, disk: d, loop: l, log: log, waiting: make(chan effect.SaveLatches, 1), done: make(chan struct{})}
}

// put gives it a value in place of the one that waits. The loop alone calls it.
func (w *latchWriter) put(e effect.SaveLatches) {
	select {
	case <-w.waiting:
	default:
	}
	w.waiting <- e
}

// run writes until close, and then what still waits.
func (w *latchWriter) run() {
	defer close(w.done)
	for e := range w.waiting {
		ev := event.LatchesSaved{N: e.N}
		if err := w.disk.keepLatches(e.Value); err != nil {
			ev.Refused = w.disk.why(err)
			w.log.Error("latches not persisted: a restart would lose them", "reason", ev.Refused, "error", err)
		}
		if w.takes > 0 {
			select {
			case <-w.ctx.Done():
			case <-time.After(w.takes):
			}
		}
		w.loop.stop(w.ctx, ev) // the answer to a stop waits for it
	}
}

func (w *latchWriter) close() { close(w.waiting) }
