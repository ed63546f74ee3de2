package view

import (
	"testing"
	"time"

	"troupe/schema"
)

// An act that goes on changes no row, so that a page at rest receives nothing of it.
func TestRowSaysWhenTheActBegan(t *testing.T) {
	at := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	row := func(after time.Duration, status schema.AutoStatus, actMS int64) *Robot {
		e := entry{stateAt: at.Add(after), state: &schema.State{Auto: schema.StateAuto{Status: status, Act: "greet", ActMS: actMS}}}
		e.state.Units = []schema.UnitState{{Kind: "speaker", Detail: "volume 0 %"}, {Kind: "battery", Detail: "80 %, charging"}}
		r := e.makeSummary("r1", "")
		return &r
	}
	first := row(2*time.Second, schema.AutoPerforming, 2000)
	if first.ActBegan != schema.TimeOf(at) || first.ActMS != 0 || !first.Body.Muted || !first.Body.Charging {
		t.Errorf("the row is %+v", first)
	}
	if d := difference(first, row(12*time.Second+80*time.Millisecond, schema.AutoPerforming, 12_000)); d&AutoFields != 0 {
		t.Error("an act that goes on is a change of its robot")
	}
	if d := difference(first, row(12*time.Second, schema.AutoPerforming, 100)); d&AutoFields == 0 {
		t.Error("the same act from its beginning is no change")
	}
	if paused := row(12*time.Second, schema.AutoPaused, 5000); paused.ActBegan != 0 || paused.ActMS != 5000 {
		t.Errorf("paused, the row says %v and %d ms", paused.ActBegan, paused.ActMS)
	}
}
