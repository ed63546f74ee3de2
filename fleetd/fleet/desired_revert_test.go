package fleet_test

import (
	"encoding/json"
	"strings"
	"testing"

	"troupe/fleetd/api"
)

// The previous settings, mode and places are in the database, so reverting outlives the page that
// made the change.
func TestSettingsModeAndPlacesAreRevertedAfterARestart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		r1 := map[string]any{"ids": []string{"r1"}}
		set := func(what string, value any) (done api.DesiredResult) {
			w.Helper()
			w.must("POST", "/desired", map[string]any{"selector": r1, what: value}, &done)
			return done
		}
		desired := func() string {
			var got struct{ Desired []api.DesiredState }
			w.must("GET", "/robots/r1/desired", nil, &got)
			text, _ := json.Marshal(got)
			return string(text)
		}
		point := func(x string) map[string]any {
			return map[string]any{"id": "hall", "body": json.RawMessage(`{"schema":1,"points":{"door":{"x_m":` + x + `,"y_m":2}}}`)}
		}
		if skipped := set("previous", "mode").Skipped; len(skipped) != 1 || !strings.Contains(skipped[0].Detail, "nothing is known") {
			t.Errorf("before any change: %+v", skipped)
		}
		for _, c := range []struct {
			what     string
			was, now any
		}{
			{"mode", map[string]any{"mode": "ato"}, map[string]any{"mode": "mnl"}},
			{"config", map[string]any{"set": map[string]any{"low_battery": 0.25}},
				map[string]any{"set": map[string]any{"low_battery": 0.3, "boot_mode": "ato"}}},
			{"places", point("1"), point("3")},
		} {
			set(c.what, c.was)
			first := set(c.what, c.now).Before[0]
			set(c.what, c.now) // the same again: the previous document stays
			w.stopFleetd()
			w.startFleetd()
			dry := api.DesiredResult{}
			if p := w.ask("POST", "/desired", map[string]any{"selector": r1, "previous": c.what, "dry_run": true}, &dry); p != nil ||
				len(dry.After) != 1 {
				t.Fatalf("%s: %+v, %v", c.what, dry, p)
			}
			back := set("previous", c.what)
			if len(back.Updated) != 1 || len(back.After) != 1 || string(back.After[0].Value) != string(dry.After[0].Value) {
				t.Errorf("%s is reverted to %+v, after a dry run that said %+v", c.what, back, dry)
			}
			if c.what != "config" && string(back.After[0].Value) != string(first.Value) {
				t.Errorf("%s is reverted to %s, was %s", c.what, back.After[0].Value, first.Value)
			}
		}
		if got := desired(); !strings.Contains(got, `"mode":"ato"`) || !strings.Contains(got, `"low_battery":0.25`) || strings.Contains(got, "boot_mode") {
			t.Errorf("the robot shall have %s", got)
		}
		if forth := set("previous", "config"); !strings.Contains(string(forth.After[0].Value), "boot_mode") {
			t.Errorf("a second request leads to %+v", forth)
		}
		// Labels are sent with the settings, and are none that a person takes back.
		w.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"site": "lobby"}}, nil)
		if again := set("previous", "config"); strings.Contains(string(again.After[0].Value), "labels") {
			t.Errorf("labels are reverted: %+v", again)
		}
	})
}
