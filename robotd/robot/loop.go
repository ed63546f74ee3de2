package robot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"troupe/robotd/brain"
	"troupe/robotd/clock"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
)

// Capacities of the loop's channels. A sender that finds one full blocks, but never for
// long, because a step is short. Stops have a channel of their own.
const (
	eventQueue = 256
	stopQueue  = 64
)

// loop owns the robot's state. No other goroutine touches it.
type loop struct {
	state       *brain.State
	start       time.Time // origin of the time since boot
	stops       chan event.Event
	events      chan event.Event
	pulse       pulse
	begin       func()                               // called before the steps of each event; may be nil
	carryOut    func(out []effect.Effect, more bool) // more: the next step follows at once
	behind      func() bool                          // the disk does not keep up: the robot takes no more commands
	onFleetTime func(fleet time.Time)
	flight      *flight       // nil = nothing is recorded
	meter       *meter        // nil = nothing is measured
	at, until   time.Duration // of the present step, since boot; what it permits to move may begin until then
	withheld    bool          // something was not begun, because that time was over
	unitsOff    func()        // switches all units off before it returns, whatever the state is
	log         *slog.Logger
}

func newLoop(state *brain.State, start time.Time, log *slog.Logger) *loop {
	return &loop{state: state, start: start, log: log,
		stops: make(chan event.Event, stopQueue), events: make(chan event.Event, eventQueue)}
}

// nowAt returns the time of a step.
func nowAt(start time.Time) clock.Now { return clock.Read(start, time.Now()) }

// run makes a step for each event until the robot has ended, or has exceeded its time for an
// orderly end. ready, if not nil, is called after the first step. Stops come before all
// other events. A panic switches the units off and ends the program. After the
// restart nothing moves: the robot is in E_STOP if its units are still in error, as those of
// adapters are, or if it was there before, and otherwise DISABLED.
func (l *loop) run(ctx context.Context, grace time.Duration, ready func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.unitsOff()
			err = fmt.Errorf("step failed, units switched off: %v\n%s", p, debug.Stack())
		}
	}()
	var out []effect.Effect
	var exit effect.Exit
	step := func(ev event.Event) (over bool) {
		_, beat := ev.(event.Heartbeat)
		if c, ok := ev.(event.Command); ok && l.behind != nil {
			c.Behind = l.behind()
			ev = c
		}
		if l.begin != nil {
			l.begin()
		}
		began := time.Now()
		l.flight.begin(began, ev)
		first := ev
		for {
			now := nowAt(l.start)
			out = brain.Step(l.state, now, ev, out[:0])
			more := l.state.Pending()
			l.at, l.until, l.withheld = now.Mono, l.state.MotionUntil(), false
			l.carryOut(out, more)
			if e, ends := exitOf(out); ends {
				exit, over = e, true
			}
			l.pulse.beat(time.Since(l.start))
			clear(out)
			if l.withheld {
				ev = event.MotionWithheld{}
			} else if more {
				ev = event.Follow{}
			} else {
				break
			}
		}
		l.flight.end(first, l.state.AckState())
		l.meter.step(first, time.Since(began))
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
	due := time.Since(l.start) // of the next Tick
	for {
		now := time.Since(l.start)
		due = brain.NextTick(l.state, due, now)
		timer.Reset(due - now)
		var ev event.Event
		select {
		case ev = <-l.stops:
		default:
			select {
			case ev = <-l.stops:
			case ev = <-l.events:
			case <-timer.C:
				now := time.Since(l.start)
				ev, due = event.Tick{Late: now - due}, now
			case <-asked:
				asked = nil
				limit := time.NewTimer(grace)
				defer limit.Stop()
				ending = limit.C
				ev = event.Shutdown{Why: "robotd was asked to end"}
			case <-ending:
				l.log.Warn("orderly end took too long; ending now", "grace", grace)
				return nil
			}
		}
		if step(ev) {
			if exit.Again {
				return ErrReboot
			}
			return nil
		}
	}
}

// withholds reports whether e permits motion and comes too late: the process was suspended in the step, so that
// who asked for the motion does not expect it any more.
func (l *loop) withholds(e effect.Effect) bool {
	now := time.Since(l.start)
	switch e := e.(type) {
	case effect.Move: // it ends by itself, and the next one comes soon
		return (e.VX != 0 || e.WZ != 0) && now > l.at+e.TTL
	case effect.Order:
		if e.Order != driver.ToRun {
			return false
		}
	case effect.Start:
		if row, known := score.RowOf(e.Do.Type()); known && !row.Moves() {
			return false
		}
	case effect.Calibrate: // homes units; in DISABLED they wait for safety/enable with it
		if l.state.AckState().Safety != schema.SafetyEnabled {
			return false
		}
	default:
		return false
	}
	late := now > l.until
	l.withheld = l.withheld || late
	return late
}

// ErrReboot is returned by Run if the robot ended in order so that its service manager, such as
// systemd, starts it again.
var ErrReboot = errors.New("robotd ends to be started again")

// exitOf returns how the robot has ended, if it has.
func exitOf(out []effect.Effect) (exit effect.Exit, ends bool) {
	for _, e := range out {
		if exit, ends = e.(effect.Exit); ends {
			return exit, true
		}
	}
	return exit, false
}

// send sends an event to the loop, and blocks while the loop is busy.
func (l *loop) send(ctx context.Context, ev event.Event) {
	select {
	case l.events <- ev:
	case <-ctx.Done():
	}
}

// stop sends a stop to the loop, which overtakes all other events.
func (l *loop) stop(ctx context.Context, ev event.Event) {
	select {
	case l.stops <- ev:
	case <-ctx.Done():
	}
}
