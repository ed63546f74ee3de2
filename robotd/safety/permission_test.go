package safety

import (
	"fmt"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/verb"
)

// rig is a robot as its permission to move sees it.
type rig struct {
	s   State
	f   Facts
	now clock.Now
}

func newRig() *rig {
	limits := Defaults()
	r := &rig{s: New(&limits, "boot", clock.Now{})}
	r.f = Facts{Units: []Unit{{ID: "drive", State: UnitIdle}}, Mode: Mode{Active: true, Wants: true}}
	return r
}

// step lets do ask and then the core decide, and returns the answers by command.
func (r *rig) step(do func(Step)) map[command.Key]schema.Verdict {
	var out effect.List
	s := Step{State: &r.s, Facts: r.f, Now: r.now, Out: &out}
	if do != nil {
		do(s)
	}
	s.Answer(s.Decide())
	got := map[command.Key]schema.Verdict{}
	for i := range out.Len() {
		if a, ok := out.At(i).(effect.Reply); ok {
			got[a.To] = a.Verdict
		}
	}
	return got
}

func ask(s Step, name string, args verb.Args, when schema.Precondition) {
	s.Ask(effect.Dispatch{Key: command.Key(name), Verb: verb.Must("safety", name), Args: args, Client: "op1", If: when}, "op1")
}

func TestStopRemovesWhatWaits(t *testing.T) {
	r := newRig()
	got := r.step(func(s Step) {
		ask(s, "enable", verb.EnableOrReset{}, schema.Precondition{})
		ask(s, "stop", verb.Stop{Why: "a child"}, schema.Precondition{})
	})
	if a := got["enable"]; a.Status != schema.StatusCancelled || a.Reason != schema.ReasonStopped || len(a.Refs) == 0 {
		t.Errorf("the enable was answered %+v", a)
	}
	if a := got["stop"]; a.Status != schema.StatusSucceeded {
		t.Errorf("the stop was answered %+v", a)
	}
	if r.s.At != schema.SafetyDisabled || r.s.Len() != 0 {
		t.Errorf("the robot is %s, and %d requests wait", r.s.At, r.s.Len())
	}
}

func TestConditionIsCheckedWhenTheCoreTakesTheRequest(t *testing.T) {
	r := newRig()
	r.f.CurrentState.Mode = schema.ModeMnl
	got := r.step(func(s Step) { ask(s, "enable", verb.EnableOrReset{}, schema.Precondition{Mode: schema.ModeAto}) })
	if a := got["enable"]; a.Status != schema.StatusRejected || a.Reason != schema.ReasonPrecondition || r.s.At != schema.SafetyDisabled {
		t.Errorf("answered %+v, and the robot is %s", a, r.s.At)
	}
}

func TestStopOfAPartIsTakenBesideARequest(t *testing.T) {
	r := newRig()
	if got := r.step(func(s Step) {
		ask(s, "enable", verb.EnableOrReset{}, schema.Precondition{})
	}); got["enable"].Status != schema.StatusSucceeded {
		t.Fatalf("answered %+v", got)
	}
	r.s.AskStop(effect.AskStop{Verb: "dance", Source: "unit", Key: "drive"})
	r.step(nil)
	if r.s.At != schema.SafetyStop || r.s.Cause.Key != "drive" || r.s.Len() != 0 {
		t.Errorf("the robot is %s because of %s, and %d wait", r.s.At, r.s.Cause, r.s.Len())
	}
}

func TestResetIsAnsweredAgainWhenItHasEnded(t *testing.T) {
	for _, c := range []struct {
		unit UnitState
		want schema.Status
	}{{UnitIdle, schema.StatusSucceeded}, {UnitError, schema.StatusFailed}} {
		r := newRig()
		r.s.Restore(r.now, PendingReset{State: schema.SafetyEStop})
		r.f.Units[0].State = UnitError
		r.now.Mono += Defaults().Settle
		if got := r.step(func(s Step) {
			ask(s, "reset", verb.EnableOrReset{}, schema.Precondition{})
		}); got["reset"].Status != schema.StatusAccepted {
			t.Fatalf("answered %+v", got)
		}
		r.f.Units[0].State = c.unit
		r.now.Mono += Defaults().Reset
		if got := r.step(nil); got["reset"].Status != c.want {
			t.Errorf("a reset whose unit is %s is answered %+v at its end, and the robot is %s", c.unit, got["reset"], r.s.At)
		}
	}
}

// Somebody presses the button reset 25 times a second, and the unit settles meanwhile.
func TestRefusedResetsAreReportedOnceASecondWithTheirCount(t *testing.T) {
	r := newRig()
	r.f.Inputs = []string{"red"}
	var got []string
	count := int64(0)
	step := func(press bool) {
		var out effect.List
		s := Step{State: &r.s, Facts: r.f, Now: r.now, Out: &out}
		if press {
			s.ResetAtRobot()
		}
		s.Answer(s.Decide())
		for i := range out.Len() {
			if e, ok := out.At(i).(effect.Event); ok && e.Kind == "reset_refused" {
				data := e.Data.(refusedReset)
				got = append(got, fmt.Sprint(r.now.Mono.Milliseconds(), " ", data.Reason))
				count += data.Count
			}
		}
	}
	step(false)
	r.now.Mono = 500 * time.Millisecond
	for range 75 {
		step(true)
		r.now.Mono += 40 * time.Millisecond
	}
	r.f.Inputs = nil
	step(true)
	r.now.Mono = 10 * time.Second
	step(false)
	if want := "[500 estop_input 1500 estop_input 2500 estop_input 3500 estop_input 3500 reset_settling]"; fmt.Sprint(got) != want ||
		count != 76 {
		t.Errorf("76 presses were reported as %d: %v, want %s", count, got, want)
	}
}
