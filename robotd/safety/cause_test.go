package safety

import (
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

func TestStoppedByNamesSenderOfStop(t *testing.T) {
	off := []Unit{{ID: "head", State: UnitError}, {ID: "drive", State: UnitError}}
	stop := Cause{Event: StopAsked, Reason: schema.ReasonStopped, Source: "operator", By: "op2"}
	for _, c := range []struct {
		name  string
		at    schema.SafetyState
		cause Cause
		facts Facts
		want  string
	}{
		{"a person", schema.SafetyEStop, Cause{Event: EStopAsked, Source: "operator", By: "op1"}, Facts{Units: off}, "op1"},
		{"a unit", schema.SafetyEStop, Cause{Event: UnitFailed, Source: "unit", Key: "drive"}, Facts{Units: off}, "unit drive"},
		{"a pressed input outranks a person", schema.SafetyEStop, Cause{Event: EStopAsked, Source: "operator", By: "op1"},
			Facts{Units: off, Inputs: []string{"rear"}}, "input rear"},
		{"a person whose stop is in progress", schema.SafetyStop, stop, Facts{}, "op2"},
		{"a person, until the robot is enabled", schema.SafetyDisabled, stop, Facts{}, "op2"},
		{"the first of two stops", schema.SafetyDisabled, stop, Facts{Latches: []Latch{{ID: "s-1", By: "wanda"}}}, "op2"},
		{"a latch of before the start", schema.SafetyDisabled, Boot(0).Cause, Facts{Latches: []Latch{{ID: "s-1", By: "wanda"}}}, "wanda"},
		{"nobody after a start", schema.SafetyDisabled, Boot(0).Cause, Facts{}, ""},
		{"nobody after a reset", schema.SafetyDisabled, Cause{Event: UnitsIdle, Source: "core"}, Facts{}, ""},
		{"nobody who enabled it", schema.SafetyEnabled, Cause{Event: EnableGranted, Source: "operator", By: "op1"}, Facts{}, ""},
	} {
		if got := StoppedBy(CoreState{At: c.at, Cause: c.cause}, c.facts); got != c.want {
			t.Errorf("%s: stopped by %q, want %q", c.name, got, c.want)
		}
	}
}

// A unit that comes in error without a fault when robotd starts was in error before: its fault
// is over and nowhere else.
func TestErrorFromBeforeTheStartHasACause(t *testing.T) {
	for after, said := range map[time.Duration]bool{0: true, time.Minute: false} {
		s := Boot(0)
		s.step(after, Defaults(), Facts{Units: []Unit{{ID: "head", State: UnitError}}}, Request{})
		if s.At != schema.SafetyEStop || strings.Contains(s.CauseDetail(), "head: it was in error when robotd started") != said {
			t.Errorf("%v after the start: %s because of %q", after, s.At, s.CauseDetail())
		}
	}
}
