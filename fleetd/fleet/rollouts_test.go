package fleet_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/auth"
	"troupe/fleetd/fleet"
	"troupe/fleetd/rollout"
)

// publishCalm publishes a story that every body can perform.
func (w *world) publishCalm() {
	w.Helper()
	w.must("PUT", "/acts/rest", "act: rest\nname: {en: Rest}\nactions:\n- {type: wait, start_ms: 0, end_ms: 500}\n", nil, "If-Match", "*")
	w.must("PUT", "/stories/calm", "story: calm\nname: {en: Calm}\nlanguages: [en]\nrepeat: loop\nacts:\n- {act: rest}\n", nil,
		"If-Match", "*")
	w.must("POST", "/stories/calm/publish", map[string]any{"acts": []string{"rest"}}, nil)
}

// calmTo is a rollout of that story to robots.
func calmTo(robots ...string) map[string]any {
	return map[string]any{"content": map[string]any{"story": map[string]any{"id": "calm"}}, "selector": map[string]any{"ids": robots}}
}

// more is a request with more in it.
func more(request map[string]any, fields ...any) map[string]any {
	out := map[string]any{}
	for key, v := range request {
		out[key] = v
	}
	for i := 0; i < len(fields); i += 2 {
		out[fields[i].(string)] = fields[i+1]
	}
	return out
}

// auditOf lists what the audit says was done, the newest first.
func (w *world) auditOf(prefix string) (all []string) {
	w.Helper()
	var list struct {
		Entries []struct{ What, Who, Why string }
	}
	w.must("GET", "/audit?limit=100", nil, &list)
	for _, e := range list.Entries {
		if strings.HasPrefix(e.What, prefix) {
			all = append(all, fmt.Sprintf("%s by %s (%s)", e.What, e.Who, e.Why))
		}
	}
	return all
}

func TestRolloutIsCreatedAsItsPlanShowsIt(t *testing.T) {
	inWorld(t, func(w *world) {
		robots := []string{"r1", "r2", "r3", "r4", "r5"}
		for _, id := range robots {
			w.robot(id)
		}
		w.publishCalm()
		w.assign("calm", "r5")
		w.converged("r5")
		w.until("the assignment is decided", func() bool {
			var open api.RolloutList
			w.must("GET", "/rollouts?state=open", nil, &open)
			return len(open.Rollouts) == 0
		})
		ask := more(calmTo(robots...), "spec", map[string]any{"waves": []any{map[string]any{"name": "canary", "count": 1},
			map[string]any{"percent": 50}}})
		var plan api.RolloutPlan
		w.must("POST", "/rollouts/plan", ask, &plan)
		var waves []string
		for _, v := range plan.Waves {
			waves = append(waves, fmt.Sprint(v.Name, " ", v.Total))
		}
		if got, want := strings.Join(waves, ", "), "canary 1, wave 2 1, wave 3 3"; got != want {
			w.Errorf("the waves are %s, want %s", got, want)
		}
		if plan.Total != 5 || plan.Text != "story calm revision 1" || plan.Kind != "story" || plan.Unchanged.Count != 1 ||
			plan.Unchanged.Robots[0] != "r5" || plan.Approval {
			w.Errorf("the plan is %+v", plan)
		}

		// A rollout that would be another one is refused, with both numbers.
		for _, c := range []struct{ field, value, want any }{
			{"expected_count", 4, "5 robots are selected, 4 were expected"},
			{"digest", strings.Repeat("0", 64), "story calm revision 1"},
			{"supersede", 2, "it would take 0 robots from open rollouts of the same kind, 2 were expected"},
		} {
			p := w.ask("POST", "/rollouts", more(ask, c.field, c.value), nil)
			if p == nil || p.Status != http.StatusConflict || !strings.Contains(p.Detail, c.want.(string)) || p.Hint == "" ||
				p.Errors[0].Pointer != "/"+c.field.(string) {
				w.Errorf("%s %v: %+v", c.field, c.value, p)
			}
		}
		var list api.RolloutList
		w.must("GET", "/rollouts?state=READY", nil, &list)
		if len(list.Rollouts) != 0 {
			w.Errorf("refused rollouts are stored: %+v", list)
		}

		var made api.RolloutDetail
		w.must("POST", "/rollouts", more(ask, "name", "summer", "expected_count", 5, "digest", plan.Digest, "supersede", 0, "by", "ann",
			"why", "new season"), &made)
		if made.State != rollout.Ready || made.Digest != plan.Digest || made.CreatedBy != "ann" || made.Counts["PLANNED"] != 5 ||
			len(made.Waves) != 3 || !slices.Equal(made.Can, []string{"start", "abort"}) {
			w.Errorf("it was created as %+v", made)
		}
		path := "/rollouts/" + made.ID
		var page api.RolloutRobots
		w.must("GET", path+"/robots?limit=3", nil, &page)
		first, next := page.Robots, page.Next
		page = api.RolloutRobots{}
		w.must("GET", path+"/robots?limit=3&after="+next, nil, &page)
		all := map[string]bool{}
		for _, r := range slices.Concat(first, page.Robots) {
			all[r.Robot] = true
		}
		if len(all) != 5 || len(first) != 3 || page.Next != "" || first[0].Robot != plan.Waves[0].Robots[0] || first[0].WaveName != "canary" {
			w.Errorf("its robots are %+v and %+v", first, page)
		}
		w.must("GET", path+"/robots?wave=canary&state=planned", nil, &page)
		if len(page.Robots) != 1 {
			w.Errorf("the canary has %+v", page.Robots)
		}

		// What the state does not allow is refused with what is possible.
		for _, word := range []string{"pause", "resume", "retry", "rollback"} {
			p := w.ask("POST", path+"/"+word, map[string]any{}, nil)
			if p == nil || !p.Of(api.KindState) || !strings.Contains(fmt.Sprint(p.Errors), "READY") || !strings.Contains(fmt.Sprint(p.Errors),
				"start, abort") {
				w.Errorf("%s of a rollout that is ready: %+v", word, p)
			}
		}
		if p := w.ask("POST", path+"/start", map[string]any{"expected_count": 4}, nil); p == nil || !p.Of(api.KindCount) || *p.Count != 5 ||
			p.Hint == "" {
			w.Errorf("started with another count: %+v", p)
		}
		var now api.RolloutDetail
		w.must("POST", path+"/start", map[string]any{"expected_count": 5, "by": "ann", "why": "go"}, &now)
		if now.State != rollout.Running {
			w.Errorf("started, it is %s", now.State)
		}
		w.must("POST", path+"/abort", map[string]any{"by": "bob", "why": "a typing error"}, &now)
		if now.State != rollout.Aborted || now.Why != "a typing error" || slices.Contains(now.Can, "start") {
			w.Errorf("aborted, it is %+v", now)
		}
		want := []string{"rollout abort by bob (a typing error)", "rollout start by ann (go)", "rollout by ann (new season)"}
		got := w.auditOf("rollout")
		if got = slices.DeleteFunc(got, func(s string) bool { return strings.Contains(s, "by fleetd") }); !slices.Equal(got, want) {
			w.Errorf("the audit says %q, want %q", got, want)
		}
		for _, p := range []*api.Problem{w.ask("GET", "/rollouts/none", nil, nil), w.ask("POST", "/rollouts/none/start", map[string]any{}, nil)} {
			if p == nil || p.Status != 404 {
				w.Errorf("a rollout that does not exist: %+v", p)
			}
		}
	})
}

// TestPageOfARolloutAsksForNewsOnly asks again with the ETag of the answer that it has.
func TestPageOfARolloutAsksForNewsOnly(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.publishCalm()
		var made api.RolloutDetail
		w.must("POST", "/rollouts", calmTo("r1"), &made)
		read := func(known string) (int, string, int) {
			r := httptest.NewRequest("GET", api.Prefix+"/rollouts/"+made.ID, nil)
			r.Host = "127.0.0.1:8080"
			r.Header.Set("If-None-Match", known)
			answer := httptest.NewRecorder()
			w.Handler().ServeHTTP(answer, r)
			return answer.Code, answer.Header().Get("ETag"), answer.Body.Len()
		}
		status, tag, size := read("")
		if status != 200 || tag == "" || size == 0 || size > 2048 {
			w.Errorf("first: %d, ETag %s, %d bytes", status, tag, size)
		}
		if status, again, size := read(tag); status != 304 || again != tag || size != 0 {
			w.Errorf("again: %d, ETag %s, %d bytes", status, again, size)
		}
		w.must("POST", "/rollouts/"+made.ID+"/abort", map[string]any{}, nil)
		if status, next, _ := read(tag); status != 200 || next == tag {
			w.Errorf("after a change: %d, ETag %s", status, next)
		}
	})
}

// TestRolloutWaitsForTheApprovalOfASecondPerson creates one to more robots than one person may decide about.
func TestRolloutWaitsForTheApprovalOfASecondPerson(t *testing.T) {
	people := headed{}
	for name, role := range map[string]auth.Role{"ann": auth.Releaser, "bob": auth.Releaser, "olga": auth.Operator} {
		people[name] = auth.User{Name: name, Roles: []auth.Role{role}}.Principal(auth.KindSession)
	}
	inWorld(t, func(w *world) {
		for _, id := range []string{"r1", "r2"} {
			w.robot(id)
			w.must("POST", "/robots/"+id+"/adopt", map[string]any{}, nil)
		}
		w.publishCalm()
		var made, small api.RolloutDetail
		w.must("POST", "/rollouts", calmTo("r2"), &small, "As", "ann")
		w.must("POST", "/rollouts", more(calmTo("r1", "r2"), "start", true, "supersede", 1), &made, "As", "ann")
		if small.State != rollout.Ready || made.State != rollout.WaitingForApproval {
			w.Fatalf("one to a single robot is %s, one to two %s", small.State, made.State)
		}
		var alerts struct{ Alerts []api.RobotAlert }
		w.must("GET", "/alerts", nil, &alerts)
		if len(alerts.Alerts) != 1 || alerts.Alerts[0].Rollout != made.ID || alerts.Alerts[0].Type != "rollout_waits_for_approval" ||
			alerts.Alerts[0].Hint == "" {
			w.Errorf("the alerts are %+v", alerts)
		}
		path := "/rollouts/" + made.ID + "/approve"
		for _, c := range []struct {
			who, digest, want string
			status            int
		}{
			{"ann", made.Digest, "cannot approve it", 403},
			{"olga", made.Digest, "does not have the right to approve", 403},
			{"bob", strings.Repeat("0", 64), "story calm revision 1", 409},
			{"bob", "", "", 422},
		} {
			p := w.ask("POST", path, map[string]any{"digest": c.digest}, nil, "As", c.who)
			if p == nil || p.Status != c.status || !strings.Contains(p.Detail, c.want) {
				w.Errorf("%s approves %q: %+v, want %d", c.who, c.digest, p, c.status)
			}
		}
		if p := w.ask("POST", "/rollouts/"+made.ID+"/start", map[string]any{}, nil, "As", "bob"); p == nil || !p.Of(api.KindState) {
			w.Errorf("it starts without approval: %+v", p)
		}
		w.must("POST", path, map[string]any{"digest": made.Digest, "why": "looked at it"}, &made, "As", "bob")
		if made.ApprovedBy != "bob" || made.State != rollout.Ready && made.State != rollout.Running {
			w.Errorf("approved, it is %s, by %s", made.State, made.ApprovedBy)
		}
		w.must("GET", "/alerts", nil, &alerts)
		if len(alerts.Alerts) != 0 {
			w.Errorf("after the approval the alerts are %+v", alerts)
		}
	}, people.option, func(c *fleet.Config) { c.ApproveAbove = 1 })
}

func TestPinsAreSetListedAndRemoved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.publishCalm()
		var pin api.ContentPin
		w.must("PUT", "/robots/r1/pins/story", map[string]any{"by": "ann", "why": "a show for children"}, &pin)
		var list api.ContentPins
		w.must("GET", "/pins?robot=r1", nil, &list)
		if len(list.Pins) != 1 || list.Pins[0] != pin || pin.Kind != "story" || pin.By != "ann" || pin.Why != "a show for children" {
			w.Errorf("the pins are %+v", list)
		}
		var plan api.RolloutPlan
		w.must("POST", "/rollouts/plan", calmTo("r1"), &plan)
		if plan.Pinned.Count != 1 {
			w.Errorf("the plan does not leave the pinned robot: %+v", plan)
		}
		w.must("DELETE", "/robots/r1/pins/story?by=ann&why=over", nil, nil)
		if p := w.ask("DELETE", "/robots/r1/pins/story", nil, nil); p == nil || p.Status != 404 {
			w.Errorf("removed twice: %+v", p)
		}
		if got, want := w.auditOf("pin"), []string{"pin by ann (a show for children)"}; !slices.Equal(got, want) {
			w.Errorf("the audit says %q", got)
		}
		for path, status := range map[string]int{"/robots/none/pins/story": 404, "/robots/r1/pins/hat": 422} {
			if p := w.ask("PUT", path, map[string]any{}, nil); p == nil || p.Status != status {
				w.Errorf("%s: %+v, want %d", path, p, status)
			}
		}
	})
}

// wrongRollouts are requests for a rollout with something wrong, and the pointers of all that is wrong.
var wrongRollouts = []struct {
	name, body string
	pointers   []string
}{
	{"no content", `{"content":{},"selector":{"all":true}}`, []string{"/content"}},
	{"two contents", `{"content":{"story":{"id":"museum"},"mode":{"mode":"ato","apply":"boot"}},"selector":{"all":true}}`, []string{"/content"}},
	{"an unknown story", `{"content":{"story":{"id":"none"}},"selector":{"all":true}}`, []string{"/content/story/id"}},
	{"an unknown revision", `{"content":{"story":{"id":"museum","rev":9}},"selector":{"all":true}}`, []string{"/content/story/rev"}},
	{"a story without a revision", `{"content":{"story":{"id":"draft"}},"selector":{"all":true}}`, []string{"/content/story/id"}},
	{"an unknown activity", `{"content":{"activities":{"pins":[{"id":"none"}]}},"selector":{"all":true}}`, []string{"/content/activities/pins/0"}},
	{"an unknown setting", `{"content":{"config":{"set":{"no_such":1}}},"selector":{"all":true}}`, []string{"/content/config/set/no_such"}},
	{"an unknown mode", `{"content":{"mode":{"mode":"Dance","apply":"boot"}},"selector":{"all":true}}`, []string{"/content/mode/mode"}},
	{"wrong places", `{"content":{"places":{"id":"hall","body":{"schema":1,"points":{"door":{"x_m":"a"}}}}},"selector":{"all":true}}`, []string{"/content/places/body/points/door/x_m"}},
	{"no selector", `{"content":{"story":{"id":"museum"}},"selector":{}}`, []string{"/selector"}},
	{"two selectors", `{"content":{"story":{"id":"museum"}},"selector":{"all":true,"ids":["r1"]}}`, []string{"/selector"}},
	{"an unknown robot", `{"content":{"story":{"id":"museum"}},"selector":{"ids":["r1","r9"]}}`, []string{"/selector/ids/1"}},
	{"a name that no robot can have", `{"content":{"story":{"id":"museum"}},"selector":{"ids":["R 1"]}}`, []string{"/selector/ids/0"}},
	{"a label without a value", `{"content":{"story":{"id":"museum"}},"selector":{"labels":[{"key":"site","value":""}]}}`, []string{"/selector/labels/0/value"}},
	{"a label that no robot has", `{"content":{"story":{"id":"museum"}},"selector":{"labels":[{"key":"site","value":"moon"}]}}`, []string{"/selector"}},
	{"a field that does not exist", `{"content":{"story":{"id":"museum"}},"selector":{"all":true},"spec":{"wafes":[]}}`, []string{"/spec/wafes"}},
	{"a percent above 100", wrongSpec(`{"waves":[{"percent":101}]}`), []string{"/spec/waves/0/percent"}},
	{"a negative count", wrongSpec(`{"waves":[{"count":-1}]}`), []string{"/spec/waves/0/count"}},
	{"a wave of nothing", wrongSpec(`{"waves":[{"name":"canary"}]}`), []string{"/spec/waves/0"}},
	{"a wave of count and percent", wrongSpec(`{"waves":[{"count":1,"percent":10}]}`), []string{"/spec/waves/0"}},
	{"percents that fall", wrongSpec(`{"waves":[{"percent":50},{"percent":10}]}`), []string{"/spec/waves/1/percent"}},
	{"two waves of one name", wrongSpec(`{"waves":[{"name":"a","count":1},{"name":"a","percent":50}]}`), []string{"/spec/waves/1/name"}},
	{"a wave with a wrong selector", wrongSpec(`{"waves":[{"selector":{"all":true,"ids":["r1"]}}]}`), []string{"/spec/waves/0/selector"}},
	{"21 waves", wrongSpec(`{"waves":[` + strings.TrimSuffix(strings.Repeat(`{"count":1},`, 21), ",") + `]}`), []string{"/spec/waves"}},
	{"a success above 100 %", wrongSpec(`{"waves":[{"count":1,"success_percent":150}]}`), []string{"/spec/waves/0/success_percent"}},
	{"a negative threshold", wrongSpec(`{"waves":[{"count":1,"max_failure_percent":-5}]}`), []string{"/spec/waves/0/max_failure_percent"}},
	{"a negative number of decided robots", wrongSpec(`{"waves":[{"count":1,"min_decided":-1}]}`), []string{"/spec/waves/0/min_decided"}},
	{"a soak of eight days", wrongSpec(`{"waves":[{"count":1,"soak_s":691200}]}`), []string{"/spec/waves/0/soak_s"}},
	{"waves and all at once", wrongSpec(`{"all_at_once":true,"waves":[{"count":1}]}`), []string{"/spec/waves"}},
	{"a rate above its cap", wrongSpec(`{"offers_per_min":100,"max_offers_per_min":10}`), []string{"/spec/max_offers_per_min"}},
	{"a negative rate", wrongSpec(`{"offers_per_min":-1}`), []string{"/spec/offers_per_min"}},
	{"a policy for offline robots that does not exist", wrongSpec(`{"offline":"hope"}`), []string{"/spec/offline"}},
	{"a policy for pinned robots that does not exist", wrongSpec(`{"pinned":"ask"}`), []string{"/spec/pinned"}},
	{"21 retries", wrongSpec(`{"retries":21}`), []string{"/spec/retries"}},
	{"a time to fetch of two days", wrongSpec(`{"fetch_s":172800}`), []string{"/spec/fetch_s"}},
	{"a start in the past", `{"content":{"story":{"id":"museum"}},"selector":{"all":true},"not_before":"1999-01-01T00:00:00.000Z"}`, []string{"/not_before"}},
	{"several things at once", `{"content":{"story":{"id":"none"}},"selector":{"all":true},"spec":{"waves":[{"name":"a"},{"name":"a","count":1}],"all_at_once":false,"offers_per_min":9,"max_offers_per_min":3}}`,
		[]string{"/content/story/id", "/spec/max_offers_per_min", "/spec/waves/0", "/spec/waves/1/name"}},
}

func wrongSpec(spec string) string {
	return `{"content":{"story":{"id":"museum"}},"selector":{"all":true},"spec":` + spec + `}`
}

// TestWrongRolloutsAreRefusedWholly sends each request both to plan and to create.
func TestWrongRolloutsAreRefusedWholly(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.publish()
		w.must("PUT", "/stories/draft", "story: draft\nacts:\n- {act: welcome}\n", nil, "If-Match", "*")
		for _, c := range wrongRollouts {
			for _, path := range []string{"/rollouts/plan", "/rollouts"} {
				if path == "/rollouts/plan" && strings.Contains(c.body, "not_before") {
					continue
				}
				status, body := request(w.T, w.Handler(), "POST", path, c.body)
				var p api.Problem
				if err := json.Unmarshal(body, &p); err != nil || status < 400 || status >= 500 {
					w.Errorf("%s is answered by %s with %d %s", c.name, path, status, body)
					continue
				}
				var pointers []string
				for _, e := range p.Errors {
					pointers = append(pointers, e.Pointer)
					if e.Detail == "" || e.Hint == "" && !strings.HasPrefix(strings.TrimPrefix(e.Detail, "un"), "expected ") {
						w.Errorf("%s: no way out in %+v", c.name, e)
					}
				}
				if slices.Sort(pointers); !slices.Equal(pointers, c.pointers) {
					w.Errorf("%s: %s finds %v, want %v: %s", c.name, path, pointers, c.pointers, body)
				}
			}
		}
		w.sleep(5 * time.Second)
		var list api.RolloutList
		w.must("GET", "/rollouts", nil, &list)
		if d, _ := w.Robot("r1"); len(list.Rollouts) != 0 || d.Desired.DesiredRev != 0 {
			w.Errorf("after refusals there are %+v, and r1 has %+v", list.Rollouts, d.Desired)
		}
	})
}
