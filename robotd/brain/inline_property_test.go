package brain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// TestActionsThatCommandsBringAlongAreRefusedAtTheirPlaceOrPerformed makes up lists
// of actions, valid and invalid, for a robot in either mode: each command has exactly
// one final answer, a refusal of what was said names its place, and only what is
// valid is performed.
func TestActionsThatCommandsBringAlongAreRefusedAtTheirPlaceOrPerformed(t *testing.T) {
	performed, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t)
		finals := map[string][]schema.Ack{}
		r.sent = func(p effect.Publish) {
			if p.Topic != schema.TopicAck {
				return
			}
			if a, _ := schema.Decode[schema.Ack](p.Payload); a.Status.Final() {
				finals[*a.ID] = append(finals[*a.ID], a)
			}
		}
		r.cfg.Mode.Boot = rapid.SampledFrom([]schema.ModeID{schema.ModeMnl, schema.ModeAto}).Draw(t, "mode")
		r.boot()
		r.give(event.Connected{Session: "s"})
		pin := stories["talk"]
		r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
		r.until(200 * time.Millisecond)
		if rapid.Bool().Draw(t, "enabled") {
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"enable"}`)})
		}
		well := map[string]bool{}
		for n := range rapid.IntRange(1, 4).Draw(t, "commands") {
			id := fmt.Sprint("k", n)
			args := map[string]any{"actions": actionsOf(t, 0)}
			if rapid.Bool().Draw(t, "clear") {
				args["clear"] = true
			}
			if rapid.IntRange(0, 3).Draw(t, "with") == 0 {
				args["with"] = map[string]string{"guest": "Ada"}
			}
			payload, err := json.Marshal(map[string]any{"id": id, "args": args})
			if err != nil {
				t.Fatal(err)
			}
			v, _ := verb.Of("act", "perform")
			req, problems := verb.Decode(v, payload)
			if len(problems) == 0 {
				_, problems = req.Args.(verb.Perform).PerformRequest()
			}
			well[id] = len(schema.Errors(problems)) == 0
			r.give(event.Command{Client: "resp1", Group: "act", Verb: "perform", Payload: payload})
			r.until(r.now + time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms"))*time.Millisecond)
		}
		answered := func() bool {
			for id := range well {
				if len(finals[id]) == 0 {
					return false
				}
			}
			return true
		}
		for end := r.now + 2*time.Minute; r.now < end && !answered(); {
			r.until(r.now + time.Second)
		}
		r.until(r.now + 5*time.Second) // a second answer would come now
		for id, good := range well {
			if len(finals[id]) != 1 {
				t.Fatalf("%s has %d final answers: %+v", id, len(finals[id]), finals[id])
			}
			a := finals[id][0]
			ill := a.Reason == schema.ReasonBadRequest || a.Reason == schema.ReasonOutOfRange
			switch {
			case ill && (a.Status != schema.StatusRejected || !strings.HasPrefix(a.Pointer, "/args")):
				t.Fatalf("%s was answered %s %s at %q (%s)", id, a.Status, a.Reason, a.Pointer, a.Detail)
			case good == (a.Reason == schema.ReasonBadRequest):
				t.Fatalf("%s, valid: %v, was answered %s %s at %q (%s)", id, good, a.Status, a.Reason, a.Pointer, a.Detail)
			case ill:
				refused++
			case a.Status == schema.StatusSucceeded:
				performed++
			}
		}
	})
	if !t.Failed() && (performed == 0 || refused == 0) {
		t.Errorf("%d were performed and %d refused for what they say", performed, refused)
	}
}

// actionsOf makes up a list of actions; one in some is invalid.
func actionsOf(t *rapid.T, depth int) []map[string]any {
	out := []map[string]any{}
	start := 0
	for range rapid.IntRange(min(depth, 1), 3).Draw(t, "actions") {
		start += rapid.SampledFrom([]int{0, 0, 10, 700}).Draw(t, "later")
		a := map[string]any{"type": rapid.SampledFrom([]string{"face", "say", "led", "head", "goto", "wait", "group", "dance"}).Draw(t, "type"),
			"start_ms": start}
		switch a["type"] {
		case "face":
			a["face"] = "smile"
		case "say":
			a["text"], a["timeout_ms"] = map[string]string{"en": rapid.SampledFrom([]string{"hello", "hello ${guest}", "hello ${guest"}).Draw(t,
				"text")}, 3000
		case "led":
			a["colour"], a["end_ms"] = "#00ff00", start+rapid.SampledFrom([]int{0, 5, 500}).Draw(t, "lasts")
		case "head":
			a["yaw_rad"], a["timeout_ms"] = rapid.SampledFrom([]float64{0.1, 2, 9}).Draw(t, "yaw"), 3000
		case "goto":
			a["point"], a["timeout_ms"] = rapid.SampledFrom([]string{"dock", "nowhere"}).Draw(t, "point"), 20_000
		case "wait":
			a["end_ms"] = start + 300
		case "group":
			if depth < 2 {
				a["actions"] = actionsOf(t, depth+1)
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "spoilt") == 0 {
			a[rapid.SampledFrom([]string{"colour", "end_ms", "start_ms", "type", "nothing"}).Draw(t, "field")] = rapid.SampledFrom([]any{"x", 7,
				-1}).Draw(t, "value")
		}
		out = append(out, a)
	}
	return out
}
