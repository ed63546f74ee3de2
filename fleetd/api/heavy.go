package api

import (
	"context"
	"runtime"
	"time"
)

// heavyWork bounds the requests that take much of the processors and of memory, such as those that
// read files of authors: half of the processors stay free for heartbeats and stops. A request waits
// for its turn in its own goroutine, for a limited time and with few others.
type heavyWork struct {
	running chan struct{} // semaphore
	waiting chan struct{} // semaphore; also of those that run
}

const (
	heavyWaiting = 16
	heavyWait    = 10 * time.Second
)

func newHeavyWork() *heavyWork {
	n := max(1, runtime.GOMAXPROCS(0)/2)
	return &heavyWork{make(chan struct{}, n), make(chan struct{}, n+heavyWaiting)}
}

// begin waits for the turn of a request. end must be called if the error is nil.
func (h *heavyWork) begin(ctx context.Context) (end func(), err error) {
	full := KindBusy.Problem("fleetd is doing as much of such work as it can at once; this request changed nothing", "try again in a moment")
	full.retryAfter = int(heavyWait.Seconds())
	select {
	case h.waiting <- struct{}{}:
	default:
		return nil, full
	}
	ctx, cancel := context.WithTimeout(ctx, heavyWait)
	defer cancel()
	select {
	case h.running <- struct{}{}:
		return func() { <-h.running; <-h.waiting }, nil
	case <-ctx.Done():
		<-h.waiting
		return nil, full
	}
}
