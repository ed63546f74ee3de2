package fleet_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
)

// lastly lists the last assignments: kind, what was given, what was there before, and the robots.
func (w *world) lastly(query string) (lines []string, all []api.LastAssignment) {
	w.Helper()
	var list struct{ Assignments []api.LastAssignment }
	w.must("GET", "/assignments"+query, nil, &list)
	for _, a := range list.Assignments {
		for _, g := range a.Groups {
			lines = append(lines, fmt.Sprint(a.Kind, " ", a.By, " ", string(g.Now), " after ", string(g.Before), g.NoWayBack, " ",
				strings.Join(g.Robots, " ")))
		}
	}
	return lines, list.Assignments
}

func TestLastAssignmentsSayWhatRobotsHadBefore(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, id := range []string{"r1", "r2", "r3"} {
			w.robot(id)
		}
		w.publish()
		w.ring("museum", soundOf("gong", 100))
		w.must("PUT", "/activities/greet", "activity: greet\nname: {en: Greet}\nnature: interactive\nrepeat: once\nacts:\n- {act: ring}\n", nil,
			"If-Match", "*")
		w.must("POST", "/activities/greet/publish", audit.Attribution{}, nil)
		if lines, _ := w.lastly(""); len(lines) != 0 {
			t.Errorf("before any assignment: %v", lines)
		}
		give := func(path string, body map[string]any, robots ...string) {
			w.Helper()
			w.sleep(time.Second)
			body["selector"], body["by"], body["why"] = map[string]any{"ids": robots}, "anna", fmt.Sprint("because of ", body["rev"])
			w.must("POST", path, body, nil)
		}
		give("/assignments", map[string]any{"story": "museum", "rev": 1}, "r1", "r2", "r3")
		give("/assignments", map[string]any{"story": "museum", "rev": 2}, "r1", "r2")
		give("/assignments", map[string]any{}, "r2")
		give("/activities/assignments", map[string]any{"activities": []string{"greet"}}, "r1")
		give("/desired", map[string]any{"config": map[string]any{"set": map[string]any{"low_battery": 0.3}}}, "r1", "r3")
		give("/desired", map[string]any{"mode": map[string]any{"mode": "mnl"}}, "r3")
		want := []string{
			`mode anna {"apply":"boot","mode":"mnl"} after it had no desired mode before, and a desired mode cannot be taken away r3`,
			`config anna {"low_battery":0.3} after {"low_battery":null} r1 r3`,
			`activities anna [{"id":"greet","rev":1}] after [] r1`,
			`story anna {} after {"id":"museum","rev":2} r2`,
			`story anna {"id":"museum","rev":2} after {"id":"museum","rev":1} r1`,
			`story anna {"id":"museum","rev":1} after {} r3`,
		}
		if lines, _ := w.lastly(""); !slices.Equal(lines, want) {
			t.Errorf("the last assignments are\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}
		// What publishes the same again is no assignment: labels are part of the settings.
		w.sleep(time.Second)
		w.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"site": "lobby"}, "by": "carl"}, nil)
		give("/desired", map[string]any{"mode": map[string]any{"mode": "mnl", "apply": "now"}}, "r3")
		w.stopFleetd()
		w.startFleetd()
		lines, _ := w.lastly("?robot=r1")
		if !slices.Equal(lines, []string{want[1], want[2], want[4]}) {
			t.Errorf("of r1:\n%s", strings.Join(lines, "\n"))
		}
		w.converged("r1")
		if _, all := w.lastly("?robot=r3&limit=1"); len(all) != 1 || all[0].Total != 1 || all[0].Accepted+all[0].Refused+all[0].Undecided != 1 {
			t.Errorf("of r3, one: %+v", all)
		}
		// The entry of the audit leads to it.
		var log api.Audit
		w.must("GET", "/audit?what=assign&target=activities", nil, &log)
		if lines, _ := w.lastly("?at=" + log.Entries[0].At.Format(time.RFC3339Nano)); !slices.Equal(lines, want[2:3]) {
			t.Errorf("at the time of the entry: %v", lines)
		}
		// A reversion is an assignment of its own.
		w.sleep(time.Second)
		w.must("POST", "/assignments/revert", map[string]any{"selector": map[string]any{"ids": []string{"r1"}}, "by": "carl", "why": "too early"},
			nil)
		if lines, all := w.lastly("?limit=1"); len(lines) != 1 || lines[0] != `story carl {"id":"museum","rev":1} after {"id":"museum","rev":2} r1` {
			t.Errorf("after it was reverted: %v", lines)
		} else if a := all[0]; !a.Reverts || a.Why != "too early" || a.Groups[0].Replaced == nil || a.Groups[0].Replaced.By != "anna" ||
			a.Groups[0].Replaced.Why != "because of 2" {
			t.Errorf("after it was reverted: %+v, in place of %+v", a, a.Groups[0].Replaced)
		}
	})
}

// The audit says what each robot had, by name, at most twenty.
func TestAuditOfAnAssignmentNamesRobots(t *testing.T) {
	inWorld(t, func(w *world) {
		for n := range 23 {
			w.robot(fmt.Sprintf("r%d", n+1))
		}
		w.publish()
		w.ring("museum", soundOf("gong", 100))
		newest := func(query string) (e audit.Entry, before map[string][]string) {
			w.Helper()
			var log api.Audit
			w.must("GET", "/audit?"+query, nil, &log)
			if err := json.Unmarshal([]byte(log.Entries[0].Before), &before); err != nil {
				t.Errorf("before is %s: %v", log.Entries[0].Before, err)
			}
			return log.Entries[0], before
		}
		w.must("POST", "/assignments", map[string]any{"story": "museum", "rev": 1, "selector": map[string]any{"ids": []string{"r1", "r3"}}}, nil)
		w.must("POST", "/assignments", map[string]any{"story": "museum", "rev": 2, "selector": map[string]any{"ids": []string{"r1", "r2", "r3"}}},
			nil)
		e, before := newest("what=assign")
		if e.Target != "story museum revision 2" || e.Detail != "robots r1 r2 r3" || !slices.Equal(before["museum revision 1"],
			[]string{"r1", "r3"}) || !slices.Equal(before[""], []string{"r2"}) {
			t.Errorf("the entry is %+v", e)
		}
		w.must("POST", "/assignments", map[string]any{"story": "museum", "rev": 1, "selector": map[string]any{"all": true}}, nil)
		e, before = newest("what=assign")
		if got := before[""]; len(got) != 20 || !slices.Equal(before["others"], []string{"3 more"}) ||
			!strings.HasSuffix(e.Detail, "and 3 more") {
			t.Errorf("before: %v, detail %q", before, e.Detail)
		}
		w.must("POST", "/desired", map[string]any{"config": map[string]any{"set": map[string]any{"low_battery": 0.3}},
			"selector": map[string]any{"ids": []string{"r1"}}}, nil)
		w.must("POST", "/desired", map[string]any{"config": map[string]any{"set": map[string]any{"low_battery": 0.4}},
			"selector": map[string]any{"ids": []string{"r1", "r2"}}}, nil)
		if _, before = newest("what=desired"); !slices.Equal(before[`{"low_battery":0.3}`], []string{"r1"}) || !slices.Equal(before[""], []string{"r2"}) {
			t.Errorf("before these settings: %v", before)
		}
	})
}
