package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/verb"
)

func sequentialIDs() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("id%d", n) }
}

func codes(problems []schema.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Pointer+" "+p.Code)
	}
	return strings.Join(all, ", ")
}

var three = []Target{
	{Robot: "r3", Present: true},
	{Robot: "r1", Present: true, SeenMonoMS: 7000, Caps: &schema.Caps{Verbs: []string{"mode/set", "safety/enable"}}},
	{Robot: "r2", Caps: &schema.Caps{Verbs: []string{"sys/ping"}}},
}

func TestRequestBecomesOneCommandPerRobot(t *testing.T) {
	x, problems := Expand(Request{Verb: "mode/set", Args: []byte(`{"mode":"ato"}`), Selector: "--all", By: "anna", Why: "opening"}, three, morning, sequentialIDs())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(x.Commands) != 2 || x.Batch.Total != 2 || x.Batch.ID != "id1" || x.Batch.Args["mode"] != "ato" {
		t.Fatalf("got %+v", x)
	}
	for i, robot := range []string{"r1", "r3"} {
		c := x.Commands[i]
		if c.Robot != robot || c.Batch != "id1" || c.State != Queued || !c.ExpiresAt.Equal(morning.Add(30*time.Second)) {
			t.Errorf("command %d: %+v", i, c)
		}
		v, _ := verb.Of("mode", "set")
		r, problems := verb.Decode(v, c.Payload)
		if len(problems) > 0 || r.ID != c.ID || r.Batch != "id1" || r.By != "anna" || r.Why != "opening" || r.Args.(verb.SetMode).Mode != "ato" ||
			r.TTLMS != 30000 || r.TS != schema.TimeOf(morning) {
			t.Errorf("the robot reads %+v, %v", r, problems)
		}
	}
	if len(x.Skipped) != 1 || x.Skipped[0].Robot != "r2" || x.Skipped[0].Reason != schema.ReasonUnknownVerb {
		t.Errorf("skipped %+v", x.Skipped)
	}
}

func TestEnableCarriesLastSeenHeartbeat(t *testing.T) {
	x, problems := Expand(Request{Verb: "safety/enable", Selector: "r1 r3"}, []Target{three[0], three[1]}, morning, sequentialIDs())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	v, _ := verb.Of("safety", "enable")
	for i, want := range []int64{7000, 0} {
		if r, _ := verb.Decode(v, x.Commands[i].Payload); r.Args.(verb.EnableOrReset).SeenMonoMS != want {
			t.Errorf("%s gets %d, want %d", x.Commands[i].Robot, r.Args.(verb.EnableOrReset).SeenMonoMS, want)
		}
	}
}

func TestPreconditionIsSentExceptWithStops(t *testing.T) {
	condition := schema.Precondition{Mode: "mnl", StoryRev: 3}
	for name, want := range map[string]schema.Precondition{"enable": condition, "stop": {}} {
		x, problems := Expand(Request{Verb: "safety/" + name, Selector: "r1", If: condition}, three[1:2], morning, sequentialIDs())
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		v, _ := verb.Of("safety", name)
		if r, _ := verb.Decode(v, x.Commands[0].Payload); r.If != want {
			t.Errorf("safety/%s has the condition %+v, want %+v", name, r.If, want)
		}
	}
}

func TestStopIgnoresExpectedCount(t *testing.T) {
	wrong := 17
	x, problems := Expand(Request{Verb: "safety/stop", Selector: "--all", Expected: &wrong, TTL: time.Second}, three, morning, sequentialIDs())
	if len(problems) > 0 || len(x.Commands) != 3 || len(x.Skipped) > 0 || !slices.Equal(x.Waiting, []string{"r2"}) {
		t.Fatalf("got %+v, %v", x, problems)
	}
	if c := x.Commands[0]; !c.ExpiresAt.IsZero() || strings.Contains(string(c.Payload), "ttl_ms") {
		t.Errorf("a stop that expires: %s", c.Payload)
	}
}

func TestInvalidRequestIsRefused(t *testing.T) {
	five := 5
	for _, c := range []struct {
		name    string
		r       Request
		targets []Target
		want    string
	}{
		{"unknown verb", Request{Verb: "mode/fly"}, three, "/verb unknown_verb"},
		{"no verb", Request{}, three, "/verb unknown_verb"},
		{"missing argument", Request{Verb: "mode/set"}, three, "/args/mode missing"},
		{"unknown argument", Request{Verb: "mode/set", Args: []byte(`{"mode":"ato","speed":2}`)}, three, "/args/speed unknown_argument"},
		{"arguments are not an object", Request{Verb: "mode/set", Args: []byte(`[1]`)}, three, "/args bad_type"},
		{"arguments are not JSON", Request{Verb: "mode/set", Args: []byte(`{{{`)}, three, "/args syntax"},
		{"time to live too long", Request{Verb: "mode/pause", TTL: 2 * time.Hour}, three, "/ttl_ms out_of_range"},
		{"unexpected number of robots", Request{Verb: "mode/pause", Expected: &five}, three[:1], "/expected_count count_changed"},
		{"name of the person is not printable", Request{Verb: "mode/pause", By: "a\x1b[2J"}, three, "/by unprintable"},
		{"reason is too long", Request{Verb: "mode/pause", Why: strings.Repeat("ä", 200)}, three, "/why too_long"},
		{"stop with any text", Request{Verb: "safety/stop", By: "\xff\x01", Why: strings.Repeat("ä", 200)}, three[:1], ""},
		{"no robot is selected", Request{Verb: "mode/pause"}, nil, "/selector no_robot"},
		{"no selected robot supports it", Request{Verb: "mode/pause"}, three[2:], "/selector no_robot"},
	} {
		if _, problems := Expand(c.r, c.targets, morning, sequentialIDs()); codes(problems) != c.want {
			t.Errorf("%s: got %q, want %q", c.name, codes(problems), c.want)
		}
	}
}

func TestBatchOutcome(t *testing.T) {
	for _, c := range []struct {
		states []State
		want   Outcome
	}{
		{[]State{Succeeded, Running}, OutcomeRunning},
		{[]State{Queued}, OutcomeRunning},
		{[]State{Succeeded, Succeeded}, OutcomeSucceeded},
		{[]State{Succeeded, Unknown}, OutcomePartial},
		{[]State{Rejected, Failed, Cancelled}, OutcomeFailed},
		{[]State{Rejected, Unknown}, OutcomeUnanswered},
		{[]State{Undelivered}, OutcomeUnanswered},
		{nil, OutcomeSucceeded},
	} {
		s := Summarise(c.states)
		if s.Outcome != c.want || s.Total != len(c.states) {
			t.Errorf("%v: %+v, want %s", c.states, s, c.want)
		}
	}
}

func TestInvalidActionsAreRefusedWithPointer(t *testing.T) {
	for args, want := range map[string]string{
		`{"actions":[{"type":"face","start_ms":0,"face":"smile"}]}`:                     "",
		`{"act":"welcome","with":{"guest":"Ann"}}`:                                      "", // the robot knows the act
		`{"actions":[{"type":"face","start_ms":0,"colour":"#ffffff"}]}`:                 "/args/actions/0/colour wrong_field, /args/actions/0/face missing",
		`{"actions":[{"type":"wait","start_ms":0,"end_ms":10}],"with":{"guest":"Ann"}}`: "/args/with/guest unused_parameter",
		`{"actions":[{"type":"wait","start_ms":0,"end_ms":10}],"act":"welcome"}`:        "/args/actions wrong_field",
		`{"clear":true}`:                       "/args/act missing",
		`{"act":"welcome","with":{"guest":7}}`: "/args/with/guest bad_type",
		`{"act":"welcome","with":["Ann"]}`:     "/args/with bad_type",
		`{"actions":["wave"]}`:                 "/args/actions/0 bad_type",
		`{"actions":{"type":"wait"}}`:          "/args/actions bad_type",
		`{"actions":[` + repeatJoined(400, `{"type":"wait","start_ms":0,"end_ms":10}`) + `]}`: "/args too_big",
	} {
		x, problems := Expand(Request{Verb: "act/perform", Args: []byte(args), Selector: "--all"}, three[:1], morning, sequentialIDs())
		if got := codes(problems); got != want {
			t.Errorf("%.100s: got %s, want %s", args, got, want)
		}
		if want != "" || len(x.Commands) != 1 {
			continue
		}
		v, _ := verb.Of("act", "perform")
		if r, problems := verb.Decode(v, x.Commands[0].Payload); len(problems) > 0 || fmt.Sprint(v.Given(r.Args)) != fmt.Sprint(x.Batch.Args) {
			t.Errorf("%s: the robot reads %+v, %v", args, r.Args, problems)
		}
	}
}

func repeatJoined(n int, one string) string {
	return strings.TrimSuffix(strings.Repeat(one+",", n), ",")
}
