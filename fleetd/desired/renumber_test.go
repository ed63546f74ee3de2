package desired

import (
	"strings"
	"testing"

	"troupe/schema"
)

func TestOvertakenDocumentIsPublishedWithHigherRevision(t *testing.T) {
	places := []byte(`{"schema":1,"points":{"door":{"x_m":1,"y_m":2}}}`)
	for _, c := range []struct {
		name string
		ask  Request
		want string
	}{
		{"settings", Request{Config: &Config{Set: value(`"ato"`)}}, `{"rev":51,"fleet_id":"fleetd","values":{"boot_mode":"ato","labels":{"site":"museum"}},"by":"ann","ts":"2023-11-14T22:13:20.000Z"}`},
		// An old request must not move the robot now.
		{"mode, apply now", Request{Mode: &Mode{Mode: "ato", Apply: schema.ApplyModeNow}}, `{"rev":51,"fleet_id":"fleetd","mode":"ato","apply":"boot","by":"ann","ts":"2023-11-14T22:13:20.000Z"}`},
		{"places", Request{Places: &Set{ID: "hall", Body: places}}, ""},
	} {
		rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1", Labels: map[string]string{"site": "museum"}}}}
		first, _ := Plan(rows, c.ask, by)
		rows = applyChanges(rows, first)
		if a, _ := Renumber(first.Topic, rows, by); len(a.Updated) != 0 {
			t.Errorf("%s: published again without being overtaken: %+v", c.name, a.Documents)
		}
		rows.Robots[0].Reported = schema.ReportedRev{Rev: 50}
		if p, _ := Plan(rows, c.ask, by); len(p.Updated) != 1 || p.Documents[0].Current.Rev != 51 {
			t.Errorf("%s: not published when requested again: %+v", c.name, p)
		}
		a, found := Renumber(first.Topic, rows, by)
		if len(found) > 0 || len(a.Updated) != 1 || a.Documents[0].Current.Rev != 51 || !a.Again {
			t.Fatalf("%s: %v %+v", c.name, found, a)
		}
		if kind, _, _ := strings.Cut(c.name, ","); a.Note != kind+", published again with a higher revision" {
			t.Errorf("%s: the audit says %q", c.name, a.Note)
		}
		if got := string(a.Documents[0].Current.Payload); c.want != "" && got != c.want {
			t.Errorf("%s: published again as\n%s, want\n%s", c.name, got, c.want)
		}
		if d, _ := schema.Decode[schema.DesiredSet](a.Documents[0].Current.Payload); c.ask.Places != nil &&
			(d.Set == nil || d.Set.SHA256 != first.SHA256) {
			t.Errorf("%s: the new document names %+v", c.name, d.Set)
		}
		rows = applyChanges(rows, a)
		if a, _ = Renumber(first.Topic, rows, by); len(a.Updated) != 0 {
			t.Errorf("%s: published a third time: %+v", c.name, a.Documents)
		}
		rows.Robots[0].Reported = schema.ReportedRev{Rev: rows.Robots[0].Current.Rev, Unfulfilled: true}
		if a, _ = Plan(rows, c.ask, by); len(a.Updated) != 1 {
			t.Errorf("%s: asked for again after the robot rejected it: %+v", c.name, a)
		}
	}
}

// As after a restore of the database: the robot has places that are not in it.
func TestPlacesWithoutADocumentInTheDatabaseAreCleared(t *testing.T) {
	rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1", Reported: schema.ReportedRev{Rev: 5}}, {ID: "r2"}}}
	c, found := Plan(rows, Request{Places: &Set{}}, by)
	if len(found) > 0 || len(c.Documents) != 1 || c.Documents[0].ID != "r1" || c.Documents[0].Current.Rev != 6 || len(c.Unchanged) != 1 {
		t.Fatalf("%v %+v", found, c)
	}
	if d, _ := schema.Decode[schema.DesiredSet](c.Documents[0].Current.Payload); d.Set != nil {
		t.Errorf("the document names %+v", d.Set)
	}
}
