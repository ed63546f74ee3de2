package fleet_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/fleet"
	"troupe/schema"
)

// headed is an authenticator that believes the header As; without it the request has every right.
type headed map[string]auth.Principal

func (h headed) Authenticate(r *http.Request) (auth.Principal, error) {
	if p, named := h[r.Header.Get("As")]; named {
		return p, nil
	}
	return auth.Dev(), nil
}

func (h headed) option(c *fleet.Config) { c.Dev, c.Authenticator = false, h }

// ofLobby is a user of one site.
var ofLobby = headed{"anna": auth.User{Name: "anna", Roles: []auth.Role{auth.Operator, auth.Author, auth.Releaser},
	Sites: []string{"lobby"}}.Principal(auth.KindSession)}

// otherSite is the robot of another site; nothing else in an answer can contain this name.
const otherSite = "x1-of-the-hall"

// twoSites has r1 in the lobby and another robot in the hall, which have everything that an answer could
// name the other one by.
func twoSites(w *world) {
	w.robot("r1")
	x1 := w.robot(otherSite)
	for robot, site := range map[string]string{"r1": "lobby", otherSite: "hall"} {
		w.must("POST", "/robots/"+robot+"/adopt", audit.Attribution{}, nil)
		w.must("PUT", "/robots/"+robot+"/labels", map[string]any{"labels": map[string]string{"site": site}}, nil)
	}
	both := map[string]any{"ids": []string{"r1", otherSite}}
	w.publish()
	w.ring("museum", soundOf("gong", 100))
	w.assign("museum", "r1", otherSite)
	w.must("PUT", "/activities/greet", "activity: greet\nname: {en: Greet}\nnature: interactive\nrepeat: once\nacts:\n- {act: ring}\n", nil,
		"If-Match", "*")
	w.must("POST", "/activities/greet/publish", audit.Attribution{}, nil)
	w.must("POST", "/activities/assignments", map[string]any{"activities": []string{"greet"}, "selector": both}, nil)
	w.converged("r1")
	w.converged(otherSite)
	for _, site := range []string{"lobby", "hall"} {
		w.must("PUT", "/sites/"+site, map[string]any{"zone": "Europe/Berlin", "open": map[string]any{"mode": "ato"},
			"hours": map[string]any{"mon": []string{"09:00-18:00"}}}, nil)
	}
	for _, id := range []string{"lobby", "hall"} {
		w.must("PUT", "/sites/"+id+"/map?resolution_m=0.05", "P5 1 1 255\n0", nil)
	}
	w.must("PUT", "/schedules/hall", map[string]any{"cron": "0 9 * * *", "zone": "UTC", "action": map[string]any{"mode": "ato"},
		"selector": map[string]any{"ids": []string{otherSite}}}, nil)
	w.sleep(time.Second) // the reason of an assignment is found by its time
	w.must("PUT", "/policies/hall", map[string]any{"selector": map[string]any{"labels": []map[string]string{{"key": "site", "value": "hall"}}},
		"content": map[string]any{"mode": map[string]any{"mode": "mnl"}}, "why": "for " + otherSite, "now": true}, nil)
	w.must("POST", "/commands", map[string]any{"verb": "sys/ping", "selector": both}, nil)
	w.must("POST", "/commands", map[string]any{"verb": "sys/ping", "selector": map[string]any{"ids": []string{otherSite}}}, nil)
	w.must("POST", "/stops", map[string]any{"selector": both, "why": "both"}, nil)
	w.must("POST", "/stops", map[string]any{"selector": map[string]any{"ids": []string{otherSite}}, "why": "hall"}, nil)
	w.must("POST", "/rollouts", map[string]any{"content": map[string]any{"story": map[string]any{"id": "museum"}}, "selector": both}, nil)
	w.must("PUT", "/robots/"+otherSite+"/pins/story", map[string]any{}, nil)
	x1.Change(func(s *schema.State) { s.Alerts = []schema.Alert{{ID: "hot", Level: schema.AlertError}} })
	x1.Event("boot")
	startUnknownRobot(w, "unknown-"+otherSite).Close() // leaves documents of an unknown robot
	w.sleep(10 * time.Second)
}

// readings are the paths of all operations that read, with parameters filled in.
func readings(w *world, batch, rollout string) map[string]string {
	var doc struct {
		Paths map[string]map[string]struct {
			ID string `json:"operationId"`
		}
	}
	answer := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/api/openapi.json", nil)
	r.Host = "localhost"
	w.Handler().ServeHTTP(answer, r)
	if err := json.Unmarshal(answer.Body.Bytes(), &doc); err != nil {
		w.Fatal(err)
	}
	out := map[string]string{}
	for path, methods := range doc.Paths {
		o, reads := methods["get"]
		if !reads || o.ID == "stream" || o.ID == "drive" {
			continue
		}
		for prefix, id := range map[string]string{"robots": "r1", "stories": "museum", "acts": "ring", "activities": "greet",
			"batches": batch, "commands": batch, "schemas": "act", "rollouts": rollout, "sites": "lobby", "schedules": "lobby-open",
			"policies": "hall"} {
			path = strings.Replace(path, "/"+prefix+"/{id}", "/"+prefix+"/"+id, 1)
		}
		path = strings.NewReplacer("{name}", "gong", "{rev}", "1", "{digest}", digestOf(soundOf("gong", 100))).Replace(path)
		if o.ID == "list-desired" {
			path += "?topic=desired_activities"
		}
		if o.ID == "explain-condition" {
			path += "?condition=greet"
		}
		if o.ID == "export-library" {
			path += "?kind=story"
		}
		if o.ID == "list-fleet-measurements" {
			path += "?name=heartbeat_gap"
		}
		if o.ID == "export-folder" {
			path += "?name=museum"
		}
		out[o.ID] = strings.TrimPrefix(path, api.Prefix)
	}
	return out
}

func TestAlertsCommandsAndEventsAreListedOfOneSite(t *testing.T) {
	inWorld(t, func(w *world) {
		twoSites(w)
		for _, list := range []string{"/alerts", "/commands", "/events"} {
			for site, wanted := range map[string]string{"lobby": `"robot":"r1"`, "hall": `"robot":"` + otherSite + `"`} {
				status, body := request(w.T, w.Handler(), "GET", list+"?site="+site, nil)
				named := strings.Count(string(body), `"robot":`)
				if status != 200 || named != strings.Count(string(body), wanted) || named == 0 && (site == "hall" || list == "/commands") {
					t.Errorf("%s of the site %s: %d %s", list, site, status, body)
				}
			}
			if status, body := request(w.T, w.Handler(), "GET", list+"?site=hall", nil, "As", "anna"); status != 403 ||
				!strings.Contains(string(body), "anna does not have the site hall, but lobby") {
				t.Errorf("a user of the lobby asks for %s of the hall: %d %s", list, status, body)
			}
		}
	}, ofLobby.option)
}

// TestNoAnswerNamesARobotOfAnotherSite reads everything that the API has to read, as a user of one site.
func TestNoAnswerNamesARobotOfAnotherSite(t *testing.T) {
	inWorld(t, func(w *world) {
		twoSites(w)
		var list struct{ Batches []api.Batch }
		w.must("GET", "/batches", nil, &list)
		at := slices.IndexFunc(list.Batches, func(b api.Batch) bool { return b.Verb == "sys/ping" && b.Total == 2 })
		var rollouts api.RolloutList
		w.must("GET", "/rollouts?state=READY", nil, &rollouts)
		all := readings(w, list.Batches[at].ID, rollouts.Rollouts[0].ID)
		if len(all) < 40 {
			t.Fatalf("only %d operations read: %v", len(all), all)
		}
		read := func(path string, headers ...string) (int, string) {
			status, body := request(w.T, w.Handler(), "GET", path, nil, headers...)
			return status, string(body)
		}
		// A user with all sites sees it in all of these: so the walk would notice.
		var named []string
		for id, path := range all {
			if _, body := read(path); strings.Contains(body, otherSite) {
				named = append(named, id)
			}
		}
		slices.Sort(named)
		want := strings.Fields("export-audit export-folder export-robots get-asset get-batch get-policy get-rollout get-uses-act " +
			"get-uses-activity get-uses-story list-alerts list-assets list-assignments list-audit list-batches list-commands list-desired " +
			"list-events list-orphans list-pins list-policies list-robots list-rollout-robots list-rollouts list-schedules list-stops")
		if !slices.Equal(named, want) {
			t.Errorf("somebody of all sites finds %s in\n%v, want\n%v", otherSite, named, want)
		}

		refused := map[string]int{}
		for id, path := range all {
			status, body := read(path, "As", "anna")
			if strings.Contains(body, otherSite) {
				t.Errorf("%s names the robot of another site: %s", id, body)
			}
			if status != 200 {
				refused[id] = status
			}
		}
		for id, status := range map[string]int{"list-audit": 403, "export-audit": 403, "export-folder": 403, "verify-audit": 403,
			"list-users": 403, "list-backups": 403, "list-notifications": 403, "list-receivers": 403, "list-routes": 403,
			"list-instance-certificates": 403, "get-rollout": 403, "list-rollout-robots": 403, "get-identity": 404, "get-decommission": 404,
			"get-command": 404, "get-policy": 404, "get-record": 404, "get-record-file": 404} {
			if refused[id] != status {
				t.Errorf("%s is answered with %d, want %d", id, refused[id], status)
			}
			delete(refused, id)
		}
		if len(refused) > 0 {
			t.Errorf("these are refused: %v", refused)
		}
		var b api.Batch
		w.must("GET", all["get-batch"], nil, &b, "As", "anna")
		if b.Total != 1 || b.Selector != "r1" || len(b.Commands) != 1 {
			t.Errorf("of a batch for both sites she sees %+v", b)
		}
		w.must("GET", "/batches", nil, &list, "As", "anna")
		for _, b := range list.Batches {
			if b.Total != 1 || b.Selector != "r1" {
				t.Errorf("she sees the batch %+v", b)
			}
		}
		for _, path := range []string{"/acts/ring", "/assets/gong"} {
			if p := w.ask("DELETE", path, nil, nil, "As", "anna"); p == nil || p.Status != 403 || strings.Contains(p.Detail+p.Hint, otherSite) ||
				p.Hint == "" {
				t.Errorf("delete %s, which a robot of another site has: %v", path, p)
			}
		}
	}, ofLobby.option)
}

// TestRobotThatLeavesTheSiteLeavesTheStream changes the site of a robot while pages are open.
func TestRobotThatLeavesTheSiteLeavesTheStream(t *testing.T) {
	inWorld(t, func(w *world) {
		twoSites(w)
		site := func(robot, is string) {
			w.must("PUT", "/robots/"+robot+"/labels", map[string]any{"labels": map[string]string{"site": is}}, nil)
		}
		for _, page := range []struct{ what, query, as string }{{"of a user of the site", "", "anna"},
			{"that shows the site", "?label=site%3Dlobby", ""}} {
			site("r1", "lobby")
			site(otherSite, "hall")
			w.sleep(time.Second)
			text := make(chan string)
			go func() { text <- w.streamed(page.query, 4*time.Second, "As", page.as) }()
			w.sleep(time.Second)
			site("r1", "hall")
			w.sleep(time.Second)
			site("r1", "attic")
			begin, then, _ := strings.Cut(<-text, `"gone":true`)
			if !strings.Contains(begin, `"id":"r1"`) || then == "" || strings.Contains(then, "r1") || strings.Contains(begin+then, otherSite) {
				t.Errorf("a robot that leaves is not gone from a page %s: %s ... %s", page.what, begin, then)
			}
		}
	}, ofLobby.option)
}
