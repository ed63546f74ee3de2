package fleet_test

import (
	"net/http"
	"strings"
	"testing"

	"troupe/fleetd/api"
)

// A user of one site makes, sees and deletes policies that are about robots of this site only.
func TestPoliciesAreThoseOfASite(t *testing.T) {
	inWorld(t, func(w *world) {
		twoSites(w)
		policy := func(labels ...string) map[string]any {
			selector := map[string]any{"all": true}
			if len(labels) > 0 {
				var all []map[string]string
				for _, l := range labels {
					key, value, _ := strings.Cut(l, "=")
					all = append(all, map[string]string{"key": key, "value": value})
				}
				selector = map[string]any{"labels": all}
			}
			return map[string]any{"selector": selector, "content": map[string]any{"story": map[string]any{"id": "museum"}}, "now": true}
		}
		w.must("PUT", "/policies/all", policy(), nil)
		for _, c := range []struct {
			method, path string
			body         any
			want         int
		}{
			{"PUT", "/policies/lobby", policy("site=lobby", "floor=2"), 200},
			{"PUT", "/policies/mine", policy(), 403},
			{"PUT", "/policies/mine", policy("floor=2"), 403},
			{"PUT", "/policies/mine", policy("site=hall"), 403},
			{"PUT", "/policies/all", policy("site=lobby"), 403}, // it takes the policy from the others
			{"DELETE", "/policies/hall", nil, 403},
			{"DELETE", "/policies/lobby", nil, 200},
			{"DELETE", "/policies/lobby", nil, 404},
			{"GET", "/policies/all", nil, 404},
			{"GET", "/robots/" + otherSite + "/why", nil, 403},
		} {
			status, body := request(w.T, w.Handler(), c.method, c.path, c.body, "As", "anna")
			if status != c.want || status == http.StatusForbidden && !strings.Contains(string(body), `"hint":`) {
				t.Errorf("%s %s: %d %s, want %d", c.method, c.path, status, body, c.want)
			}
		}
		var all api.Policies
		w.must("GET", "/policies", nil, &all, "As", "anna")
		if len(all.Policies) != 0 {
			t.Errorf("she sees %+v", all.Policies)
		}
		var why api.RobotWhy
		w.must("GET", "/robots/r1/why", nil, &why, "As", "anna")
		if k := why.Kinds[0]; k.DecidedBy != "policy" || k.Policy != "all" || k.Has != "story museum revision 2" {
			t.Errorf("why r1 has what it has: %+v", k)
		}
	}, ofLobby.option)
}
