package safety

import (
	"fmt"
	"time"

	"troupe/schema"
)

// Answer is the answer to the sender of a request. Taken with the reason "unchanged"
// means that the request had nothing to change.
type Answer struct {
	Present bool // there was a request
	Taken   bool
	Reason  schema.Reason
	Detail  string // for people
}

func taken() Answer { return Answer{Present: true, Taken: true} }

func unchanged(detail string) Answer {
	return Answer{Present: true, Taken: true, Reason: schema.ReasonUnchanged, Detail: detail}
}

func refused(r schema.Reason, detail string) Answer {
	return Answer{Present: true, Reason: r, Detail: detail}
}

// mayEnable checks an enable: first the state, then every cause, then whether the
// sender has seen a recent heartbeat. ok means that the enable is granted.
//
// In HALT and E_STOP the refusal names what led there and the way out, not the units in
// error: they are only its consequence.
func (s *CoreState) mayEnable(now time.Duration, l Limits, f Facts, r Request) (a Answer, ok bool) {
	switch s.At {
	case schema.SafetyEnabled:
		return unchanged("already ENABLED"), false
	case schema.SafetySoftStop, schema.SafetyStop:
		return refused(schema.ReasonBusy, "the robot is coming to rest; ask again when it is DISABLED"), false
	case schema.SafetyReset:
		return refused(schema.ReasonResetSettling, "the units are being reset; ask again when the robot is DISABLED"), false
	case schema.SafetyHalt, schema.SafetyEStop:
		reason := schema.ReasonNeedsReset
		if len(f.Inputs) > 0 {
			reason = schema.ReasonEStopInput
		}
		return refused(reason, s.Standstill(f.Inputs, f.Latches, f.NeedsContinue).String()), false
	}
	if causes := Causes(*s, f, nil); len(causes) > 0 {
		detail := causes[0].String()
		if causes[0].Reason == schema.ReasonLatched {
			detail += "; " + s.Standstill(f.Inputs, f.Latches, f.NeedsContinue).WayOut()
		}
		if more := len(causes) - 1; more > 0 {
			detail += fmt.Sprintf("; and %d more", more)
		}
		return refused(causes[0].Reason, detail), false
	}
	switch {
	case f.stopAsked():
		return refused(schema.ReasonStopped, "the robot was asked to stop at the same moment; ask again"), false
	case !f.Mode.Active:
		return refused(schema.ReasonPrecondition, "no mode is in charge; mode/set starts one"), false
	case !f.Mode.Wants:
		return refused(schema.ReasonPrecondition, "the active mode does not move; mode/set another one first"), false
	}
	return s.checkSight(now, l, f, r)
}

// mayReset checks a reset. A latch does not prevent it: the units may leave their
// errors, and the latch prevents only enabling.
func (s *CoreState) mayReset(now time.Duration, l Limits, f Facts, r Request) (a Answer, ok bool) {
	switch s.At {
	case schema.SafetyReset:
		return unchanged("a reset is in progress; wait for DISABLED"), false
	case schema.SafetyDisabled:
		return unchanged("nothing is left to reset: the robot is in DISABLED"), false
	case schema.SafetyHalt:
		return refused(schema.ReasonResetSettling, "units are still halting; ask again in E_STOP"), false
	case schema.SafetyEnabled, schema.SafetySoftStop, schema.SafetyStop:
		return refused(schema.ReasonInvalidTransition, "there is nothing to reset in "+string(s.At)), false
	}
	if len(f.Inputs) > 0 {
		return refused(schema.ReasonEStopInput, s.Standstill(f.Inputs, f.Latches, f.NeedsContinue).WayOut()), false
	}
	if s.Physical && !r.Local {
		return refused(schema.ReasonLocalOnly, "a stop input at the robot was pressed; "+s.Standstill(nil, f.Latches, f.NeedsContinue).WayOut()),
			false
	}
	for _, u := range f.Units {
		if u.Fault != "" {
			return refused(schema.ReasonUnitError, "unit "+u.ID+": "+u.Fault), false
		}
	}
	if a, ok := s.checkSight(now, l, f, r); !ok {
		return a, false
	}
	if left := s.LastCauseAt + l.Settle - now; left > 0 {
		return refused(schema.ReasonResetSettling, fmt.Sprintf("the units settle for another %d ms", (left+time.Millisecond-1).Milliseconds())),
			false
	}
	return taken(), true
}

// checkSight checks that the sender has seen the robot recently and since it last went
// to a safer state.
func (s *CoreState) checkSight(now time.Duration, l Limits, f Facts, r Request) (Answer, bool) {
	switch {
	case r.HasAskedAt && r.AskedAt < s.SaferAt:
		return refused(schema.ReasonPrecondition, "the robot was stopped after this was asked; ask again"), false
	case r.Local: // the sender sees the robot
		return taken(), true
	case !r.HasSeen && l.RequireSight:
		return refused(schema.ReasonPrecondition,
			"this robot asks for seen_mono_ms and seen_boot, the newest mono_ms and the boot of its heartbeat"), false
	case !r.HasSeen:
		return taken(), true
	case r.SeenIn == OtherRun || r.Seen > now:
		return refused(schema.ReasonPrecondition, "the robot has restarted since the heartbeat that you saw"), false
	case r.SeenIn == UnknownRun && l.RequireSight: // a time of an earlier run may by chance be valid in this one
		return refused(schema.ReasonPrecondition, "this robot asks for seen_boot, too, the boot of the heartbeat that you saw"), false
	case now-r.Seen > l.Sight && (f.SeenSince == 0 || r.Seen < f.SeenSince.Truncate(time.Millisecond)):
		return refused(schema.ReasonPrecondition, fmt.Sprintf("what you saw of the robot is %d ms old", (now-r.Seen).Milliseconds())), false
	case r.Seen < s.SaferAt.Truncate(time.Millisecond):
		return refused(schema.ReasonPrecondition,
			"the robot was stopped after the heartbeat that you saw; wait for its next one, at most 2 s, and ask again"), false
	}
	return taken(), true
}

// markUsed records the id of a granted request, so that used reports it.
func (s *CoreState) markUsed(id string) {
	if id == "" {
		return
	}
	copy(s.usedIDs[1:], s.usedIDs[:len(s.usedIDs)-1])
	s.usedIDs[0] = id
}

func (s *CoreState) used(id string) bool {
	for _, t := range s.usedIDs {
		if id != "" && t == id {
			return true
		}
	}
	return false
}

// author returns one line for people about who or what caused a stop.
func (c Cause) author() string {
	if c.Source == "operator" && c.Key == "" && c.By != "" {
		c.Key, c.By = c.By, "" // "operator ann", not "operator by ann"
	}
	return c.String()
}

// String returns one line for people.
func (c Cause) String() string {
	line := c.Source
	for _, part := range []struct{ label, text string }{{" ", c.Key}, {" by ", c.By}, {": ", c.Why}} {
		if part.text != "" {
			line += part.label + part.text
		}
	}
	return line
}
