package mode

import (
	"testing"

	"troupe/schema"
)

// SafetyMode is called while the old mode ends and while the next one starts.
func TestSwitchingBetweenMovingModesKeepsPermission(t *testing.T) {
	c := Defaults()
	for _, from := range []schema.ModeID{schema.ModeStr, schema.ModeMnl, schema.ModeAto, schema.ModeSafe} {
		for _, to := range []schema.ModeID{schema.ModeStr, schema.ModeMnl, schema.ModeAto, schema.ModeSafe} {
			want := from != schema.ModeStr && from != schema.ModeSafe && to != schema.ModeSafe
			ending := Supervisor{Phase: Stopping, Active: from, Next: to}
			starting := Supervisor{Phase: Starting, Left: from, Next: to}
			for _, s := range []Supervisor{ending, starting} {
				if _, _, got := s.SafetyMode(&c); got != want {
					t.Errorf("%s to %s, %s: hands over %v, want %v", from, to, s.Phase, got, want)
				}
			}
		}
	}
}

func TestModeInChargeIsIntendedOnceItIsAskedFor(t *testing.T) {
	c := Defaults()
	s := Boot(&c)
	s.System, s.Phase, s.Active, s.Calibrated = schema.SystemRunning, Ready, schema.ModeMnl, true
	s.Status[c.index(schema.ModeMnl)] = schema.ModeRunning
	s.Intended, s.FellFrom, s.Reason = schema.ModeAto, schema.ModeAto, schema.ReasonNoDefaultStory
	d := s.step(0, &c, Facts{}, Input{Kind: Set, Mode: schema.ModeMnl, Req: "a"})
	if d.Answer.Status != schema.StatusSucceeded || d.Answer.Reason != "" || s.Intended != schema.ModeMnl || s.FellFrom != "" ||
		s.Reason != "" || !d.List {
		t.Errorf("answer %+v; intended %s, in place of %q because of %q, shown: %v", d.Answer, s.Intended, s.FellFrom, s.Reason, d.List)
	}
	if d = s.step(0, &c, Facts{}, Input{Kind: Set, Mode: schema.ModeMnl, Req: "b"}); d.List || d.Answer.Reason != schema.ReasonUnchanged {
		t.Error("asked again, something changed")
	}
}
