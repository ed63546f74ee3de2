package act

import (
	"strings"
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

func TestRequestedActionsMayPerformActs(t *testing.T) {
	r := newRig(t)
	caps := schema.Caps{Units: testUnits, Languages: []string{"en"}}
	greet := score.Act{ID: "greet", Parameters: map[string]score.Parameter{"guest": {Type: "string"}},
		Actions: []score.Action{say("words", 0, 900)}}
	greet.Actions[0].Do = score.Say{Text: score.Text{"en": "Hello ${guest}"}}
	acts := map[string]score.Act{"greet": greet}
	e, no := r.x.Resolve(verb.Perform{Actions: `[{"type":"act","start_ms":0,"act":"greet","with":{"guest":"Ada"}}]`}, acts, nil, caps)
	if no != nil {
		t.Fatalf("refused: %+v", *no)
	}
	e.ID = "entry"
	r.push(story, e)
	r.ticks(tick, tick)
	if got := r.pick(Start, "greet/words"); len(got) != 1 || got[0].Text != "Hello Ada" {
		t.Errorf("started %+v", r.outs)
	}
	for actions, want := range map[string]string{
		`[{"type":"act","start_ms":0,"act":"gone"}]`:                              "unknown_id /args/actions/0/act",
		`[{"type":"act","start_ms":0,"act":"greet","with":{"name":"Ada"}}]`:       "bad_request /args/actions/0/with/name",
		`[{"type":"act","start_ms":0,"act":"greet","with":{"guest":"${guest}"}}]`: "bad_request /args/actions/0/with/guest",
	} {
		_, no := r.x.Resolve(verb.Perform{Actions: verb.Objects(actions)}, acts, nil, caps)
		if no == nil || string(no.Reason)+" "+no.Pointer != want {
			t.Errorf("%s: refused with %+v, want %s", actions, no, want)
		}
	}
	if !strings.Contains(knownRefusal(r, score.Action{Do: score.PerformAct{Act: "greet"}}), "greet") {
		t.Error("the executor takes an act whose actions are missing")
	}
}

// An exclusive action among others waits only if its sender says so.
func TestDeferredExclusiveActionWaits(t *testing.T) {
	r := newRig(t)
	caps := schema.Caps{Units: testUnits, Languages: []string{"en"}}
	const list = `[{"type":"led","id":"light","start_ms":0,"end_ms":1000,"colour":"#ffffff"},{"type":"face","id":"smile","start_ms":500,"end_ms":800,"face":"smile","method":"exclusive"}]`
	if _, no := r.x.Resolve(verb.Perform{Actions: list}, nil, nil, caps); no == nil || no.Pointer != "/args/actions/1/start_ms" {
		t.Errorf("refused with %+v", no)
	}
	if _, no := r.x.Resolve(verb.Perform{Act: "greet", Defer: true}, nil, nil, caps); no == nil || no.Pointer != "/args/defer" {
		t.Errorf("defer without actions: refused with %+v", no)
	}
	named := strings.Replace(list, `"type":"led"`, `"type":"led","unit":"led"`, 1)
	if _, no := r.x.Resolve(verb.Perform{Actions: verb.Objects(named), Defer: true}, nil, nil, caps); no != nil {
		t.Errorf("with a unit: refused with %+v", *no)
	}
	e, no := r.x.Resolve(verb.Perform{Actions: list, Defer: true}, nil, nil, caps)
	if no != nil {
		t.Fatalf("refused: %+v", *no)
	}
	e.ID = "entry"
	r.push(story, e)
	for r.now < 3*time.Second {
		r.now += tick
		r.check(r.x.Tick(r.now, nil))
		if got := r.pick(Start, "smile"); len(got) == 1 {
			if r.now != 1020*time.Millisecond {
				t.Errorf("it started at %v, want when the light is over", r.now)
			}
			break
		}
	}
	r.ticks(3*time.Second, tick)
	r.wantOutcome(EntryCompleted, "")
}

func knownRefusal(r *rig, x score.Action) string {
	if no := r.x.Check(&score.Act{ID: "act", Actions: []score.Action{x}}); no != nil {
		return no.Detail
	}
	return ""
}
