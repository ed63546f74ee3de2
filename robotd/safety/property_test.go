package safety

import (
	"testing"
	"time"

	"pgregory.net/rapid"
	"troupe/schema"
)

// drawFacts draws facts with and without faults.
func drawFacts(t *rapid.T) Facts {
	unit := rapid.Custom(func(t *rapid.T) Unit {
		u := Unit{ID: "u", State: rapid.SampledFrom([]UnitState{UnitIdle, UnitIdle, UnitRun, UnitHalt, UnitError, "?"}).Draw(t, "unit")}
		if u.State != UnitIdle && rapid.IntRange(0, 3).Draw(t, "faulty") == 0 {
			u.Fault = "hot"
		}
		return u
	})
	f := Facts{Mode: Mode{
		Active: rapid.IntRange(0, 9).Draw(t, "active") > 0, Wants: rapid.IntRange(0, 9).Draw(t, "wants") > 0,
		Switching: rapid.IntRange(0, 9).Draw(t, "switching") == 0, ShutdownDone: rapid.Bool().Draw(t, "done"),
	}}
	if rapid.Bool().Draw(t, "no faults") {
		f.Units = []Unit{{ID: "u"}, {ID: "v"}}
		for i := range f.Units {
			f.Units[i].State = UnitIdle
		}
		f.StopsAsked = drawAsked(t)
		return f
	}
	f.Units = rapid.SliceOfN(unit, 0, 3).Draw(t, "units")
	if rapid.IntRange(0, 4).Draw(t, "pressed") == 0 {
		f.Inputs = []string{"door"}
	}
	if rapid.IntRange(0, 4).Draw(t, "latched") == 0 {
		f.Latches = []Latch{{ID: "l", Level: rapid.SampledFrom([]Verb{SoftStop, Stop, Halt, "?"}).Draw(t, "level")}}
	}
	if rapid.IntRange(0, 4).Draw(t, "critical") == 0 {
		f.Critical = []Cause{{Event: SoftStopAsked, Reason: schema.ReasonUnitCritical, Source: "unit", Key: "battery"}}
	}
	f.StopsAsked = drawAsked(t)
	return f
}

// drawAsked draws a stop that the mode asks for, or none.
func drawAsked(t *rapid.T) []Request {
	if rapid.IntRange(0, 4).Draw(t, "asked") > 0 {
		return nil
	}
	return []Request{{Verb: rapid.SampledFrom([]Verb{SoftStop, Stop, Halt, EStop}).Draw(t, "asks"), Source: "mode"}}
}

func drawRequest(t *rapid.T) Request {
	r := Request{
		Verb: rapid.SampledFrom([]Verb{"", "", Enable, Enable, Enable, Reset, Reset, SoftStop, Stop, Halt, EStop}).Draw(t, "verb"),
		ID:   rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f"}).Draw(t, "id"), Local: rapid.Bool().Draw(t, "local"),
	}
	return r
}

// walk takes a core through random facts and requests and calls see after every step.
func walk(t *rapid.T, see func(was CoreState, s CoreState, f Facts, r Request, d Decision, now time.Duration)) {
	s, now := Boot(0), time.Duration(0)
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		now += time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond
		f, r, was := drawFacts(t), drawRequest(t), s
		d := s.step(now, Defaults(), f, r)
		see(was, s, f, r, d, now)
	}
}

func TestOnlyGrantedRequestsLowerTheRestriction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s CoreState, f Facts, r Request, d Decision, now time.Duration) {
			if Restriction(s.At) >= Restriction(was.At) {
				return
			}
			granted := d.Answer.Taken && (r.Verb == Enable || r.Verb == Reset) && d.Answer.Reason == ""
			if !granted && (was.At != schema.SafetyReset || s.At != schema.SafetyDisabled) {
				t.Fatalf("%s -> %s on %s", was.At, s.At, d.Cause.Event)
			}
		})
	})
}

func TestMoreCausesNeverLowerTheRestriction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s CoreState, f Facts, r Request, d Decision, now time.Duration) {
			worse := f
			switch rapid.IntRange(0, 4).Draw(t, "which") {
			case 4:
				worse.Critical = append([]Cause{{Event: SoftStopAsked, Reason: schema.ReasonUnitCritical}}, f.Critical...)
			case 0:
				worse.Inputs = []string{"door"}
			case 1:
				worse.Latches = append([]Latch{{ID: "x", Level: Stop}}, f.Latches...)
			case 2:
				worse.Units = append(append([]Unit{}, f.Units...), Unit{ID: "x", State: UnitError, Fault: "hot"})
			case 3:
				worse.StopsAsked = append([]Request{{Verb: rapid.SampledFrom([]Verb{SoftStop, Stop, Halt, EStop}).Draw(t, "asks too")}},
					f.StopsAsked...)
			}
			other := was
			other.step(now, Defaults(), worse, r)
			// STOP may take longer with a fault than without: coming to rest is
			// progress, not permission.
			if Restriction(other.At) < Restriction(s.At) && !(s.At == schema.SafetyDisabled && Restriction(other.At) >= Restriction(was.At)) {
				t.Fatalf("from %s: %s with fewer causes, %s with more", was.At, s.At, other.At)
			}
		})
	})
}

func TestEnabledNeedsEnableAfterEveryStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		earned := false
		walk(t, func(was, s CoreState, f Facts, r Request, d Decision, now time.Duration) {
			if r.Verb == Enable && d.Answer.Taken && d.Answer.Reason == "" {
				earned = true
			}
			if s.At == schema.SafetyEnabled && !earned {
				t.Fatalf("ENABLED without a request, from %s on %s", was.At, d.Cause.Event)
			}
			if s.At != schema.SafetyEnabled {
				earned = false
			}
		})
	})
}

func TestStopInTheSameStepRefusesTheEnable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s CoreState, f Facts, r Request, d Decision, now time.Duration) {
			if r.Verb == Enable && len(f.StopsAsked) > 0 && d.Changed && s.At == schema.SafetyEnabled {
				t.Fatalf("%s was asked for, and the robot is ENABLED", f.StopsAsked[0].Verb)
			}
		})
	})
}

func TestStopRequestIsNeverRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s CoreState, f Facts, r Request, d Decision, now time.Duration) {
			if !r.Verb.Stops() {
				return
			}
			if !d.Answer.Taken {
				t.Fatalf("%s refused in %s: %+v", r.Verb, was.At, d.Answer)
			}
			if s.At == schema.SafetyEnabled {
				t.Fatalf("still ENABLED after %s", r.Verb)
			}
			if r.Verb == EStop && s.At != schema.SafetyEStop {
				t.Fatalf("estop in %s led to %s", was.At, s.At)
			}
			if Restriction(s.At) < Restriction(was.At) && was.At != schema.SafetyReset {
				t.Fatalf("%s led from %s to %s", r.Verb, was.At, s.At)
			}
		})
	})
}

func TestPressedStopInputKeepsEStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s CoreState, f Facts, r Request, d Decision, now time.Duration) {
			if len(f.Inputs) > 0 && s.At != schema.SafetyEStop {
				t.Fatalf("a stop input is pressed in %s and the robot is in %s", was.At, s.At)
			}
		})
	})
}

func TestDuplicateRequestHasNoEffect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var last Request
		walk(t, func(was, s CoreState, f Facts, r Request, d Decision, now time.Duration) {
			if r.ID == "" || d.Answer.Reason != "" || !d.Answer.Taken || r.Verb.Stops() {
				return
			}
			last = r
			// After any facts, the same request does not grant anything again.
			after := s
			for range 3 {
				after.step(now, Defaults(), drawFacts(t), Request{Verb: Stop})
			}
			if before := after.At; last.Verb == Enable && before == schema.SafetyDisabled {
				d := after.step(now, Defaults(), Facts{Mode: Mode{Active: true, Wants: true}}, last)
				if d.Changed || d.Answer.Reason != schema.ReasonStopped {
					t.Fatalf("a second delivery of %+v: %+v", last, d)
				}
			}
		})
	})
}

func TestStepWithoutChangeAllocatesNothing(t *testing.T) {
	s := Boot(0)
	f := Facts{Units: []Unit{{ID: "drive", State: UnitIdle}, {ID: "head", State: UnitIdle}}, Mode: Mode{Active: true, Wants: true}}
	l := Defaults()
	if n := testing.AllocsPerRun(100, func() { s.step(time.Second, l, f, Request{}) }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}
