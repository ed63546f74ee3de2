package fleet_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/schema"
	"troupe/schema/verb"
)

// roles is an authenticator that believes the header As: a role.
func roles() headed {
	h := headed{}
	for _, row := range auth.Roles {
		h[string(row.Role)] = auth.User{Name: "anna", Roles: []auth.Role{row.Role}}.Principal(auth.KindSession)
	}
	return h
}

// TestViewerAsksARobotAboutACondition asks and looks that neither the commands nor the audit have it.
func TestViewerAsksARobotAboutACondition(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.must("POST", "/robots/r1/adopt", audit.Attribution{}, nil)
		w.sleep(2e9)
		entries, before := len(w.audited("")), len(r.Received())
		says := schema.Ack{Status: schema.StatusSucceeded}
		r.Answer(func(string, verb.Request) []schema.Ack { return []schema.Ack{{Status: schema.StatusAccepted}, says} })
		ask := func(condition string) (got api.Explanation, p *api.Problem) {
			p = w.ask("GET", "/robots/r1/explain?condition="+url.QueryEscape(condition), nil, &got, "As", "viewer")
			return got, p
		}
		for detail, want := range map[string]api.Explanation{
			"true": {True: true}, "true; it has the focus": {True: true, Why: "it has the focus"},
			"people > 0 is not true: people is 0": {Why: "people > 0 is not true: people is 0"},
		} {
			says.Detail = detail
			if got, p := ask("people > 0 && hour < 20"); p != nil || got != want {
				t.Errorf("the robot says %q: %+v %v", detail, got, p)
			}
		}
		all := r.Received()
		if len(all) != before+3 || all[before].Verb != "life/explain" || !strings.Contains(all[before].Payload, `people > 0 && hour < 20`) {
			t.Errorf("the robot got %+v", all[before:])
		}
		says = schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonBadRequest, Detail: "there is no key peple"}
		if _, p := ask("peple > 0"); p == nil || !p.Of(api.KindInvalid) || p.Errors[0].Pointer != "/condition" ||
			p.Errors[0].Detail != says.Detail {
			t.Errorf("a condition that is none: %v", p)
		}
		for _, id := range []string{"r99", "fleetd", "R1", "a%2Fb"} {
			if p := w.ask("GET", "/robots/"+id+"/explain?condition=true", nil, nil); p == nil || !p.Of(api.KindNotFound) {
				t.Errorf("robot %s, which fleetd does not know: %v", id, p)
			}
		}
		r.Mute(true)
		if _, p := ask("people > 0"); p == nil || !p.Of(api.KindNoAnswer) || p.Hint == "" {
			t.Errorf("a robot that does not answer: %v", p)
		}
		w.sleep(10e9) // answers and audit entries are persisted in the background
		var list struct{ Batches []api.Batch }
		w.must("GET", "/batches", nil, &list)
		for _, b := range list.Batches {
			if b.Verb == "life/explain" {
				t.Errorf("a question is a batch: %+v", b)
			}
		}
		if now := w.audited(""); len(now) != entries {
			t.Errorf("questions are audited: %+v", now[:len(now)-entries])
		}
		r.Close()
		w.awaitPresence("r1", "offline")
		if _, p := ask("people > 0"); p == nil || !p.Of(api.KindNoAnswer) || !strings.Contains(p.Detail, "offline") {
			t.Errorf("a robot that is offline: %v", p)
		}
	}, roles().option)
}

// TestTrialThatCannotBePerformedGivesControlBack tries one on a robot whose caps do not list act/perform.
func TestTrialThatCannotBePerformedGivesControlBack(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.must("POST", "/robots/r1/adopt", audit.Attribution{}, nil)
		was, _ := schema.Decode[schema.Caps](w.Document("r1", schema.TopicCaps))
		was.Verbs = slices.DeleteFunc(was.Verbs, func(id string) bool { return id == "act/perform" })
		caps, err := schema.Encode(was)
		if err != nil {
			t.Fatal(err)
		}
		r.Raw(schema.TopicCaps, string(caps))
		w.until("its caps are known", func() bool {
			d, _ := w.Robot("r1")
			return d.Caps != nil && len(d.Caps.Verbs) == len(was.Verbs)
		})
		r.Answer(func(string, verb.Request) []schema.Ack {
			return []schema.Ack{{Status: schema.StatusSucceeded, Lease: &schema.Lease{ID: "lease-7", Holder: "fleetd", By: "anna"}}}
		})
		trial := api.Trial{SourceText: api.SourceText{Kind: "act", Text: welcome}}
		if p := w.ask("POST", "/robots/r1/try", trial, nil, "As", "author"); p == nil || !strings.Contains(p.Detail+fmt.Sprint(p.Errors),
			"act/perform") {
			t.Errorf("the trial: %v", p)
		}
		w.sleep(time.Second)
		if all := r.Received(); count(all, "control/release") != 1 || !strings.Contains(all[len(all)-1].Payload, `"lease-7"`) {
			t.Errorf("control is not given back: %v", all)
		}
	}, roles().option)
}

// TestAuthorTriesADraft tries one with the role author alone, which may do nothing else with robots.
func TestAuthorTriesADraft(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.must("POST", "/robots/r1/adopt", audit.Attribution{}, nil)
		trial := api.Trial{SourceText: api.SourceText{Kind: "act", Text: welcome}}
		var got api.Tried
		w.must("POST", "/robots/r1/try", trial, &got, "As", "author")
		w.must("POST", "/commands", order("control/renew", "r1"), nil, "As", "author")
		w.must("POST", "/commands", order("control/release", "r1"), nil, "As", "author")
		w.must("POST", "/commands", order("manual/stop", "r1"), nil, "As", "author")
		w.until("the robot got it all", func() bool { return count(r.Received(), "manual/stop") == 1 })
		if n := count(r.Received(), "act/perform"); n != 1 {
			t.Errorf("the robot performs %d drafts", n)
		}
		for _, c := range r.Received() {
			if strings.HasPrefix(c.Verb, "control/") && c.Request.By != "anna" {
				t.Errorf("%s is by %q", c.Verb, c.Request.By)
			}
		}
		for _, v := range []string{"control/acquire", "control/takeover", "act/perform", "mode/set", "manual/goto"} {
			if p := w.ask("POST", "/commands", order(v, "r1"), nil, "As", "author"); p == nil || p.Status != 403 ||
				!strings.Contains(p.Hint, "operator") {
				t.Errorf("an author sends %s: %v", v, p)
			}
		}
		if p := w.ask("POST", "/assignments", map[string]any{"story": "museum", "selector": map[string]any{"all": true}}, nil, "As",
			"author"); p == nil || p.Status != 403 || !strings.Contains(p.Hint, "releaser") {
			t.Errorf("an author assigns: %v", p)
		}
		r.Answer(func(string, verb.Request) []schema.Ack {
			return []schema.Ack{{Status: schema.StatusRejected, Reason: schema.ReasonPrecondition, Detail: "the mode is ato"}}
		})
		if p := w.ask("POST", "/robots/r1/try", trial, nil, "As", "author"); p == nil || p.Status != 409 ||
			!strings.Contains(p.Hint, "operator or admin") {
			t.Errorf("on a robot that is not ready: %v", p)
		}
	}, roles().option)
}
