package brain

import (
	"fmt"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/perform"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// live brings a robot to where it lives: it moves in ato, with these activities.
func live(r *rig, list []score.Activity) {
	acts := map[string]score.Act{
		"chat":  {ID: "chat", Actions: []score.Action{{TimeoutMS: ptr[int64](4000), Do: score.Say{Text: score.Text{"en": "How are you?"}}}}},
		"blink": {ID: "blink", Actions: []score.Action{{EndMS: ptr[int64](400), Do: score.Face{Face: "smile"}}}},
	}
	data, sum, err := score.EncodeActivities(list, acts)
	if err != nil {
		r.t.Fatal(err)
	}
	published[sum] = data
	pin := schema.ContentPin{ID: "lively", Rev: 1, SHA256: sum, Size: int64(len(data))}
	set := schema.DesiredSet{Rev: 1, Counter: 1, FleetID: "fleetd", Set: &pin, TS: epoch}
	story := stories["tour"]
	r.give(event.DesiredSet{Kind: sign.Activities, Document: set, Digest: digestOf(r.t, set)})
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &story, Apply: schema.ApplyNow, TS: epoch}})
	r.until(r.now + 500*time.Millisecond)
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
	r.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte("ato")})
	r.until(r.now + time.Second)
}

// crowd is as many activities as there may be; only talk starts, and on request.
func crowd() []score.Activity {
	list := []score.Activity{living("talk", score.NatureInteractive, score.Launch{}, 0, "chat")}
	for i := len(list); i < score.MaxActivities; i++ {
		list = append(list, living(fmt.Sprintf("a%d", i), score.NatureSolitary,
			score.Launch{When: fmt.Sprintf("people > %d && battery > 0.2", 100+i)}, 1, "blink"))
	}
	return list
}

// A person may have switched life on although its setting is off.
func TestLifeEndsWithAtoAtOnce(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		r := newRig(t)
		r.cfg.Life.Enabled = enabled
		r.boot()
		r.give(event.Connected{Session: "s"})
		live(r, nil)
		r.give(event.Command{Client: "op1", Group: "life", Verb: "set", Payload: []byte("solitary")})
		r.until(r.now + time.Second)
		if at := r.s.life.At(); at != schema.LifeSolitary {
			t.Fatalf("enabled %v: life is %s", enabled, at)
		}
		r.s.perform.Leave()
		r.give(event.Tick{})
		if at := r.s.life.At(); at != schema.LifeDisabled || r.s.perform.Auto().Status != schema.AutoNotActive {
			t.Errorf("enabled %v: ato is left, and life is %s", enabled, at)
		}
	}
}

// TestActivitiesLeaveNothingBehind launches more than a hundred activities a minute, for two
// hours: nothing is left of them on a lane, in a queue or among the pauses.
func TestActivitiesLeaveNothingBehind(t *testing.T) {
	hours := 2 * time.Hour
	if testing.Short() {
		hours = 20 * time.Minute
	}
	r := newRig(t)
	r.cfg.Tick = 100 * time.Millisecond
	r.boot()
	r.give(event.Connected{Session: "s"})
	live(r, []score.Activity{
		living("left", score.NatureSolitary, score.Launch{When: "people > 0"}, 1, "blink"),
		living("right", score.NatureInteractive, score.Launch{When: "people > 0"}, 1, "blink"),
	})
	r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.People, On: true, Level: 2}})
	r.beats = true
	r.beat(0)
	began := r.now
	r.until(began + hours)
	turn := step{State: r.s, now: r.wall()}
	starts := int64(0)
	for _, s := range turn.stateDocument().Life.Statistics {
		starts += s.Starts
	}
	if want := int64(hours/time.Minute) * 100; starts < want {
		t.Errorf("in %v there were %d starts, want %d at least", hours, starts, want)
	}
	r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.People}})
	r.until(r.now + 5*time.Second)
	_, run, _ := r.s.life.Focused()
	if got := r.s.perform.Auto(); run != "" || r.s.perform.Focused() != "" || got.Status != schema.AutoPerforming || got.Count() > 0 {
		t.Errorf("afterwards %q has the focus, %q is performed, the story is %s, held by %v", run, r.s.perform.Focused(), got.Status, got.Held())
	}
	for _, l := range lanesOf(r.s.cfg, r.s.body.Units()) {
		acts := r.s.lanes.Acts(l.Lane)
		lives := len(acts) == 1 && (acts[0].Act == "walk" || acts[0].Act == "greet" || perform.IsAbility(l.Lane))
		if len(acts) > 0 && !lives {
			t.Errorf("afterwards the lane %s has %v", l.Lane, acts)
		}
	}
	if n := r.s.requests.Open(); n > 0 || r.s.Pending() {
		t.Errorf("afterwards %d commands are open, pending %v", n, r.s.Pending())
	}
}

// TestUnitThatFailsAnAbilityIsInTheAlerts has leds that refuse to breathe: no act names them,
// so only an alert of the state can show it, with the reason that the unit gave.
func TestUnitThatFailsAnAbilityIsInTheAlerts(t *testing.T) {
	r := newRig(t)
	r.boot()
	refuses := true
	r.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			if s, ok := e.(effect.Start); ok && s.Unit == "led" && refuses {
				r.soon(0, event.Reported{Event: driver.Event{Kind: driver.Failed, Key: s.Key, Reason: schema.ReasonUnitError,
					Detail: "no colour was given"}})
			}
		}
	}
	r.give(event.Connected{Session: "s"})
	r.beats = true
	r.beat(0)
	live(r, []score.Activity{living("talk", score.NatureInteractive, score.Launch{}, 0, "chat")})
	failing := func() string {
		turn := step{State: r.s, now: r.wall()}
		for _, a := range turn.stateDocument().Alerts {
			if a.Type == "ability_failed" && a.Source == "led" {
				return a.Detail
			}
		}
		return ""
	}
	r.until(r.now + 5*time.Second)
	if got, want := failing(), "unit led fails breathing: no colour was given"; got != want {
		t.Errorf("the alert says %q, want %q", got, want)
	}
	refuses = false
	r.until(r.now + 2*time.Minute)
	if got := failing(); got != "" {
		t.Errorf("they breathe, and the alert says %q", got)
	}
}
