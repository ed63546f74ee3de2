package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/schema"
)

// alert returns the robot's alert of a type, as every list shows it.
func (w *world) alert(id, kind string) (found schema.Alert) {
	w.Helper()
	var list struct{ Alerts []api.RobotAlert }
	w.must("GET", "/alerts", nil, &list)
	d, _ := w.Robot(id)
	for _, a := range list.Alerts {
		if a.Robot == id && a.Type == kind {
			if !slices.ContainsFunc(d.Alerts, func(b schema.Alert) bool { return b.ID == a.ID }) {
				w.Errorf("%s lists no alert %s", id, a.ID)
			}
			found = a.Alert
		}
	}
	return found
}

// The list of stops must not say that a robot is stopped which performs.
func TestRestoredDatabaseStopsRobotsWhoseReleaseItLost(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		id := w.stopped("r1").Latch
		w.persisted(id)
		w.until("r1 reports it", func() bool { return w.latched("r1") == id })
		w.stopFleetd()
		w.setBack(func() {
			w.startFleetd()
			if p := w.releases(id); p != nil {
				w.Fatal(p)
			}
			w.until("r1 has released it", func() bool { return w.latched("r1") == "" })
			w.sleep(3 * time.Second)
			w.stopFleetd()
		})
		w.startFleetd()
		w.persisted(id)
		w.within(5*time.Second, "fleetd tells that r1 does not hold it, or r1 holds it", func() bool {
			return w.alert("r1", "stop_not_held").Detail != "" || w.latched("r1") == id
		})
		w.within(8*time.Second, "r1 holds it", func() bool { return w.latched("r1") == id })
		w.within(2*time.Second, "the alert is over", func() bool { return w.alert("r1", "stop_not_held").Detail == "" })
		w.persisted(id)
	})
}

// The robot obeys settings that fleetd would not show.
func TestRestoredDatabaseTellsOfSettingsThatItDoesNotHave(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Raw(schema.TopicReportedConfig, `{"ts":"2026-05-17T09:30:00Z","session":"s","fleet_id":"`+w.Status().FleetID+`","desired_rev":5,"phase":"active","applied":{"boot_mode":"ato"},"rejected":[],"restart_needed":[]}`)
		w.until("an alert", func() bool { return w.alert("r1", "not_in_database").Source == "config" })
		a := w.alert("r1", "not_in_database")
		if !strings.Contains(a.Detail, "boot_mode") || !strings.Contains(a.Hint, "fleetd desired config --unset boot_mode r1") || a.FirstTS == 0 {
			t.Errorf("the alert is %+v", a)
		}
		// The way out: a document that the robot accepts, whatever it has received before.
		w.must("POST", "/desired", map[string]any{"selector": map[string]any{"ids": []string{"r1"}},
			"config": map[string]any{"unset": []string{"boot_mode"}}}, nil)
		w.until("no alert any more", func() bool { return w.alert("r1", "not_in_database").Detail == "" })
	})
}
