package fleet_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/schema"
)

// What a robot reports is a point of each minute, until the robot is silent, and the fleet's summary has it.
func TestReportsBecomeMeasurements(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.must("POST", "/robots/r1/adopt", audit.Attribution{}, nil)
		began := w.Now()
		for i := range 10 {
			r.Change(func(s *schema.State) {
				s.Units = []schema.UnitState{{ID: "b", Kind: "battery", State: "idle", Detail: fmt.Sprintf("%d %%", 90-i)}}
			})
			w.sleep(30 * time.Second)
		}
		r.Close()
		w.sleep(5 * time.Minute)
		var got api.Measurements
		w.must("GET", "/robots/r1/measurements?names=battery,heartbeat_gap", nil, &got)
		if len(got.Series) != 2 || got.Series[0].Name != "battery" || got.StepS != 300 {
			t.Fatalf("%+v", got)
		}
		w.must("GET", "/robots/r1/measurements?points=1440", nil, &got)
		if got.StepS != 60 {
			t.Errorf("with 1440 points a day each has %d s", got.StepS)
		}
		for _, s := range got.Series {
			if n := len(s.Points); n < 5 || n > 7 || s.Points[n-1].At.Time().Sub(began) > 6*time.Minute {
				t.Errorf("%s has %d points, the last of %v", s.Name, n, s.Points[n-1].At)
			}
		}
		battery := got.Series[0].Points
		if first, last := battery[0], battery[len(battery)-1]; first.Max != 90 || last.Min != 81 {
			t.Errorf("the battery is %+v to %+v", first, last)
		}
		var fleet api.FleetMeasurements
		w.must("GET", "/measurements?name=battery", nil, &fleet)
		if len(fleet.Points) == 0 || fleet.Points[0].Robots != 1 || fleet.Points[0].Highest != "r1" || fleet.Points[0].Max != 90 {
			t.Errorf("the fleet: %+v", fleet)
		}
	})
}

func TestMeasurementsAreRefusedWithWhatIsWrong(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.must("POST", "/robots/r1/adopt", audit.Attribution{}, nil)
		for path, want := range map[string]string{
			"/robots/r1/measurements?since=1999-03-02T00:00:00Z&until=1999-03-01T00:00:00Z": "since is not before until",
			"/robots/r1/measurements?since=1990-03-02T00:00:00Z&names=weight":               "more than 400 days",
			"/robots/r1/measurements?names=battery,weight":                                  `nothing named "weight" is measured`,
			"/robots/r1/measurements?points=0":                                              "",
			"/robots/r1/measurements?points=12001":                                          "",
			"/measurements?name=weight":                                                     `nothing named "weight" is measured`,
			"/measurements?name=battery&since=1990-03-02T00:00:00Z":                         "more than 31 days",
			"/measurements": "",
		} {
			p := w.ask("GET", path, nil, nil)
			if p == nil || p.Status != http.StatusBadRequest && p.Status != http.StatusUnprocessableEntity {
				t.Errorf("%s is answered with %+v", path, p)
			} else if want != "" && !strings.Contains(fmt.Sprint(p.Detail, p.Errors), want) {
				t.Errorf("%s: %+v does not say %q", path, p, want)
			}
		}
		if p := w.ask("GET", "/robots/r9/measurements", nil, nil); p == nil || p.Status != http.StatusNotFound {
			t.Errorf("an unknown robot: %+v", p)
		}
	})
}
