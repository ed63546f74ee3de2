package desired

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestProgressIsWhatTheRobotSaysOfTheNewestRevision(t *testing.T) {
	for _, c := range []struct {
		name, report, overtaken string
		outcome                 Outcome
		detail                  string
	}{
		{"no report", ``, "", Undecided, ""},
		{"an earlier revision", `{"desired_rev":6,"phase":"rejected","reason":"invalid"}`, "", Undecided, ""},
		{"another fleet", `{"desired_rev":0,"phase":"idle","reason":"wrong_fleet"}`, "", Refused, "wrong_fleet"},
		{"the same revision of another fleet", `{"fleet_id":"b","desired_rev":7,"phase":"active"}`, "", Refused, "wrong_fleet"},
		{"this fleet", `{"fleet_id":"a","desired_rev":7,"phase":"active"}`, "", Accepted, ""},
		{"a higher revision accepted before", `{"desired_rev":7,"phase":"active"}`, "it has revision 9", Undecided, "it has revision 9"},
		{"on its way", `{"desired_rev":7,"phase":"fetching"}`, "", Undecided, ""},
		{"active", `{"desired_rev":7,"phase":"active"}`, "", Accepted, ""},
		{"from its next start on", `{"desired_rev":7,"phase":"active","restart_needed":["modes"]}`, "", Accepted, "after its next start: modes"},
		{"rejected", `{"desired_rev":7,"phase":"rejected","reason":"no_unit","detail":"no arm"}`, "", Refused, "no_unit no arm"},
		{"not fetched", `{"desired_rev":7,"phase":"failed","reason":"fetch_failed"}`, "", Refused, "fetch_failed"},
		{"without a part", `{"desired_rev":7,"phase":"active","refused":[{"id":"wave","reason":"no_unit"}]}`, "", Refused, "without wave: no_unit"},
		{"without a key", `{"desired_rev":7,"phase":"active","rejected":[{"key":"modes","reason":"invalid","detail":"none"}]}`, "", Refused, "modes refused: invalid none"},
	} {
		if p := ProgressOf("a", 7, []byte(c.report), c.overtaken); p.Outcome != c.outcome || p.Detail != c.detail || p.DesiredRev != 7 {
			t.Errorf("%s: %+v, want %s %q", c.name, p, c.outcome, c.detail)
		}
	}
}

func TestPlanSaysWhatTheUpdatedRobotsHadBefore(t *testing.T) {
	rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1"}, {ID: "r2"}, {ID: "r3"}}}
	some := rows
	some.Robots = rows.Robots[1:]
	c, _ := Plan(some, Request{Config: &Config{Set: map[string]jsontext.Value{"boot_mode": jsontext.Value(`"mnl"`)}}}, by)
	rows = applyChanges(rows, c)
	c, found := Plan(rows, Request{Config: &Config{Set: value(`"ato"`)}}, by)
	if len(found) > 0 || len(c.ValuesBefore) != 2 {
		t.Fatalf("%v %+v", found, c.ValuesBefore)
	}
	if w := c.ValuesBefore[0]; len(w.Value) != 0 || len(w.Robots) != 1 || w.Robots[0] != "r1" {
		t.Errorf("r1 had no document: %+v", w)
	}
	if w := c.ValuesBefore[1]; string(w.Value) != `{"boot_mode":"mnl"}` || len(w.Robots) != 2 {
		t.Errorf("r2 and r3 had mnl: %+v", w)
	}
	same, _ := Plan(applyChanges(rows, c), Request{Config: &Config{Set: value(`"ato"`)}}, by)
	if len(same.ValuesBefore) != 0 {
		t.Errorf("nothing changed, but %+v", same.ValuesBefore)
	}
}
