package fleet_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"troupe/fleetd/api"
	"troupe/fleetd/desired"
	"troupe/schema"
)

// What an answer says that a robot had before is enough to give it back.
func TestPlacesAreRevertedByTheirDigest(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		set := func(places desired.Set) (done api.DesiredResult) {
			w.must("POST", "/desired", map[string]any{"selector": map[string]any{"ids": []string{"r1"}}, "places": places}, &done)
			return done
		}
		body := func(x string) []byte { return []byte(`{"schema":1,"points":{"door":{"x_m":` + x + `,"y_m":2}}}`) }
		if first := set(desired.Set{ID: "hall", Body: body("1")}); len(first.Before) != 1 || len(first.Before[0].Value) != 0 {
			t.Fatalf("r1 had nothing: %+v", first)
		}
		second := set(desired.Set{ID: "hall", Body: body("3")})
		if len(second.Before) != 1 || len(second.Before[0].Robots) != 1 {
			t.Fatalf("what r1 had is missing: %+v", second)
		}
		var was struct {
			Places schema.ContentPin `json:"places"`
		}
		if err := json.Unmarshal(second.Before[0].Value, &was); err != nil {
			t.Fatal(err)
		}
		set(desired.Set{ID: was.Places.ID, SHA256: was.Places.SHA256})
		var list api.RobotPoints
		w.must("GET", "/robots/r1/points", nil, &list)
		if len(list.Points) != 1 || list.Points[0].At == nil || list.Points[0].At.XM != 1 {
			t.Errorf("the first places are not back: %+v", list)
		}
		var far struct {
			Robots []api.RobotProgress `json:"robots"`
		}
		w.must("GET", "/desired?topic=desired_places&id=r1", nil, &far)
		if len(far.Robots) != 1 || far.Robots[0].DesiredRev != 3 || far.Robots[0].Outcome != desired.Undecided {
			t.Errorf("r1 reports nothing of places: %+v", far)
		}
	})
}
