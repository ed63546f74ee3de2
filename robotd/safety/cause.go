package safety

import (
	"time"

	"troupe/schema"
)

// Causes appends to out everything that keeps the robot from being enabled,
// worst first: the first is the one to tell, all are there to be shown. It is
// computed from the present; only the state of the core itself is remembered.
func Causes(s State, f Facts, out []Cause) []Cause {
	for _, in := range f.Inputs {
		out = append(out, Cause{Event: InputPressed, Reason: schema.ReasonEStopInput, Source: "input", Key: in})
	}
	for _, u := range f.Units {
		if u.Fault != "" || failed(u) || u.State == UnitHalt {
			out = append(out, Cause{Event: UnitFailed, Reason: schema.ReasonUnitError, Source: "unit", Key: u.ID, Why: u.Fault})
		}
	}
	for _, u := range f.Units {
		if s.At == schema.SafetyDisabled && u.State == UnitRun {
			out = append(out, restless(RestTimeout, schema.ReasonBusy, u))
		}
	}
	if s.At == schema.SafetyEStop || s.At == schema.SafetyHalt {
		c := s.Cause
		c.Reason = schema.ReasonSafetyLatched
		out = append(out, c)
	}
	for _, l := range f.Latches {
		out = append(out, Cause{Event: level(l.Level), Reason: schema.ReasonLatched, Source: "latch", Key: l.ID, By: l.By, Why: l.Why})
	}
	if f.WakeForbidden != "" {
		out = append(out, Cause{Event: WakeForbidden, Reason: schema.ReasonWakeForbidden, Source: "core", Why: f.WakeForbidden})
	}
	return out
}

// LatchedBy names who holds the robot where it is, for its state document:
// empty while nothing is latched. A pressed input comes first, then whoever asked
// for the stop in force: that its units are off follows from it.
func LatchedBy(s State, f Facts) string {
	causes := Causes(s, f, nil)
	if len(f.Inputs) == 0 && (s.At == schema.SafetyEStop || s.At == schema.SafetyHalt) {
		causes = append([]Cause{s.Cause}, causes...)
	}
	for _, c := range causes {
		switch {
		case c.By != "":
			return c.By
		case c.Key != "":
			return c.Source + " " + c.Key
		case c.Source != "":
			return c.Source
		}
	}
	return ""
}

// failed reports whether u is off until a reset; a state that we do not know
// counts as one.
func failed(u Unit) bool {
	return u.State != UnitIdle && u.State != UnitRun && u.State != UnitHalt
}

// idle reports whether every unit is at rest.
func idle(units []Unit) bool {
	for _, u := range units {
		if u.State != UnitIdle {
			return false
		}
	}
	return true
}

// restless is a unit that ought to be at rest and is not.
func restless(on Event, why schema.Reason, u Unit) Cause {
	return Cause{Event: on, Reason: why, Source: "unit", Key: u.ID, Why: "still in " + string(u.State)}
}

// level is the event that a latch stands for.
func level(v Verb) Event {
	switch v {
	case SoftStop:
		return SoftStopAsked
	case Halt:
		return HaltAsked
	}
	return StopAsked
}

// failure finds a unit in error that counts now. While a reset runs, the units
// that it found in error are still on their way out of it: they count again
// only when something is wrong with them anew.
func (s *State) failure(units []Unit) (Cause, bool) {
	for i, u := range units {
		if !failed(u) {
			continue
		}
		old := i < MaxUnits && s.erred&(1<<i) != 0
		if s.At == schema.SafetyReset && old && u.Fault == "" {
			continue
		}
		return Cause{Event: UnitFailed, Reason: schema.ReasonUnitError, Source: "unit", Key: u.ID, Why: u.Fault}, true
	}
	return Cause{}, false
}

// remember keeps what outlasts the facts of one step: how long E_STOP has been
// without a cause, which units have left error since the reset began, how long a
// unit has been restless, and how long ENABLED has been without a mode.
func (s *State) remember(now time.Duration, f Facts) {
	var erred uint64
	faulty := len(f.Inputs) > 0
	for i, u := range f.Units {
		if failed(u) && i < MaxUnits {
			erred |= 1 << i
		}
		faulty = faulty || u.Fault != ""
	}
	switch s.At {
	case schema.SafetyEStop:
		s.erred = erred
		s.Physical = s.Physical || len(f.Inputs) > 0
		if faulty {
			s.Troubled = now
		}
	case schema.SafetyReset:
		s.erred &= erred
	}
	switch {
	case s.At != schema.SafetyDisabled || idle(f.Units):
		s.Restless, s.RestlessSince = false, 0
	case !s.Restless:
		s.Restless, s.RestlessSince = true, now
	}
	switch {
	case !f.Mode.Switching || s.At != schema.SafetyEnabled:
		s.Switching, s.InSwitching = 0, false
	case !s.InSwitching:
		s.Switching, s.InSwitching = now, true
	}
}
