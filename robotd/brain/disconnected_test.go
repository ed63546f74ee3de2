package brain

import (
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/schema"
)

// What was asked over a connection that broke before the disk had it moves nobody:
// the sender cannot see the robot any more, and no operator can stop it.
func TestCommandOfALostConnectionMovesNothing(t *testing.T) {
	for name, back := range map[string]bool{"gone": false, "back": true} {
		for _, ask := range []struct{ group, verb, payload string }{
			{"safety", "enable", ""},
			{"auto", "continue", ""},
			{"manual", "goto", `{"args":{"point":"dock"}}`},
			{"act", "perform", "greet"},
		} {
			r := newRig(t)
			r.cfg.Control.Required = "none"
			r.boot()
			r.give(event.Connected{Session: "s1"})
			r.until(200 * time.Millisecond)
			enabled := ask.verb == "enable"
			if !enabled {
				r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
				r.until(r.now + r.cfg.Tick)
			}
			var last schema.Ack
			r.sent = func(p effect.Publish) {
				if a, problems := schema.Decode[schema.Ack](p.Payload); p.Topic == schema.TopicAck && len(problems) == 0 {
					last = a
				}
			}
			r.diskHangs = true
			r.give(event.Command{Client: "op1", Group: ask.group, Verb: ask.verb, Payload: []byte(ask.payload)})
			r.until(r.now + 50*time.Millisecond)
			r.give(event.Disconnected{Why: "the connection broke"})
			if back {
				r.give(event.Connected{Session: "s2"})
			}
			moved := false
			r.watch = func(_ event.Event, effects []effect.Effect) {
				for _, e := range effects {
					if o, ok := e.(effect.Order); ok && o.Order == driver.ToRun && enabled {
						moved = true
					}
					if s, ok := e.(effect.Start); ok && s.Unit == "drive" {
						moved = true
					}
				}
			}
			r.diskHangs = false
			r.answer()
			r.until(r.now + time.Second)
			if moved {
				t.Errorf("%s/%s, the connection is %s: it moves", ask.group, ask.verb, name)
			}
			if back && (last.Verb != ask.group+"/"+ask.verb || last.Status != schema.StatusRejected && last.Status != schema.StatusCancelled) {
				t.Errorf("%s/%s, the connection is %s: answered %s %s", ask.group, ask.verb, name, last.Verb, last.Status)
			}
		}
	}
}

// The disk hangs, the link drops, and the next session begins in the step in which the next
// story becomes active: that needs no enabled body, so the pause of the last one ends. The
// first state of the session and the answer after it know that.
func TestSessionBeginsWithTheStateAfterTheStep(t *testing.T) {
	r := newRig(t)
	r.boot()
	r.give(event.Connected{Session: "s1"})
	desire := func(rev int64, name string) {
		pin := stories[name]
		r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: rev, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNextAct, TS: epoch}})
	}
	r.beats = true
	r.beat(0)
	desire(1, "tour")
	r.until(200 * time.Millisecond)
	r.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"args":{"mode":"ato"}}`)})
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
	r.until(time.Second)
	desire(2, "talk")
	r.give(event.LiveStop{Client: "wall1"})
	r.diskHangs = true
	r.until(1500 * time.Millisecond)
	if n := r.s.perform.Auto().Count(); n != 1 || r.s.perform.Story().ID != "tour" {
		t.Fatalf("%d pauses are held, and the story is %s; want one because of the stop, in tour", n, r.s.perform.Story().ID)
	}
	r.give(event.Command{Client: "op1", Group: "auto", Verb: "stop", Payload: []byte(`{"id":"k1"}`)})
	r.give(event.Disconnected{Why: "the connection broke"})
	r.answer()
	var state schema.State
	answered := false
	r.sent = func(p effect.Publish) {
		switch p.Topic {
		case schema.TopicState:
			state, _ = schema.Decode[schema.State](p.Payload)
		case schema.TopicAck:
			a, _ := schema.Decode[schema.Ack](p.Payload)
			answered = a.ID != nil && *a.ID == "k1" && a.Status == schema.StatusSucceeded && a.StateSeq == state.StateSeq
		}
	}
	r.give(event.Connected{Session: "s2"})
	if !answered || r.s.perform.Story().ID != "talk" {
		t.Fatalf("answered with the state %v; the story is %s, want talk", answered, r.s.perform.Story().ID)
	}
	if is := r.s.perform.Auto(); state.Auto.PauseCount != is.Count() || state.Auto.Status != is.Status || state.Auto.Story.ID != "talk" {
		t.Errorf("the state shows %+v, the robot is %s with %d pauses", state.Auto, is.Status, is.Count())
	}
}

// A button that comes up, or that a driver reports as it starts, is not pressed.
func TestReleasedButtonResetsNothing(t *testing.T) {
	r := newRig(t)
	r.boot()
	r.give(event.LiveStop{Client: "wall1"})
	press := func(on bool) {
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Press, Name: pressReset, On: on}})
	}
	if press(false); len(r.s.latches.Latches()) != 1 {
		t.Error("a released button released a stop")
	}
	if press(true); len(r.s.latches.Latches()) != 0 {
		t.Error("somebody at the robot does not get its stop released")
	}
}

func TestLostLatchesLatchTheRobot(t *testing.T) {
	for _, lost := range []string{"{{{", "null", "{}", "[]", `{"latches":null}`} {
		r := newRig(t)
		r.memory.Latches = []byte(`{"latches":` + lost + `}`)
		if r.boot(); len(r.s.latches.Latches()) != 1 || r.s.latches.Latches()[0].ID != latch.DiskLatch {
			t.Errorf("%s: held are %+v", lost, r.s.latches.Latches())
		}
	}
}
