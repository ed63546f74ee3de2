package safety

import (
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

func TestStoppedByNamesSenderOfStop(t *testing.T) {
	off := []Unit{{ID: "head", State: UnitError}, {ID: "drive", State: UnitError}}
	for _, c := range []struct {
		name  string
		cause Cause
		facts Facts
		want  string
	}{
		{"a person", Cause{Event: EStopAsked, Source: "operator", By: "op1"}, Facts{Units: off}, "op1"},
		{"a unit", Cause{Event: UnitFailed, Source: "unit", Key: "drive"}, Facts{Units: off}, "unit drive"},
		{"a pressed input outranks a person", Cause{Event: EStopAsked, Source: "operator", By: "op1"}, Facts{Units: off, Inputs: []string{"rear"}}, "input rear"},
	} {
		if got := StoppedBy(State{At: schema.SafetyEStop, Cause: c.cause}, c.facts); got != c.want {
			t.Errorf("%s: latched by %q, want %q", c.name, got, c.want)
		}
	}
	if got := StoppedBy(State{At: schema.SafetyDisabled}, Facts{}); got != "" {
		t.Errorf("nothing is latched, but StoppedBy returns %q", got)
	}
}

// A unit that comes in error without a fault when robotd starts was in error before: its fault
// is over and nowhere else.
func TestErrorFromBeforeTheStartHasACause(t *testing.T) {
	for after, said := range map[time.Duration]bool{0: true, time.Minute: false} {
		s := Boot(0)
		Step(&s, after, Defaults(), Facts{Units: []Unit{{ID: "head", State: UnitError}}}, Request{})
		if s.At != schema.SafetyEStop || strings.Contains(s.CauseDetail(), "head: it was in error when robotd started") != said {
			t.Errorf("%v after the start: %s because of %q", after, s.At, s.CauseDetail())
		}
	}
}
