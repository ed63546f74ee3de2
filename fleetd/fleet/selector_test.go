package fleet_test

import (
	"encoding/csv"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/schema"
)

// A list, a table, a command, a desired document (in SQL) and labels mean the same robots.
func TestSelectorMeansTheSameRobotsEverywhere(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, id := range []string{"guide-1", "guide-2", "stage-1"} {
			r := w.robot(id)
			if id == "guide-2" {
				r.Change(func(s *schema.State) { s.Safety.State = schema.SafetyEnabled })
			}
		}
		w.must("PUT", "/robots/stage-1/labels", map[string]any{"labels": map[string]string{"site": "Museum"}}, nil)
		w.publish()
		w.assign("museum", "guide-1", "guide-2")
		w.converged("guide-1")
		w.converged("guide-2")
		w.until("guide-2 is enabled", func() bool { d, _ := w.Robot("guide-2"); return d.Doing == "undriven" })

		type form = map[string]any
		for _, c := range []struct {
			query    string
			selector form
			want     string
		}{
			{"", form{"all": true}, "guide-1 guide-2 stage-1"},
			{"text=MUSEUM", form{"text": "MUSEUM"}, "stage-1"},
			{"text=guide", form{"text": "guide"}, "guide-1 guide-2"},
			{"doing=disabled", form{"doing": []string{"disabled"}}, "guide-1 stage-1"},
			{"doing=undriven&doing=paused", form{"doing": []string{"undriven", "paused"}}, "guide-2"},
			{"mode=mnl&presence=online", form{"modes": []string{"mnl"}, "presence": []string{"online"}}, "guide-1 guide-2 stage-1"},
			{"story=museum&doing=disabled", form{"story": "museum", "doing": []string{"disabled"}}, "guide-1"},
			{"story_state=none", form{"story_state": []string{"none"}}, "stage-1"},
			{"label=site%3DMuseum&mode=mnl", form{"labels": []form{{"key": "site", "value": "Museum"}}, "modes": []string{"mnl"}}, "stage-1"},
		} {
			var list struct{ Robots []struct{ ID string } }
			w.must("GET", "/robots?"+c.query, nil, &list)
			var listed []string
			for _, r := range list.Robots {
				listed = append(listed, r.ID)
			}
			answer := httptest.NewRecorder()
			w.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "http://localhost"+api.Prefix+"/robots.csv?"+c.query, nil))
			lines, err := csv.NewReader(answer.Body).ReadAll()
			if err != nil || len(lines) == 0 || answer.Header().Get("Content-Type") != "text/csv; charset=utf-8" {
				t.Fatalf("%s: the table: %v, %v", c.query, answer.Header(), err)
			}
			var exported []string
			for _, line := range lines[1:] {
				exported = append(exported, line[0])
			}
			var batch api.Batch
			w.must("POST", "/commands", form{"verb": "mode/set", "args": form{"mode": "ato"}, "selector": c.selector, "dry_run": true}, &batch)
			var commanded []string
			for _, one := range batch.Commands {
				commanded = append(commanded, one.Robot)
			}
			var desired api.DesiredResult
			w.must("POST", "/desired", form{"mode": form{"mode": "ato"}, "selector": c.selector, "dry_run": true}, &desired)
			var labelled api.LabelsResult
			w.must("POST", "/labels", form{"set": map[string]string{"new": "x"}, "selector": c.selector, "dry_run": true}, &labelled)
			for what, got := range map[string][]string{"list": listed, "table": exported, "command": commanded,
				"desired mode": append(desired.Updated, desired.Unchanged...), "labels": labelled.Updated} {
				slices.Sort(got)
				if strings.Join(got, " ") != c.want {
					t.Errorf("%s of %s: %v, want %s", what, c.query, got, c.want)
				}
			}
			expect := form{"set": map[string]string{"new": "x"}, "selector": c.selector, "expected_count": len(listed) + 1}
			if p := w.ask("POST", "/labels", expect, nil); p == nil || p.Status != 409 || !strings.Contains(p.Detail, fmt.Sprint(len(listed)+1)) {
				t.Errorf("labels of %s for another number: %+v", c.query, p)
			}
		}
	})
}
