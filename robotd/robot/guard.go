package robot

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"troupe/robotd/mode"
	"troupe/schema"
)

// Bounds of the calls of modes that follow from one event, in one step of the robot or in
// several. The loop takes in no stop before they are done.
const (
	modeTime = 250 * time.Millisecond // all calls together; the call that exceeds it fails
	modeHung = time.Second            // robotd ends if a call has not returned by then
)

// ErrHung is in the error of Run if a call of a mode did not return and robotd ended because of it. Its service
// manager starts it again; the mode has failed then.
var ErrHung = errors.New("did not return")

// guard calls modes. It detects calls that panic, take too long or do not return.
type guard struct {
	log  *slog.Logger
	hung chan mode.Call // capacity 1: the call that did not return

	call    mode.Call // under way
	expires *time.Timer
	counted time.Duration // by the calls for this event that did not fail; modeTime bounds them
	total   time.Duration // by all calls for this event; modeHung bounds them

	failing sync.Map // by the modes whose next call shall fail
}

func newGuard(log *slog.Logger) *guard {
	g := &guard{log: log, hung: make(chan mode.Call, 1)}
	g.expires = time.AfterFunc(modeHung, func() { g.hung <- g.call })
	g.expires.Stop()
	return g
}

// begin notes that the loop takes in another event.
func (g *guard) begin() { g.counted, g.total = 0, 0 }

// failNext makes the next call of a mode fail, as an injected fault. Calls of
// Ready, which ask whether the mode can be entered, do not count: they are made all the time, and
// their failure only refuses a request.
func (g *guard) failNext(m schema.ModeID) { g.failing.Store(m, nil) }

// run makes a call. If it returns only after it was reported as hung, run ends the
// goroutine of the loop, because Run is closing the body and the disk by then.
func (g *guard) run(c mode.Call) (fault mode.Refusal) {
	began := time.Now()
	g.call = c
	g.expires.Reset(max(0, modeHung-g.total))
	defer func() {
		p := recover()
		if !g.expires.Stop() {
			runtime.Goexit()
		}
		took, left := time.Since(began), modeTime-g.counted
		g.total += took
		switch {
		case p != nil:
			fault = mode.Refusal{Reason: schema.ReasonModeFailed, Detail: fmt.Sprintf("%s panicked: %v", c, p)}
			g.log.Error("a mode panicked", "mode", c.Mode, "call", c.Do, "panic", p, "stack", string(debug.Stack()))
		case took > left:
			fault = mode.Refusal{Reason: schema.ReasonModeFailed, Detail: fmt.Sprintf("%s took %d ms; %d ms were left to the modes for this event",
				c, took.Milliseconds(), left.Milliseconds())}
			g.log.Error("a mode took too long", "mode", c.Mode, "call", c.Do, "took", took, "left", left)
		default:
			g.counted += took
		}
	}()
	if c.Do != mode.DoReady {
		if _, fails := g.failing.LoadAndDelete(c.Mode); fails {
			panic("an injected fault")
		}
	}
	c.Run()
	return mode.Refusal{}
}
