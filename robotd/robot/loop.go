package robot

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"troupe/robotd/brain"
	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// Bounds of what waits for the loop. A sender that finds its channel full waits: a step
// is never long, and what cannot wait has a channel of its own.
const (
	eventQueue = 256
	stopQueue  = 64
)

// loop owns the robot's state. No other goroutine touches it.
type loop struct {
	state       *brain.State
	start       time.Time // time since boot counts from here
	stops       chan event.Event
	events      chan event.Event
	pulse       pulse
	begin       func()                                   // of a step; may be nil
	perform     func(out []effect.Effect, more bool) // more: the next step follows at once
	behind      func() bool                          // the disk does not keep up: nothing more may be begun
	onFleetTime func(fleet time.Time)
	halt        func() // the body stands still when this returns, whatever the state says
	log         *slog.Logger
}

func newLoop(state *brain.State, start time.Time, log *slog.Logger) *loop {
	return &loop{state: state, start: start, log: log,
		stops: make(chan event.Event, stopQueue), events: make(chan event.Event, eventQueue)}
}

// nowAt is the time of a step.
func nowAt(start time.Time) clock.Now {
	at := time.Now()
	return clock.Now{Mono: at.Sub(start), Wall: schema.TimeOf(at)}
}

// run takes events one by one until the robot has ended, or was asked to end and needs
// longer than it may. ready, if given, is called when the robot has begun. A stop is
// taken before everything else. A fault of ours stops the body and ends the program: a
// robot that restarts stands still.
func (l *loop) run(ctx context.Context, grace time.Duration, ready func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.halt()
			err = fmt.Errorf("the robot's step failed, its body was halted: %v\n%s", p, debug.Stack())
		}
	}()
	var out []effect.Effect
	step := func(ev event.Event) (over bool) {
		_, beat := ev.(event.Heartbeat)
		if c, ok := ev.(event.Command); ok && l.behind != nil {
			c.Behind = l.behind()
			ev = c
		}
		for {
			if l.begin != nil {
				l.begin()
			}
			out = brain.Step(l.state, nowAt(l.start), ev, out[:0])
			more := l.state.Pending()
			l.perform(out, more)
			over = over || ends(out)
			l.pulse.beat(time.Since(l.start))
			if clear(out); !more {
				break
			}
			ev = event.Follow{}
		}
		if fleet, known := l.state.FleetTime(nowAt(l.start)); beat && known && l.onFleetTime != nil {
			l.onFleetTime(fleet)
		}
		return over
	}
	if step(event.Begin{}) {
		return nil
	}
	if ready != nil {
		ready()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	asked := ctx.Done()
	var ending <-chan time.Time
	for {
		timer.Reset(max(0, brain.Deadline(l.state)-time.Since(l.start)))
		var ev event.Event
		select {
		case ev = <-l.stops:
		default:
			select {
			case ev = <-l.stops:
			case ev = <-l.events:
			case <-timer.C:
				ev = event.Tick{}
			case <-asked:
				asked = nil
				limit := time.NewTimer(grace)
				defer limit.Stop()
				ending = limit.C
				ev = event.Shutdown{Why: "robotd was asked to end"}
			case <-ending:
				l.log.Warn("the robot did not come to its end in time; ending anyway", "grace", grace)
				return nil
			}
		}
		if step(ev) {
			return nil
		}
	}
}

// ends reports whether the robot has ended.
func ends(out []effect.Effect) bool {
	for _, e := range out {
		if _, ok := e.(effect.Exit); ok {
			return true
		}
	}
	return false
}

// send gives the loop an event, and waits as long as it is busy.
func (l *loop) send(ctx context.Context, ev event.Event) {
	select {
	case l.events <- ev:
	case <-ctx.Done():
	}
}

// stop gives the loop a stop, which overtakes all other events.
func (l *loop) stop(ctx context.Context, ev event.Event) {
	select {
	case l.stops <- ev:
	case <-ctx.Done():
	}
}
