package mode

import (
	"time"

	"troupe/schema"
)

// Call is one call of a mode.
type Call struct {
	Mode   schema.ModeID
	Do     Do
	Notice Notice // of DoStep
	r      *Runner
}

// String names the call for people.
func (c Call) String() string { return string(c.Do) + " of " + string(c.Mode) }

// Guard makes a call by its method Run, and returns why the call failed: a panic, or a
// call that took too long. A guard that does not make the call says that it failed.
type Guard func(Call) Refusal

// Unguarded makes a call and finds no fault.
func Unguarded(c Call) Refusal {
	c.Run()
	return Refusal{}
}

// Runner runs the installed modes: it carries out the orders of the supervisor, and hands
// notices to the mode that lives, of which there is at most one. It calls modes through
// the guard alone. A mode whose call failed is never called again; it counts as dead, and
// what it had begun ends.
type Runner struct {
	guard     Guard
	installed []Installed

	host     Host
	at       *Installed // of the mode that lives; nil: none does
	mode     Mode
	starting bool // it has not reported Started
	paused   bool
	refused  Refusal // of the present call
	hung     schema.ModeID

	notReady []NotReady // room for NotReady
}

// NewRunner returns a runner of modes in the order of their numbers.
func NewRunner(installed []Installed, guard Guard) *Runner {
	return &Runner{installed: installed, guard: guard}
}

// Installed returns the mode's row, which is empty if there is no such mode.
func (r *Runner) Installed(m schema.ModeID) *Installed {
	for i := range r.installed {
		if r.installed[i].ID == m {
			return &r.installed[i]
		}
	}
	return &Installed{}
}

// Performer returns the row of the mode that performs the story.
func (r *Runner) Performer() *Installed {
	for i := range r.installed {
		if r.installed[i].Performs {
			return &r.installed[i]
		}
	}
	return &Installed{}
}

// Hung notes that a mode did not return from a call the last time, and robotd was ended
// for it: until start-up is over, the mode does not start.
func (r *Runner) Hung(m schema.ModeID) { r.hung = m }

// StartedUp notes that start-up is over, and reports whether a mode had hung before it.
func (r *Runner) StartedUp() (hung bool) {
	hung, r.hung = r.hung != "", ""
	return hung
}

// Look gives the modes what they know of the robot from now on.
func (r *Runner) Look(now time.Duration, robot Robot) { r.host.Now, r.host.Robot = now, robot }

// NotReady lists the modes that could not start now. It is valid until the next call.
func (r *Runner) NotReady() []NotReady {
	r.notReady = r.notReady[:0]
	for i := range r.installed {
		m := &r.installed[i]
		if m.Ready == nil {
			continue
		}
		if why := r.ask(Call{Mode: m.ID, Do: DoReady}); why.Reason != "" {
			r.notReady = append(r.notReady, NotReady{m.ID, why.Reason, why.Detail})
		}
	}
	return r.notReady
}

// MayPause returns why the living mode cannot be paused now.
func (r *Runner) MayPause() Refusal {
	if r.at == nil {
		return Refusal{}
	}
	return r.ask(Call{Mode: r.at.ID, Do: DoMayPause})
}

func (r *Runner) ask(c Call) Refusal {
	if fault := r.call(c); fault.Reason != "" {
		return fault
	}
	return r.refused
}

// Obey carries out an order of the supervisor. params are those of the mode's rule.
func (r *Runner) Obey(c *Config, o Order) {
	if o.Do == DoStart {
		if r.at != nil {
			r.end()
		}
		r.at, r.mode = r.Installed(o.Mode), nil
		r.starting, r.paused = true, false
		r.host.params = c.Rule(o.Mode).Params
		if o.Mode == r.hung {
			r.at, r.host.id = nil, o.Mode
			r.host.StartFailed(Refusal{schema.ReasonModeFailed, string(o.Mode) + " did not return from a call, and robotd was ended for it"})
			return
		}
	} else if r.at == nil || r.at.ID != o.Mode {
		return // it has ended, and that was reported
	}
	switch o.Do {
	case DoPause, DoResume:
		r.paused = o.Do == DoPause
		r.call(Call{Mode: o.Mode, Do: o.Do})
	case DoCalibrate:
		r.Tell(CalibrationOrdered{})
	case DoEndCalibration:
		r.Tell(CalibrationCancelled{})
	case DoKill:
		r.call(Call{Mode: o.Mode, Do: o.Do})
		if r.at != nil {
			r.end()
		}
	default:
		r.call(Call{Mode: o.Mode, Do: o.Do})
	}
}

// Tell hands a notice to the mode that lives.
func (r *Runner) Tell(n Notice) {
	if r.at == nil {
		return
	}
	switch n.(type) {
	case TimePassed:
		if r.paused {
			return
		}
	case CalibrationEnded:
		r.host.calibrating = false
	case Entered:
		r.host.entered = r.host.entered && n == Entered{}
	}
	r.call(Call{Mode: r.at.ID, Do: DoStep, Notice: n})
}

// Awaits reports whether a mode waits for the end of a calibration; all others are late.
func (r *Runner) Awaits(run int64) bool { return r.host.calibrating && run == r.host.run }

// Effects returns what the modes want done since Done was called.
func (r *Runner) Effects() []Effect { return r.host.effects }

// Done forgets the effects.
func (r *Runner) Done() {
	clear(r.host.effects)
	r.host.effects = r.host.effects[:0]
}

// call makes a call through the guard. If it fails, the mode that lives is dead.
func (r *Runner) call(c Call) Refusal {
	from, had := len(r.host.effects), r.host.begun
	r.host.id, r.refused, c.r = c.Mode, Refusal{}, r
	fault := r.guard(c)
	if fault.Reason != "" {
		clear(r.host.effects[from:])
		r.host.effects, r.host.begun = r.host.effects[:from], had
		switch {
		case r.at == nil || c.Mode != r.at.ID || c.Do == DoReady || c.Do == DoKill: // the supervisor waits for nothing of it
		case r.starting:
			r.host.StartFailed(fault)
		default:
			r.host.Died(fault)
		}
	}
	r.follow(from)
	return fault
}

// follow notes how far the mode has come by what it reported.
func (r *Runner) follow(from int) {
	for _, e := range r.host.effects[from:] {
		if report, ok := e.(Report); ok && r.at != nil {
			switch report.Kind {
			case Started:
				r.starting = false
			case StartFailed, Stopped, Died:
				r.end()
			}
		}
	}
}

// end forgets the mode that lived, and ends what it had begun.
func (r *Runner) end() {
	r.at, r.mode = nil, nil
	had := r.host.begun
	if had.calibrating {
		r.host.Do(EndCalibration{})
	}
	if had.entered {
		r.host.Do(Leave{})
	}
	if had.driving {
		r.host.Do(Drive{})
	}
}

// Run makes the call. Guards call it.
func (c Call) Run() {
	r := c.r
	h := &r.host
	switch c.Do {
	case DoReady:
		r.refused = r.Installed(c.Mode).Ready(h)
	case DoStart:
		r.mode = r.at.New()
		r.mode.Start(h)
	case DoStop:
		r.mode.Stop(h)
	case DoKill:
		r.mode.Kill(h)
	case DoMayPause:
		r.refused = r.mode.MayPause(h)
	case DoPause, DoResume:
		r.mode.Hold(h, c.Do == DoPause)
	case DoStep:
		r.mode.Step(h, c.Notice)
	}
}
