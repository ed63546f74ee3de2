package mode

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// Call is one call of a mode: an order of the supervisor, or a call that the runner makes by itself.
type Call struct {
	Mode   schema.ModeID
	Do     Do
	Notice Notice // of DoStep
	r      *Runner
}

// String names the call for people.
func (c Call) String() string { return string(c.Do) + " of " + string(c.Mode) }

// Guard makes a call by its method Run, and returns why the call failed, such as a panic
// or a call that took too long. Time is an input of the robot's step, and so is the
// guard's answer.
type Guard func(Call) Refusal

// Unguarded is a guard that finds no fault.
func Unguarded(c Call) Refusal {
	c.Run()
	return Refusal{}
}

// Runner runs the installed modes: it carries out the orders of the supervisor, and hands
// notices to the running mode, of which there is at most one. It calls modes through
// the guard alone. A mode whose call failed is dead: the runner reports that for it, ends
// what it began, and never calls it again.
type Runner struct {
	guard     Guard
	installed []Installed
	params    params

	host     Host
	running  *Installed // the mode that was started and has not ended; nil: there is none
	mode     Mode
	starting bool // it has not reported Started
	paused   bool
	refused  Refusal // of the present call
	hung     schema.ModeID

	notReady []NotReady // reused
}

// NewRunner returns a runner of modes in the order of their numbers.
func NewRunner(installed []Installed, guard Guard) *Runner {
	r := &Runner{installed: installed, guard: guard, params: params{installed, map[paramName]jsontext.Value{}}}
	r.host.params = &r.params
	return r
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

// MarkHung notes that the last run of robotd ended because a call of the mode did not return.
// Until EndStartup, the mode fails to start.
func (r *Runner) MarkHung(m schema.ModeID) { r.hung = m }

// EndStartup notes that start-up is over, and reports whether a mode was marked as hung.
func (r *Runner) EndStartup() (hung bool) {
	hung, r.hung = r.hung != "", ""
	return hung
}

// Update sets what the modes know of the robot.
func (r *Runner) Update(now time.Duration, robot Robot) { r.host.Now, r.host.Robot = now, robot }

// NotReady lists the modes that cannot start now. The list is valid until the next call.
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

// MayPause returns why the running mode cannot be paused now.
func (r *Runner) MayPause() Refusal {
	if r.running == nil {
		return Refusal{}
	}
	return r.ask(Call{Mode: r.running.ID, Do: DoMayPause})
}

func (r *Runner) ask(c Call) Refusal {
	if fault := r.call(c); fault.Reason != "" {
		return fault
	}
	return r.refused
}

// Execute carries out an order of the supervisor, and returns why the call of the mode
// failed.
func (r *Runner) Execute(o Call) (fault Refusal) {
	switch {
	case o.Do == DoStart:
		if r.running != nil {
			r.endMode()
		}
		if o.Mode == r.hung {
			r.host.id = o.Mode
			r.host.StartFailed(Refusal{schema.ReasonModeFailed, "a call of " + string(o.Mode) + " did not return, and robotd ended because of it"})
			return Refusal{}
		}
		r.running, r.mode = r.Installed(o.Mode), nil
		r.starting, r.paused = true, false
	case r.running == nil || r.running.ID != o.Mode:
		return Refusal{} // it has ended and reported that
	}
	switch o.Do {
	case DoCalibrate:
		return r.Notify(CalibrationOrdered{})
	case DoEndCalibration:
		return r.Notify(CalibrationCancelled{})
	}
	fault = r.call(o)
	switch {
	case r.running == nil:
	case o.Do == DoKill:
		r.endMode()
	case o.Do == DoPause || o.Do == DoResume:
		if r.paused = o.Do == DoPause; r.paused && r.host.driving {
			r.host.Do(Drive{})
		}
	}
	return fault
}

// Notify hands a notice to the running mode, and returns why its call failed.
func (r *Runner) Notify(n Notice) (fault Refusal) {
	if r.running == nil {
		return Refusal{}
	}
	switch n.(type) {
	case TimePassed:
		if r.paused {
			return Refusal{}
		}
	case CalibrationEnded:
		r.host.calibrating = false
	case StoryAnswered:
		r.host.performing = r.host.performing && n == StoryAnswered{}
	}
	return r.call(Call{Mode: r.running.ID, Do: DoStep, Notice: n})
}

// Calibrating reports whether the running mode calibrates the body.
func (r *Runner) Calibrating() bool { return r.host.calibrating }

// Awaits reports whether the running mode waits for the end of this calibration. The end of
// any other one is late.
func (r *Runner) Awaits(run int64) bool { return r.host.calibrating && run == r.host.run }

// Effects returns the effects since the last Clear.
func (r *Runner) Effects() []Effect { return r.host.effects }

// Clear removes the effects.
func (r *Runner) Clear() {
	clear(r.host.effects)
	r.host.effects = r.host.effects[:0]
}

// call makes a call through the guard. If it fails, the running mode is dead.
func (r *Runner) call(c Call) Refusal {
	from, had := len(r.host.effects), r.host.begun
	r.host.id, r.refused, c.r = c.Mode, Refusal{}, r
	fault := r.guard(c)
	if fault.Reason != "" {
		clear(r.host.effects[from:])
		r.host.effects, r.host.begun = r.host.effects[:from], had
		switch {
		case r.running == nil || c.Mode != r.running.ID || c.Do == DoReady || c.Do == DoKill: // the supervisor waits for no report
		case r.starting:
			r.host.StartFailed(fault)
		default:
			r.host.Died(fault)
		}
	}
	r.noteReports(from)
	return fault
}

// noteReports follows the reports of the running mode from index from on.
func (r *Runner) noteReports(from int) {
	for _, e := range r.host.effects[from:] {
		if report, ok := e.(Input); ok && r.running != nil {
			switch report.Kind {
			case Started:
				r.starting = false
			case StartFailed, Stopped, Died:
				r.endMode()
			}
		}
	}
}

// endMode removes the running mode, and ends what it began.
func (r *Runner) endMode() {
	r.running, r.mode = nil, nil
	had := r.host.begun
	if had.calibrating {
		r.host.Do(EndCalibration{})
	}
	if had.performing {
		r.host.Do(EndStory{})
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
		r.mode = r.running.New()
		r.mode.Start(h)
	case DoStop:
		r.mode.Stop(h)
	case DoKill:
		r.mode.Kill(h)
	case DoMayPause:
		r.refused = r.mode.MayPause(h)
	case DoPause, DoResume:
		r.mode.SetPaused(h, c.Do == DoPause)
	case DoStep:
		r.mode.Step(h, c.Notice)
	}
}
