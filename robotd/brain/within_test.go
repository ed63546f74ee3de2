package brain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// TestEveryDocumentFitsItsTopic lets unknown clients write what they like wherever they
// can: nothing that the robot publishes afterwards is refused for its size, and what
// everybody sees of its safety core is how it is.
func TestEveryDocumentFitsItsTopic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t)
		var shown schema.SafetyState
		r.sent = func(p effect.Publish) {
			if most := schema.TopicOf(p.Topic).MaxBytes; len(p.Payload) > most || !utf8.Valid(p.Payload) {
				t.Fatalf("%s has %d of %d bytes: %.300s", p.Topic, len(p.Payload), most, p.Payload)
			}
			if p.Topic == schema.TopicState {
				d, problems := schema.DecodeStrict[schema.State](p.Payload)
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				if shown = d.Safety.State; len(d.Safety.Latches) == 0 && len(r.s.latches.Latches()) > 0 {
					t.Fatalf("%d stops are held and none is shown", len(r.s.latches.Latches()))
				}
			}
		}
		r.cfg.Mode.Boot = rapid.SampledFrom([]schema.ModeID{schema.ModeMnl, schema.ModeAto}).Draw(t, "boot mode")
		r.boot()
		r.give(event.Connected{Session: "a"})
		pin := stories["talk"]
		r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
		r.until(time.Second)
		text := rapid.Custom(func(t *rapid.T) string {
			piece := rapid.SampledFrom([]string{"x", `"`, "\x01", "ä", "\x1b[2J", "\u2028"}).Draw(t, "piece")
			n := rapid.SampledFrom([]int{1, 40, 128, 255, 256, 1000, 6900, 17_000}).Draw(t, "bytes")
			return strings.Repeat(piece, max(1, n/len(piece)))
		})
		client := func() string {
			return rapid.SampledFrom([]string{"op1", "stop1", strings.Repeat("c", 63)}).Draw(t, "client")
		}
		many := func() int { return rapid.SampledFrom([]int{1, 4, 40}).Draw(t, "times") }
		n := 0
		happens := map[string]func(*rapid.T){
			"command": func(t *rapid.T) {
				v := rapid.SampledFrom(verb.All).Draw(t, "verb")
				who, by, why, arg := client(), text.Draw(t, "by"), text.Draw(t, "why"), text.Draw(t, "argument")
				for range many() {
					n++
					args := map[string]any{"mode": schema.ModeMnl, "why": arg, "latch": fmt.Sprint("l", n), "token": arg, "handler": arg, "id": arg,
						"point": arg, "act": arg, "text": arg, "face": arg, "ttl_ms": 1000, "from": 1}
					maps.DeleteFunc(args, func(name string, _ any) bool { return !v.Takes(name) })
					payload, err := schema.Encode(struct {
						schema.Envelope
						Args map[string]any `json:"args"`
					}{schema.Envelope{ID: fmt.Sprintf("k%d", n), By: by, Why: why, Batch: by, Session: why, Seq: int64(n)}, args})
					if err != nil {
						t.Fatal(err)
					}
					r.give(event.Command{Client: who, Group: v.Group, Verb: v.Name, Payload: payload})
				}
			},
			"no verb": func(t *rapid.T) {
				r.give(event.Command{Client: client(), Group: "mode", Verb: strings.Repeat("x", 5000), Payload: []byte(`{"` + strings.Repeat("y", 7000) + `":1}`)})
			},
			"an argument that there is not": func(t *rapid.T) {
				r.give(event.Command{Client: client(), Group: "mode", Verb: "set", Payload: []byte(`{"args":{"` + strings.Repeat("y", 7000) + `":1}}`)})
			},
			"live stop": func(t *rapid.T) {
				for range many() {
					n++
					payload, _ := schema.Encode(schema.StopRequest{ID: fmt.Sprint("s", n), By: text.Draw(t, "by"), Why: text.Draw(t, "why")})
					r.give(event.LiveStop{Client: client(), Payload: payload})
				}
			},
			"held by fleetd": func(t *rapid.T) {
				doc := event.StopDocument{From: event.RobotStops, Rev: int64(n + 1), FleetID: "fleetd"}
				for i := range many() {
					doc.Stops = append(doc.Stops, schema.StopLatch{ID: fmt.Sprintf("%s-%d", strings.Repeat("i", 60), i), Level: schema.StopStop,
						By: text.Draw(t, "by"), Why: text.Draw(t, "why")})
				}
				r.give(doc)
			},
			"desired": func(t *rapid.T) {
				values := map[string]jsontext.Value{"labels": jsontext.Value(`{"site":"x"}`)}
				for range many() {
					n++
					values[fmt.Sprint(text.Draw(t, "key"), n)] = jsontext.Value("1")
				}
				r.give(event.DesiredConfig{Document: schema.DesiredConfig{Rev: int64(n + 1),
					FleetID: rapid.SampledFrom([]string{"fleetd", strings.Repeat("a", 7000)}).Draw(t, "fleet_id"), Values: values, TS: epoch}})
				r.give(event.DesiredMode{Document: schema.DesiredMode{Rev: int64(n + 1), FleetID: strings.Repeat("a", 7000),
					Mode: schema.ModeID(text.Draw(t, "mode")), Apply: schema.ApplyModeBoot, TS: epoch}})
			},
			"body": func(t *rapid.T) {
				word := text.Draw(t, "word")
				r.give(event.Reported{Event: driver.Event{Kind: driver.Unit, Unit: rapid.SampledFrom([]string{"drive", "head", "face"}).Draw(t, "unit"),
					State: driver.Error, Detail: word}})
				r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: word,
					On: rapid.Bool().Draw(t, "pressed")}})
			},
			"restart": func(t *rapid.T) {
				r.boot()
				r.give(event.Connected{Session: "b"})
			},
		}
		for range rapid.IntRange(1, 6).Draw(t, "how much happens") {
			happens[rapid.SampledFrom(slices.Sorted(maps.Keys(happens))).Draw(t, "what")](t)
			r.until(r.now + 200*time.Millisecond)
			if shown != r.s.safety.At {
				t.Fatalf("everybody sees %s, and it is %s", shown, r.s.safety.At)
			}
		}
	})
}

// TestLongTextsDoNotHideAStop checks that for what was once seen to hide one.
func TestLongTextsDoNotHideAStop(t *testing.T) {
	say := func(by string) string { return `{"by":` + string(must(jsontext.AppendQuote(nil, by))) }
	for name, c := range map[string]struct {
		ask   func(r *rig)
		state schema.SafetyState
		held  int
	}{
		"a long name": {func(r *rig) {
			r.give(event.Command{Client: "stop1", Group: "safety", Verb: "estop", Payload: []byte(say(strings.Repeat("x", 17_000)) + `}`)})
		}, schema.SafetyEStop, 0},
		"a long name that is just read": {func(r *rig) {
			r.give(event.Command{Client: "stop1", Group: "safety", Verb: "estop", Payload: []byte(say(strings.Repeat("x", 8000)) + `}`)})
		}, schema.SafetyEStop, 0},
		"a name of control characters, held": {func(r *rig) {
			for i := range 12 {
				r.give(event.Command{Client: "stop1", Group: "safety", Verb: "stop", Payload: []byte(say(strings.Repeat("\x01", 256)) + fmt.Sprintf(`,"args":{"latch":"l%d"}}`, i))})
			}
		}, schema.SafetyDisabled, 12},
		"pauses of long names before it": {func(r *rig) {
			for i := range 3 {
				r.give(event.Command{Client: "op1", Group: "auto", Verb: "pause", Payload: []byte(say(strings.Repeat("x", 6900)) + fmt.Sprintf(`,"id":"p%d"}`, i))})
				r.until(r.now)
			}
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "halt"})
		}, schema.SafetyEStop, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.cfg.Mode.Boot = schema.ModeAto
			var shown schema.State
			r.sent = func(p effect.Publish) {
				if most := schema.TopicOf(p.Topic).MaxBytes; len(p.Payload) > most {
					t.Errorf("%s has %d of %d bytes", p.Topic, len(p.Payload), most)
				}
				if p.Topic == schema.TopicState {
					shown, _ = schema.DecodeStrict[schema.State](p.Payload)
				}
			}
			r.boot()
			r.give(event.Connected{Session: "a"})
			pin := stories["talk"]
			r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
			r.until(time.Second)
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
			r.until(2 * time.Second)
			c.ask(r)
			r.until(4 * time.Second)
			if shown.Safety.State != c.state || len(shown.Safety.Latches) != c.held || shown.Truncated {
				t.Errorf("everybody sees %+v, truncated %v", shown.Safety, shown.Truncated)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
