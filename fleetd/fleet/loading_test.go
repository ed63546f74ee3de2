package fleet_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/schema"
)

// TestNoRobotIsCalledUnknownBeforeTheRobotsWereRead keeps a restarted instance from reading
// its database.
func TestNoRobotIsCalledUnknownBeforeTheRobotsWereRead(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Close()
		w.awaitPresence("r1", "offline")
		w.stopFleetd()
		w.newBroker() // it retains nothing of the robot

		read := make(chan struct{})
		w.config.BeforePart = func(part string) {
			if part == "database" {
				<-read
			}
		}
		w.startFleetd()
		for _, request := range []struct{ method, path, body string }{
			{"GET", "/robots/r1", ""},
			{"GET", "/robots/r1/documents", ""},
			{"GET", "/robots/r1/points", ""},
			{"GET", "/robots/r1/activities", ""},
			{"GET", "/robots/r1/teleop", ""},
			{"GET", "/orphans", ""},
			{"DELETE", "/orphans/r1", ""},
			{"POST", "/robots/r1/decommission", `{"why":"sold"}`},
			{"POST", "/commands", `{"verb":"mode/set","args":{"mode":"mnl"},"selector":{"ids":["r1"]}}`},
			{"POST", "/commands", `{"verb":"mode/set","args":{"mode":"mnl"},"selector":{"all":true}}`},
		} {
			ask := httptest.NewRequest(request.method, api.Prefix+request.path, strings.NewReader(request.body))
			ask.Host = "localhost"
			ask.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			w.Handler().ServeHTTP(answer, ask)
			p, _ := schema.Decode[api.Problem](answer.Body.Bytes())
			if answer.Code != 503 || !p.Of(api.KindLoading) || !strings.Contains(p.Hint, "try again") || answer.Header().Get("Retry-After") != "1" {
				w.Errorf("%s %s before the robots were read: %d %v Retry-After %q", request.method, request.path, answer.Code, &p, answer.Header().Get("Retry-After"))
			}
		}
		if p := w.ask("POST", "/stops", map[string]any{"selector": map[string]any{"ids": []string{"r1"}}, "why": "a child"}, nil); p != nil {
			w.Errorf("a stop before the robots were read: %v", p)
		}
		close(read)
		w.until("the robot is known", func() bool {
			var d view.Detail
			return w.ask("GET", "/robots/r1", nil, &d) == nil && d.Adopted
		})
		if p := w.ask("GET", "/robots/r9", nil, nil); p == nil || !p.Of(api.KindNotFound) {
			w.Errorf("an unknown robot afterwards: %v", p)
		}
	})
}
