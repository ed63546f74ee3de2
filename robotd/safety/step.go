package safety

import (
	"cmp"
	"time"

	"troupe/schema"
)

// Decision is the result of one step.
type Decision struct {
	Changed bool
	From    schema.SafetyState
	To      schema.SafetyState
	Cause   Cause  // of the change
	Why     string // the table's reason
	Answer  Answer // to the request, if there was one
}

// step makes at most one transition: that of the most urgent event for which the table
// has a row in the present state. It checks a request after the facts, in the same
// step, and never keeps it: a refused enable does not take effect later.
func (s *CoreState) step(now time.Duration, l Limits, f Facts, r Request) Decision {
	s.remember(now, f)
	d := Decision{From: s.At, To: s.At}
	if f.stopAsked() || r.Verb.Stops() {
		s.SaferAt = now // also in DISABLED: a sender who has not seen this stop does not enable the robot
	}
	on, cause := s.urgent(now, l, f, r)
	switch {
	case on == BadState:
		s.enter(now, &d, schema.SafetyEStop, cause, "the core does not know its own state")
	case on != "":
		row, _ := Table.Next(s.At, on)
		s.enter(now, &d, row.To, cause, row.Why)
	}
	d.Answer = s.answer(now, l, f, r, &d)
	return d
}

// urgent returns the most urgent event for which the present state has a row.
func (s *CoreState) urgent(now time.Duration, l Limits, f Facts, r Request) (Event, Cause) {
	if _, known := Table.Next(s.At, EStopAsked); !known && s.At != schema.SafetyEStop {
		return BadState, Cause{Event: BadState, Reason: schema.ReasonInternal, Source: "core", Key: string(s.At)}
	}
	can := func(on Event) bool { _, ok := Table.Next(s.At, on); return ok }
	stop := func(v Verb, on Event) (c Cause, ok bool) {
		if !can(on) {
			return c, false
		}
		if r.Verb == v {
			return r.cause(on), true
		}
		if c, ok = latchCause(f.Latches, on); ok {
			return c, true
		}
		for i := range f.StopsAsked {
			if f.StopsAsked[i].Verb == v {
				return f.StopsAsked[i].cause(on), true
			}
		}
		return c, false
	}

	if len(f.Inputs) > 0 && can(InputPressed) {
		return InputPressed, Cause{Event: InputPressed, Reason: schema.ReasonEStopInput, Source: "input", Key: f.Inputs[0]}
	}
	if can(UnitFailed) {
		if c, ok := s.failure(now, f.Units); ok {
			return UnitFailed, c
		}
	}
	if c, ok := stop(EStop, EStopAsked); ok {
		return EStopAsked, c
	}
	if can(UnitHalted) {
		for _, u := range f.Units {
			if u.State == UnitHalt {
				return UnitHalted, Cause{Event: UnitHalted, Reason: schema.ReasonUnitError, Source: "unit", Key: u.ID, Why: u.Fault}
			}
		}
	}
	if c, ok := stop(Halt, HaltAsked); ok {
		return HaltAsked, c
	}
	if c, ok := stop(Stop, StopAsked); ok {
		return StopAsked, c
	}
	if can(ModeMissing) && s.modeless(now, l, f.Mode) {
		return ModeMissing, Cause{Event: ModeMissing, Reason: cmp.Or(f.Mode.FailedWhy, schema.ReasonStopped), Source: "mode", Key: f.Mode.Failed}
	}
	if c, ok := stop(SoftStop, SoftStopAsked); ok {
		return SoftStopAsked, c
	}
	if len(f.Critical) > 0 && can(SoftStopAsked) {
		return SoftStopAsked, f.Critical[0]
	}
	return s.progress(now, l, f, r)
}

// cause returns the request as the cause of the transition that it leads to.
func (r *Request) cause(on Event) Cause {
	return Cause{Event: on, Reason: schema.ReasonStopped, Source: r.Source, Key: r.Key, By: r.By, Why: r.Why, Req: r.ID}
}

// progress returns the event if no cause is urgent: the end of a stop or a reset, a
// timeout, or a granted request.
func (s *CoreState) progress(now time.Duration, l Limits, f Facts, r Request) (Event, Cause) {
	over := func(limit time.Duration) bool { return now-s.Since >= limit }
	own := func(on Event, why schema.Reason) (Event, Cause) {
		c := Cause{Event: on, Reason: why, Source: "core"}
		for _, u := range f.Units {
			if why == schema.ReasonTimeout && u.State != UnitIdle {
				c = restlessCause(on, why, u)
				break
			}
		}
		return on, c
	}
	switch s.At {
	case schema.SafetySoftStop:
		switch {
		case f.Mode.ShutdownDone:
			return own(ShutdownDone, "")
		case over(l.SoftStop):
			return own(SoftTimeout, schema.ReasonTimeout)
		}
	case schema.SafetyStop:
		switch {
		case allIdle(f.Units):
			return own(UnitsIdle, "")
		case over(l.Stop):
			return own(StopTimeout, schema.ReasonTimeout)
		}
	case schema.SafetyHalt:
		if over(l.Halt) {
			return own(HaltTimeout, schema.ReasonTimeout)
		}
	case schema.SafetyReset:
		switch {
		case allIdle(f.Units):
			return own(UnitsIdle, "")
		case over(l.Reset):
			return own(ResetTimeout, schema.ReasonTimeout)
		}
	case schema.SafetyEStop:
		if r.Verb == Reset && !s.used(r.ID) {
			if _, ok := s.mayReset(now, l, f, r); ok {
				return granted(r, ResetGranted)
			}
		}
	case schema.SafetyDisabled:
		if s.Restless && now-s.RestlessSince >= l.Stop {
			return own(RestTimeout, schema.ReasonTimeout)
		}
		if r.Verb == Enable && !s.used(r.ID) {
			if _, ok := s.mayEnable(now, l, f, r); ok {
				return granted(r, EnableGranted)
			}
		}
	}
	return "", Cause{}
}

func granted(r Request, on Event) (Event, Cause) {
	c := r.cause(on)
	c.Reason = ""
	return on, c
}

// enter makes a transition and fills in the decision.
func (s *CoreState) enter(now time.Duration, d *Decision, to schema.SafetyState, c Cause, why string) {
	d.Changed, d.To, d.Cause, d.Why = true, to, c, why
	raised := Restriction(to) > Restriction(s.At)
	s.At, s.Since = to, now
	switch {
	case d.From == schema.SafetyReset && c.Event == UnitsIdle:
		s.Cause, s.Physical = c, false
	case c.follows(d.From):
		// The next stage of a stop keeps the cause with which the stop began. It does
		// not set SaferAt, because an operator who saw the stop begin knows about it.
		d.Cause = s.Cause
		d.Cause.Event = c.Event
	default:
		s.Cause = c
		if raised {
			s.SaferAt = now
		}
	}
	switch to {
	case schema.SafetyEStop:
		s.LastCauseAt = now
		s.Physical = s.Physical || c.Event == InputPressed
	case schema.SafetyReset, schema.SafetyEnabled:
		s.markUsed(c.Req)
	}
}

// answer returns the answer to the request. A stop is always taken: either it changed
// the state, or the robot already permitted no more than the stop requests.
func (s *CoreState) answer(now time.Duration, l Limits, f Facts, r Request, d *Decision) Answer {
	switch {
	case r.Verb == "":
		return Answer{}
	case r.Verb.Stops() && d.Changed:
		return taken()
	case r.Verb.Stops():
		return unchanged("the robot already is in " + string(s.At))
	case r.Verb != Enable && r.Verb != Reset:
		return refused(schema.ReasonUnknownVerb, "the safety core knows enable, reset, soft-stop, stop, halt and estop")
	case d.Changed && (d.Cause.Event == EnableGranted || d.Cause.Event == ResetGranted):
		return taken()
	case s.used(r.ID) && (r.Verb != Enable || s.At != schema.SafetyEnabled):
		return refused(schema.ReasonStopped, "this request was used up before; send a new one")
	case r.Verb == Enable:
		a, ok := s.mayEnable(now, l, f, r)
		if ok { // the robot came to rest in this step, which makes only one transition
			return refused(schema.ReasonBusy, "the robot has only just come to rest; ask again")
		}
		return a
	}
	a, ok := s.mayReset(now, l, f, r)
	if ok {
		return refused(schema.ReasonBusy, "the robot has only just stopped; ask again")
	}
	return a
}

// modeless reports whether no mode in charge wants to move. During a switch between two
// modes that both want to move, it waits for l.Switch.
func (s *CoreState) modeless(now time.Duration, l Limits, m Mode) bool {
	if m.Switching && s.InSwitching {
		return now-s.SwitchingSince >= l.Switch
	}
	return !m.Active || !m.Wants
}

// follows reports whether c is only the next stage of a stop that began with another
// cause, for example units that halt and end in error.
func (c Cause) follows(from schema.SafetyState) bool {
	switch c.Event {
	case UnitsIdle, ShutdownDone, SoftTimeout, HaltTimeout:
		return true
	case UnitFailed:
		return from == schema.SafetyHalt && c.Why == ""
	}
	return false
}

func latchCause(latches []Latch, on Event) (Cause, bool) {
	for _, h := range latches {
		if latchEvent(h.Level) == on {
			return Cause{Event: on, Reason: schema.ReasonLatched, Source: "latch", Key: h.ID, By: h.By, Why: h.Why}, true
		}
	}
	return Cause{}, false
}
