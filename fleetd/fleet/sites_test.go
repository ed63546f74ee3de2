package fleet_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/auth"
	"troupe/fleetd/latch"
	"troupe/fleetd/view"
)

// A user with sites sees and commands the robots of these sites only.
func TestUserOfASiteHasItsRobotsOnly(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		admin := &browser{world: w}
		if p := admin.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		must := func(b *browser, method, path string, body, into any) {
			t.Helper()
			if p := b.ask(method, path, body, into); p != nil {
				t.Fatalf("%s %s: %v", method, path, p)
			}
		}
		r1, r2 := startUnknownRobot(w, "r1"), startUnknownRobot(w, "r2")
		for robot, site := range map[string]string{"r1": "lobby", "r2": "hall"} {
			must(admin, "POST", "/robots/"+robot+"/adopt", map[string]any{}, nil)
			must(admin, "PUT", "/robots/"+robot+"/labels", map[string]any{"labels": map[string]string{"site": site}}, nil)
		}
		must(admin, "POST", "/users", api.NewUser{Name: "anna", Roles: []auth.Role{auth.Operator, auth.Releaser}, Sites: []string{"lobby"},
			Password: "a long password"}, nil)
		must(admin, "POST", "/users", api.NewUser{Name: "ben", Roles: []auth.Role{auth.Operator}, Sites: []string{"hall", "lobby"},
			Password: "a long password"}, nil)
		anna, ben := &browser{world: w}, &browser{world: w}
		must(anna, "POST", "/session", api.Credentials{User: "anna", Password: "a long password"}, nil)
		must(ben, "POST", "/session", api.Credentials{User: "ben", Password: "a long password"}, nil)

		var list struct{ Robots []view.Robot }
		must(anna, "GET", "/robots", nil, &list)
		if len(list.Robots) != 1 || list.Robots[0].ID != "r1" {
			t.Errorf("anna sees %+v", list.Robots)
		}
		if text := w.streamed("", time.Second, "Cookie", anna.cookie.Name+"="+anna.cookie.Value); !strings.Contains(text, `"id":"r1"`) || strings.Contains(text, "r2") {
			t.Errorf("the stream of anna begins with %s", text)
		}
		// What names a robot of another site is refused.
		set := map[string]any{"config": map[string]any{"set": map[string]any{"low_battery": 0.3}},
			"selector": map[string]any{"ids": []string{"r2"}}}
		for _, c := range []struct {
			method, path string
			body         any
		}{
			{"GET", "/robots/r2", nil}, {"GET", "/robots/r2/desired", nil}, {"GET", "/robots/r9", nil}, {"GET", "/robots/r2/teleop", nil},
			{"POST", "/commands", setMode("ato", "r1", "r2")}, {"POST", "/stops", map[string]any{"selector": map[string]any{"ids": []string{"r2"}}}},
			{"POST", "/stops", map[string]any{"selector": map[string]any{"labels": []map[string]string{{"key": "site", "value": "hall"}}}}},
			{"POST", "/desired", set}, {"POST", "/assignments/revert", map[string]any{"selector": map[string]any{"ids": []string{"r2"}}}},
			{"GET", "/instance-certificates", nil},
		} {
			if p := anna.ask(c.method, c.path, c.body, nil); p == nil || p.Status != 403 || !p.Of(api.KindNotAllowed) || p.Hint == "" {
				t.Errorf("%s %s: %v", c.method, c.path, p)
			}
		}
		// What selects all robots selects those of the site.
		var b api.Batch
		must(anna, "POST", "/stops", map[string]any{"selector": map[string]any{"all": true}}, &b)
		if b.Total != 1 || b.Commands[0].Robot != "r1" {
			t.Errorf("a stop of all robots of anna goes to %+v", b.Commands)
		}
		w.until("r1 is stopped", func() bool { return count(r1.Received(), "safety/stop") == 1 })
		w.sleep(5 * time.Second)
		if n := count(r2.Received(), "safety/stop"); n != 0 {
			t.Errorf("r2 of another site got %d stops", n)
		}
		// Ben has both sites, and a stop of r2 is not one that anna can release.
		var of struct{ Stops []latch.LatchedStop }
		must(ben, "POST", "/stops", map[string]any{"selector": map[string]any{"ids": []string{"r2"}}}, &b)
		w.until("r2 is stopped", func() bool { return count(r2.Received(), "safety/stop") == 1 })
		must(anna, "GET", "/stops", nil, &of)
		if len(of.Stops) != 1 || strings.Join(of.Stops[0].Robots, " ") != "r1" {
			t.Errorf("anna sees the stops %+v", of.Stops)
		}
		if p := anna.ask("POST", "/stops/release", map[string]any{"ids": []string{b.Latch}, "why": "clear"}, nil); p == nil || p.Status != 403 {
			t.Errorf("anna releases the stop of r2: %v", p)
		}
		must(ben, "POST", "/commands", map[string]any{"verb": "sys/ping", "selector": map[string]any{"all": true}}, &b)
		if b.Total != 2 {
			t.Errorf("a command of ben to all goes to %+v", b.Commands)
		}
		var seen api.Batch
		must(anna, "GET", "/batches/"+b.ID, nil, &seen)
		if seen.Total != 1 || len(seen.Commands) != 1 || seen.Commands[0].Robot != "r1" {
			t.Errorf("of a batch for both robots anna sees %+v", seen)
		}
		must(ben, "POST", "/commands", map[string]any{"verb": "sys/ping", "selector": map[string]any{"ids": []string{"r2"}}}, &b)
		if p := anna.ask("GET", "/batches/"+b.ID, nil, nil); p == nil || p.Status != 403 {
			t.Errorf("anna reads a batch for r2: %v", p)
		}
		var commands struct{ Commands []api.Command }
		must(anna, "GET", "/commands", nil, &commands)
		for _, c := range commands.Commands {
			if c.Robot != "r1" {
				t.Errorf("anna sees a command to %s", c.Robot)
			}
		}
	}, guarded(&password))
}

// streamed is what the stream sends within a time.
func (w *world) streamed(query string, within time.Duration, headers ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", api.Prefix+"/stream"+query, nil)
	r.Host = "127.0.0.1"
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, r)
	return answer.Body.String()
}
