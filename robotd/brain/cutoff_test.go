package brain

import (
	"fmt"
	"math"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/perform"
	"troupe/schema"
)

// asker is a mode that asks for the stop that somebody touches it with, and drives beyond
// every limit.
type asker struct{ mode.Plain }

var askerMode = mode.Installed{
	Settings: mode.Settings{ID: "asker", Moves: true, LinkLoss: schema.LinkLossSafe, LostAfter: 5 * time.Second},
	Name:     "asker", New: func() mode.Mode { return asker{} },
}

func (asker) Step(h *mode.Host, n mode.Notice) {
	touch, ok := n.(mode.Touched)
	switch drive := map[string]mode.Drive{"fast": {VX: 9, WZ: -9}, "slow": {VX: 0.1},
		"nowhere": {VX: math.NaN(), WZ: math.Inf(1)}}[touch.Area]; {
	case !ok || !touch.On:
	case drive != mode.Drive{}:
		h.Do(drive)
	default:
		h.Do(mode.Stop{Verb: touch.Area, Why: "it was touched"})
	}
}

// softStopping returns a robot whose shutdown act runs and never ends, with a hung handler
// and after a thousand commands, of which as many wait for their turn as it accepts.
func softStopping(t *testing.T, in schema.ModeID) *rig {
	r := newRig(t)
	r.cfg.Mode.Modes = append(r.cfg.Mode.Modes, askerMode.Settings)
	r.boot()
	r.give(event.Connected{Session: "a"})
	r.beats = true
	r.beat(0)
	pin := stories["tour"]
	doc := schema.DesiredStory{Rev: 1, FleetID: "fleetd", Apply: schema.ApplyNextAct, Counter: 1, TS: epoch, Story: &pin}
	r.give(event.DesiredStory{Document: doc, Digest: digestOf(t, doc)})
	r.until(time.Second)
	cmd := func(group, verb, args string) {
		r.give(event.Command{Client: "op1", Group: group, Verb: verb, Payload: []byte(args)})
		r.until(r.now + 200*time.Millisecond)
	}
	cmd("mode", "set", fmt.Sprintf(`{"args":{"mode":%q}}`, in))
	cmd("safety", "enable", "")
	if in == schema.ModeAto {
		cmd("auto", "start", "")
		r.body.mute = true
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Press, Name: "help", On: true}})
		r.until(r.now + time.Second)
		if len(r.s.perform.InterruptState().Running()) != 1 {
			t.Fatal("no handler runs")
		}
	}
	r.body.mute = true
	cmd("safety", "soft-stop", "")
	r.until(r.now + time.Second)
	if r.s.safety.At != schema.SafetySoftStop || r.s.lanes.Owner("head") != perform.SafetyLane {
		t.Fatalf("in %s, %q has the head", r.s.safety.At, r.s.lanes.Owner("head"))
	}
	r.diskHangs = true
	var saved []event.RequestsSaved
	for i := range 1000 {
		if i == 500 {
			saved, r.unanswered = r.unanswered, nil
		}
		ev := event.Command{Client: fmt.Sprint("op", i%20), Group: "safety", Verb: "enable", Payload: fmt.Appendf(nil, `{"id":"k%d"}`, i)}
		r.done(ev, Step(r.s, r.wall(), ev, nil))
	}
	for _, ev := range saved { // no step has followed yet
		r.done(ev, Step(r.s, r.wall(), ev, nil))
	}
	if waiting := r.s.safety.Len(); waiting < 60 { // it takes no more unfinished commands
		t.Fatalf("%d commands wait for their turn", waiting)
	}
	return r
}

// TestStopCutsOffTheShutdownActInTwoSteps counts the steps from the receipt of a stop until
// every unit that moves is ordered to stop and no command for one is left.
func TestStopCutsOffTheShutdownActInTwoSteps(t *testing.T) {
	command := func(verb string) event.Event {
		return event.Command{Client: "op9", Group: "safety", Verb: verb, N: 7}
	}
	report := func(e driver.Event) event.Event { return event.Reported{Event: e} }
	for name, c := range map[string]struct {
		in   schema.ModeID
		stop event.Event
		to   driver.Order
	}{
		"stop":        {schema.ModeAto, command("stop"), driver.ToStop},
		"halt":        {schema.ModeAto, command("halt"), driver.ToHalt},
		"estop":       {schema.ModeAto, command("estop"), driver.ToError},
		"a live stop": {schema.ModeAto, event.LiveStop{Client: "op9", Payload: []byte("{{{")}, driver.ToStop},
		"a stop input": {schema.ModeAto, report(driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: "rear", On: true}),
			driver.ToError},
		"a unit's error": {schema.ModeAto, report(driver.Event{Kind: driver.Unit, Unit: "drive", State: driver.Error, Detail: "hot"}),
			driver.ToError},
		"a unit's own halt": {schema.ModeAto, report(driver.Event{Kind: driver.Unit, Unit: "drive", State: driver.Halt}), driver.ToHalt},
		"a unit asks for stop": {schema.ModeAto, report(driver.Event{Kind: driver.Asks, Unit: "drive", Name: "stop", Detail: "it slips"}),
			driver.ToStop},
		"a mode asks for stop": {askerMode.ID, report(driver.Event{Kind: driver.Sensed, Signal: driver.Touch, Name: "stop", On: true}),
			driver.ToStop},
		"a mode asks for halt": {askerMode.ID, report(driver.Event{Kind: driver.Sensed, Signal: driver.Touch, Name: "halt", On: true}),
			driver.ToHalt},
		"a mode asks for estop": {askerMode.ID, report(driver.Event{Kind: driver.Sensed, Signal: driver.Touch, Name: "estop", On: true}),
			driver.ToError},
	} {
		t.Run(name, func(t *testing.T) {
			r := softStopping(t, c.in)
			steps, ordered, ended := 0, false, false
			for ev := c.stop; steps < 1100; ev = (event.Follow{}) {
				out := Step(r.s, r.wall(), ev, nil)
				steps++
				for _, e := range out {
					switch e := e.(type) {
					case effect.Order:
						ordered = ordered || e.Order == c.to
					case effect.Stop:
						ended = ended || e.Unit == "head"
					case effect.Start:
						if e.Unit == "head" || e.Unit == "drive" {
							t.Errorf("step %d starts the %s", steps, e.Unit)
						}
					case effect.Move:
						if e.VX != 0 || e.WZ != 0 {
							t.Errorf("step %d drives", steps)
						}
					}
				}
				if steps == 2 && (!ordered || !ended) {
					t.Errorf("after 2 steps the units are ordered to stop: %v; the head's command is stopped: %v", ordered, ended)
				}
				if !r.s.Pending() {
					break
				}
			}
			if v := r.s.lanes.View(perform.SafetyLane); v.Act == "heads-to-rest" || len(v.Waiting) > 1 {
				t.Errorf("the shutdown act is left: %+v", v)
			}
			if r.s.safety.At == schema.SafetyEnabled || r.s.Pending() {
				t.Errorf("after %d steps the robot is %s", steps, r.s.safety.At)
			}
		})
	}
}
