package safety

import (
	"time"

	"troupe/schema"
)

// Causes appends to out everything that prevents enabling the robot, worst first, except for
// the mode in charge, which mayEnable checks. A refusal names the first; documents show all.
// Causes are computed from the present facts; of the past only the core's own state counts.
func Causes(s CoreState, f Facts, out []Cause) []Cause {
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
			out = append(out, restlessCause(RestTimeout, schema.ReasonBusy, u))
		}
	}
	if s.At == schema.SafetyEStop || s.At == schema.SafetyHalt {
		c := s.Cause
		c.Reason = schema.ReasonNeedsReset
		out = append(out, c)
	}
	for _, l := range f.Latches {
		out = append(out, Cause{Event: latchEvent(l.Level), Reason: schema.ReasonLatched, Source: "latch", Key: l.ID, By: l.By, Why: l.Why})
	}
	return append(out, f.Critical...)
}

// StoppedBy names the person or the device that stopped the robot, for its state document;
// empty if no stop is in force. A pressed input comes first, then the sender
// of the stop in force, because the units in error are only a consequence of that stop. In
// DISABLED the stop that led there is in force until somebody enables the robot; a start and the
// end of a reset are no stops.
func StoppedBy(s CoreState, f Facts) string {
	causes := Causes(s, f, nil)
	if len(f.Inputs) == 0 && (Halts(s.At) || s.Cause.Reason != "" && s.Cause.Source != bootSource) {
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

// failed reports whether u is off until a reset. An unknown state counts as failed.
func failed(u Unit) bool {
	return u.State != UnitIdle && u.State != UnitRun && u.State != UnitHalt
}

// allIdle reports whether every unit is at rest.
func allIdle(units []Unit) bool {
	for _, u := range units {
		if u.State != UnitIdle {
			return false
		}
	}
	return true
}

// restlessCause returns the cause for a unit that should be at rest but is not.
func restlessCause(on Event, reason schema.Reason, u Unit) Cause {
	return Cause{Event: on, Reason: reason, Source: "unit", Key: u.ID, Why: "still in " + string(u.State)}
}

// latchEvent returns the event for a latch of level v.
func latchEvent(v Verb) Event {
	switch v {
	case SoftStop:
		return SoftStopAsked
	case Halt:
		return HaltAsked
	}
	return StopAsked
}

// bootErrors is the time after the start in which a unit that is in error without a fault is
// taken to have been in error before the start: its fault was over before robotd looked.
const bootErrors = 5 * time.Second

// failure returns the first failed unit that counts. During a reset, the units that
// were in error when it began may still be in error; they count only if they have a
// new fault.
func (s *CoreState) failure(now time.Duration, units []Unit) (Cause, bool) {
	for i, u := range units {
		if !failed(u) {
			continue
		}
		old := i < MaxUnits && s.erred&(1<<i) != 0
		if s.At == schema.SafetyReset && old && u.Fault == "" {
			continue
		}
		why := u.Fault
		if why == "" && s.At == schema.SafetyDisabled && s.Cause.Source == bootSource && now-s.Since < bootErrors {
			why = "it was in error when robotd started: robotd or the bus was gone while it could move"
		}
		return Cause{Event: UnitFailed, Reason: schema.ReasonUnitError, Source: "unit", Key: u.ID, Why: why}, true
	}
	return Cause{}, false
}

// remember updates the times and flags that outlast the facts of one step: when E_STOP
// last had a cause, which units have been in error since before the reset, since when a
// unit has been restless, and since when a switch between two modes has been under way in ENABLED.
func (s *CoreState) remember(now time.Duration, f Facts) {
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
			s.LastCauseAt = now
		}
	case schema.SafetyReset:
		s.erred &= erred
	}
	switch {
	case s.At != schema.SafetyDisabled || allIdle(f.Units):
		s.Restless, s.RestlessSince = false, 0
	case !s.Restless:
		s.Restless, s.RestlessSince = true, now
	}
	switch {
	case !f.Mode.Switching || s.At != schema.SafetyEnabled:
		s.SwitchingSince, s.InSwitching = 0, false
	case !s.InSwitching:
		s.SwitchingSince, s.InSwitching = now, true
	}
}
