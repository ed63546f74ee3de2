package fleet_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
)

// mutating lists the operations of the API that may change something, as METHOD path, with
// their ids.
func (w *world) mutating() map[string]string {
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/api/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			ID string `json:"operationId"`
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &doc); err != nil {
		w.Fatal(err)
	}
	all := map[string]string{}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if method != "get" && !slices.Contains([]string{"validate-texts", "get-timeline-of-text", "diff-folder", "plan-rollout",
				"next-instants"}, o.ID) {
				all[strings.ToUpper(method)+" "+path] = o.ID
			}
		}
	}
	return all
}

// newest returns the entries of the audit after a place in the chain.
func (w *world) newest(after int64) []audit.Entry {
	var got api.Audit
	w.must("GET", "/audit?limit=20", nil, &got)
	return slices.DeleteFunc(got.Entries, func(e audit.Entry) bool { return e.Seq <= after })
}

func (w *world) sends(method, path string, body []byte) int {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, r)
	return answer.Code
}

// A new route is covered without a line here: whatever may change something is walked.
func TestEveryRefusedRequestThatWouldChangeSomethingIsAudited(t *testing.T) {
	inWorld(t, func(w *world) {
		routes := w.mutating()
		if len(routes) < 30 {
			t.Fatalf("only %d routes", len(routes))
		}
		var after int64
		for _, route := range slices.Sorted(maps.Keys(routes)) {
			method, path, _ := strings.Cut(route, " ")
			path = strings.NewReplacer("{id}", "x1", "{name}", "x1", "{alert}", "a1", "{serial}", "ab", "{rev}", "1", "{digest}",
				strings.Repeat("0", 64)).Replace(path)
			w.sleep(6 * time.Second) // each address may have one refusal in five seconds
			status := w.sends(method, path, []byte(`{"by":"walker","why":"to try it","bogus":1}`))
			w.sleep(time.Second)
			found := w.newest(after)
			if len(found) == 0 {
				t.Errorf("%s (%s) answers %d and leaves no entry", route, routes[route], status)
				continue
			}
			after = found[0].Seq
			e := found[0]
			want := map[bool]audit.Outcome{true: audit.Refused, false: audit.Done}[status >= 400]
			if e.What == "" || strings.HasPrefix(string(e.What), method) || e.Outcome != want || e.Principal != "dev" || e.Address == "" ||
				e.Via == "" || status >= 400 && e.Why == "" {
				t.Errorf("%s (%s) answers %d and leaves %+v", route, routes[route], status, e)
			}
			if status >= 400 && method != http.MethodDelete && e.Who != "walker" {
				t.Errorf("%s (%s): the entry does not name who asked: %+v", route, routes[route], e)
			}
		}
	})
}

// The editor asks for both while an author types.
func TestCheckingAndDrawingATextLeaveNoEntry(t *testing.T) {
	inWorld(t, func(w *world) {
		act := "act: wave\nactions:\n- {type: sound, start_ms: 0, timeout_ms: 900, sound: gong}\n"
		var checked, drawn any
		w.must("POST", "/library/validate", map[string]any{"texts": []any{map[string]any{"kind": "act", "text": act}}}, &checked)
		w.must("POST", "/library/timeline", map[string]any{"kind": "act", "text": act}, &drawn)
		if status := w.sends("POST", "/api/v1/library/timeline", []byte(`{"kind":"act","text":"act: wave\nactions: []\n"}`)); status != http.StatusUnprocessableEntity {
			t.Errorf("the timeline of an act with an error answers %d", status)
		}
		w.sleep(time.Second)
		if got := w.newest(0); len(got) > 0 {
			t.Errorf("the audit has %+v", got)
		}
	})
}

// Of a long body the audit keeps the beginning only.
func TestLongRequestIsAuditedAsWhatItIs(t *testing.T) {
	inWorld(t, func(w *world) {
		long := strings.Repeat("a tour of the hall ", 1000)
		w.must("POST", "/library/publish", map[string]any{"dry_run": true, "texts": []any{
			map[string]any{"kind": "act", "text": "act: wave\nname: {en: Wave}\n# " + long + "\nactions:\n" +
				"- {type: sound, start_ms: 0, timeout_ms: 900, sound: gong}\n"},
		}}, nil)
		w.sleep(time.Second)
		if got := w.newest(0); len(got) > 0 {
			t.Errorf("a dry run leaves %+v", got)
		}
		w.sends("POST", "/api/v1/commands", []byte(`{"verb":"mode/set","selector":{"ids":["r9"]},"by":"anna","why":"the show","args":{"mode":"`+long+`"}}`))
		w.sleep(time.Second)
		got := w.newest(0)
		if len(got) != 1 || got[0].What != "command mode/set" || got[0].Who != "anna" || got[0].Target != `{"ids":["r9"]}` || !strings.Contains(got[0].Detail, "the show") {
			t.Errorf("a refused command leaves %+v", got)
		}
	})
}

func TestEveryChangeLeavesOneEntryOfItsTransaction(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		act := "act: wave\nactions:\n- {type: sound, start_ms: 0, timeout_ms: 900, sound: gong}\n"
		story := "story: tour\nname: {en: Tour}\nrepeat: loop\nacts:\n- {act: wave}\n"
		signed := audit.Attribution{Who: "anna", Why: "the show"}
		all := map[string]any{"ids": []string{"r1"}}
		var after int64
		for _, c := range []struct {
			method, path string
			body         any
			what, target string
			outcome      audit.Outcome
		}{
			{"PUT", "/acts/wave?by=anna", act, "save", "act wave", audit.Done},
			{"POST", "/acts/wave/publish", signed, "publish", "act wave revision 1", audit.Done},
			{"PUT", "/stories/tour?by=anna", story, "save", "story tour", audit.Done},
			{"POST", "/stories/tour/publish", signed, "publish", "story tour revision 1", audit.Done},
			{"POST", "/assignments", map[string]any{"story": "tour", "selector": all, "by": "anna", "why": "the show"}, "assign",
				"story tour revision 1", audit.Done},
			{"POST", "/desired", map[string]any{"mode": map[string]any{"mode": "ato"}, "selector": all, "by": "anna", "why": "the show"}, "desired",
				"mode ato boot", audit.Done},
			{"PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"site": "a"}, "by": "anna", "why": "the show"}, "label",
				"robot r1", audit.Done},
			{"POST", "/commands", map[string]any{"verb": "mode/set", "args": map[string]any{"mode": "mnl"}, "selector": all, "by": "anna",
				"why": "the show"}, "command mode/set", "robot r1", audit.Accepted},
			{"DELETE", "/stories/tour?expected_stories=1&expected_robots=1&clear=tour&by=anna&why=the+show", nil, "delete", "story tour",
				audit.Done},
			{"POST", "/stories/tour/recover", signed, "recover", "story tour", audit.Done},
			{"POST", "/robots/r1/decommission", map[string]any{"by": "anna", "why": "the show", "yes": true}, "decommission", "robot r1",
				audit.Done},
		} {
			w.must(c.method, c.path, c.body, nil, "If-Match", "*")
			w.sleep(2 * time.Second)
			found := w.newest(after)
			i := slices.IndexFunc(found, func(e audit.Entry) bool { return string(e.What) == c.what && e.Target == c.target && e.Of == "" })
			if i < 0 {
				t.Errorf("%s %s leaves %+v", c.method, c.path, found)
				continue
			}
			e := found[i]
			if e.Who != "anna" || e.Principal != "dev" || e.Via != audit.ViaAPI || e.Outcome != c.outcome || e.Why != "the show" &&
				c.what != "save" {
				t.Errorf("%s %s leaves %+v", c.method, c.path, e)
			}
			after = found[0].Seq
		}
		var v audit.Verdict
		if w.must("GET", "/audit/verify", nil, &v); !v.Holds {
			t.Errorf("the chain: %+v", v)
		}
	})
}

func TestRefusalsDoNotFillTheDisk(t *testing.T) {
	inWorld(t, func(w *world) {
		for range 100 {
			w.sends("POST", "/api/v1/stops/release", []byte(`{"ids":["x"],"by":"eve","why":"no"}`))
		}
		w.sleep(2 * time.Minute)
		var got api.Audit
		w.must("GET", "/audit?outcome=refused&limit=1000", nil, &got)
		if n := len(got.Entries); n < 15 || n > 30 || !strings.Contains(got.Entries[0].Detail,
			"more refused requests and flight records were not recorded") {
			t.Errorf("100 refusals left %d entries, the newest is %+v", len(got.Entries), got.Entries[0])
		}
	})
}
