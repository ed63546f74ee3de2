package fleet_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/latch"
	"troupe/fleetd/store/pgtest"
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
				w.Errorf("%s %s before the robots were read: %d %v Retry-After %q", request.method, request.path, answer.Code, &p,
					answer.Header().Get("Retry-After"))
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

// beforeTheRobotsWereRead runs a test of an instance that was restarted beside r1 while its database is away.
// read brings the database back.
func beforeTheRobotsWereRead(t *testing.T, test func(w *world, r *fleettest.Robot, read func())) {
	onPostgres(t, func(w *world, g *pgtest.Cable) {
		w.startFleetd()
		r := w.robot("r1")
		w.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"site": "lobby"}}, nil)
		w.stopFleetd()
		g.Cut()
		w.startFleetd()
		w.awaitPresence("r1", "online")
		test(w, r, g.Mend)
	}, ofLobby.option, func(c *fleet.Config) { c.Dev = true })
}

func TestStopByLabelsBeforeTheRobotsWereReadIsALiveStop(t *testing.T) {
	beforeTheRobotsWereRead(t, func(w *world, r *fleettest.Robot, read func()) {
		ofSite := map[string]any{"labels": []map[string]string{{"key": "site", "value": "lobby"}}}
		var latches []string
		for _, c := range []struct {
			path  string
			body  map[string]any
			as    string
			level schema.StopLevel
		}{
			{"/commands", map[string]any{"verb": "safety/stop", "selector": ofSite}, "", schema.StopStop},
			{"/commands", map[string]any{"verb": "safety/halt", "selector": ofSite, "why": "a child"}, "", schema.StopHalt},
			{"/commands", map[string]any{"verb": "safety/estop", "selector": map[string]any{"all": true}}, "anna", schema.StopHalt},
			{"/commands", map[string]any{"verb": "safety/stop", "selector": map[string]any{"all": true}}, "", schema.StopStop},
			{"/stops", map[string]any{"selector": map[string]any{"all": true}}, "anna", schema.StopStop},
			{"/stops", map[string]any{"selector": map[string]any{"labels": ofSite["labels"], "doing": []string{"performing"}}}, "", schema.StopStop},
		} {
			liveStops := r.LiveStops()
			var b api.Batch
			if p := w.ask("POST", c.path, c.body, &b, "As", c.as); p != nil || b.Latch == "" {
				w.Errorf("%s of %v as %q: %v, latched as %q", c.path, c.body, c.as, p, b.Latch)
				continue
			}
			w.until("the live stop is received", func() bool { return r.LiveStops() == liveStops+1 && strings.Contains(w.latched("r1"), b.Latch) })
			if at := slices.IndexFunc(w.Latched(), func(l latch.LatchedStop) bool { return l.ID == b.Latch }); at < 0 ||
				w.Latched()[at].Level != c.level {
				w.Errorf("%s of %v is not listed with level %s", c.path, c.body, c.level)
			}
			latches = append(latches, b.Latch)
		}
		if p := w.ask("POST", "/commands", map[string]any{"verb": "safety/stop", "selector": ofSite, "dry_run": true}, nil); p == nil ||
			!p.Of(api.KindLoading) {
			w.Errorf("a dry run: %v", p)
		}
		read()
		w.persisted(latches...)
	})
}

func TestStopByStateBeforeTheRobotsWereReadSaysHowToStop(t *testing.T) {
	beforeTheRobotsWereRead(t, func(w *world, r *fleettest.Robot, read func()) {
		refused := func(path string, body map[string]any) *api.Problem {
			p := w.ask("POST", path, body, nil)
			if p == nil || !p.Of(api.KindLoading) || !strings.Contains(p.Hint, "--all") || !strings.Contains(p.Hint, "-l") ||
				!strings.Contains(p.Hint, "name") {
				w.Errorf("%s of %v: %v", path, body, p)
				return &api.Problem{}
			}
			return p
		}
		performing := map[string]any{"doing": []string{"performing"}}
		refused("/stops", map[string]any{"selector": performing})
		refused("/commands", map[string]any{"verb": "safety/stop", "selector": performing})
		refused("/commands", map[string]any{"verb": "manual/stop",
			"selector": map[string]any{"labels": []map[string]string{{"key": "site", "value": "lobby"}}}})
		if n := len(w.Latched()); n != 0 {
			w.Errorf("%d stops are latched", n)
		}
		// What matches already is stopped, and the answer says that more may match.
		matching := map[string]any{"text": "r1"}
		if p := refused("/stops", map[string]any{"selector": matching}); !strings.Contains(p.Detail, "1 robot") {
			w.Errorf("the detail is %q", p.Detail)
		}
		w.until("r1 is stopped", func() bool { return count(r.Received(), "safety/stop") == 1 })
		if all := w.Latched(); len(all) != 1 || !strings.Contains(strings.Join(all[0].Robots, " "), "r1") {
			w.Errorf("latched are %+v", all)
		}
		if p := refused("/commands", map[string]any{"verb": "safety/halt", "selector": matching}); !strings.Contains(p.Detail, "1 robot") {
			w.Errorf("the detail is %q", p.Detail)
		}
		w.until("r1 is halted", func() bool { return count(r.Received(), "safety/halt") == 1 })
		if p := refused("/commands", map[string]any{"verb": "manual/stop", "selector": map[string]any{"all": true}}); !strings.Contains(p.Detail,
			"1 robot") {
			w.Errorf("the detail is %q", p.Detail)
		}
		w.until("r1 stands", func() bool { return count(r.Received(), "manual/stop") == 1 })
	})
}

// A stop by labels has no robots until it is persisted. Users with sites see it if it may hold robots of theirs,
// and release it only if it can hold no other.
func TestWaitingStopByLabelsBelongsToItsSite(t *testing.T) {
	beforeTheRobotsWereRead(t, func(w *world, r *fleettest.Robot, read func()) {
		var latches []string
		for _, c := range []struct {
			key, value    string
			visible, mine bool
		}{
			{"site", "lobby", true, true},
			{"site", "hall", false, false},
			{"kind", "guide", true, false}, // of any site
		} {
			var b api.Batch
			w.must("POST", "/stops", map[string]any{"selector": map[string]any{"labels": []map[string]string{{"key": c.key, "value": c.value}}}}, &b)
			latches = append(latches, b.Latch)
			var list struct{ Stops []latch.LatchedStop }
			w.must("GET", "/stops", nil, &list, "As", "anna")
			at := slices.IndexFunc(list.Stops, func(l latch.LatchedStop) bool { return l.ID == b.Latch })
			if at >= 0 != c.visible || at >= 0 && list.Stops[at].Labels[c.key] != c.value {
				w.Errorf("of the stop of %s=%s anna sees %+v", c.key, c.value, list.Stops)
			}
			p := w.ask("POST", "/stops/release", api.ReleaseRequest{IDs: []string{b.Latch}, Why: "clear"}, nil, "As", "anna")
			if p == nil || p.Of(api.KindNotAllowed) == c.mine {
				w.Errorf("anna releases the stop of %s=%s: %v", c.key, c.value, p)
			}
		}
		read()
		w.persisted(latches...)
	})
}
