package robot

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"troupe/robotd/mode"
	"troupe/schema"
)

// Bounds of the calls of modes within one step. No stop is obeyed meanwhile.
const (
	modeTime = 250 * time.Millisecond // that calls may take together; the one that takes longer fails
	modeHung = time.Second            // after which robotd ends if a call has not returned
)

// guard calls modes, and sees those that panic, take too long or never return.
type guard struct {
	log  *slog.Logger
	hung chan mode.Call // 1: the call that never returned

	call    mode.Call // under way
	expires *time.Timer
	used    time.Duration // in this step, by calls that did not fail
	spent   time.Duration // in this step, by all
}

func newGuard(log *slog.Logger) *guard {
	g := &guard{log: log, hung: make(chan mode.Call, 1)}
	g.expires = time.AfterFunc(modeHung, func() { g.hung <- g.call })
	g.expires.Stop()
	return g
}

// step begins another step of the loop.
func (g *guard) step() { g.used, g.spent = 0, 0 }

// run makes a call. If the call returns only after robotd gave it up, the goroutine of the
// loop ends: the body is not the loop's any more.
func (g *guard) run(c mode.Call) (fault mode.Refusal) {
	began := time.Now()
	g.call = c
	g.expires.Reset(max(0, modeHung-g.spent))
	defer func() {
		p := recover()
		if !g.expires.Stop() {
			runtime.Goexit()
		}
		took, left := time.Since(began), modeTime-g.used
		g.spent += took
		switch {
		case p != nil:
			fault = mode.Refusal{Reason: schema.ReasonModeFailed, Detail: fmt.Sprintf("%s panicked: %v", c, p)}
			g.log.Error("a mode panicked", "mode", c.Mode, "call", c.Do, "panic", p, "stack", string(debug.Stack()))
		case took > left:
			fault = mode.Refusal{Reason: schema.ReasonModeFailed, Detail: fmt.Sprintf("%s took %d ms; %d ms were left to the modes in this step", c, took.Milliseconds(), left.Milliseconds())}
			g.log.Error("a mode took too long", "mode", c.Mode, "call", c.Do, "took", took, "left", left)
		default:
			g.used += took
		}
	}()
	c.Run()
	return mode.Refusal{}
}
