package brain

import (
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// acks collects the final answers of a rig by their id.
func acks(r *rig) map[string]schema.Ack {
	got := map[string]schema.Ack{}
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicAck {
			if a, _ := schema.Decode[schema.Ack](p.Payload); a.ID != nil && a.Status.Final() {
				got[*a.ID] = a
			}
		}
	}
	return got
}

// TestEnableSentBeforeAStopIsRefused hands a stop over before the
// enable that arrived before it, as the link does.
func TestEnableSentBeforeAStopIsRefused(t *testing.T) {
	for _, verb := range []string{"stop", "soft-stop", "halt", "estop"} {
		r := newRig(t)
		got := acks(r)
		r.bootConnected("a")
		r.give(event.Command{Client: "op1", Group: "safety", Verb: verb, Payload: []byte(`{"id":"newer"}`), N: 8})
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"older"}`), N: 7})
		r.until(2 * time.Second)
		if at := r.s.safety.At; at == schema.SafetyEnabled {
			t.Errorf("%s: the robot is %s by an enable that was asked for before", verb, at)
		}
		if a := got["older"]; a.Status != schema.StatusCancelled || a.Reason != schema.ReasonStopped {
			t.Errorf("%s: the older enable was answered %s %s", verb, a.Status, a.Reason)
		}
		// Sent again under its id it is still the old one.
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"older"}`), N: 9})
		r.until(3 * time.Second)
		if a := got["older"]; a.Status != schema.StatusCancelled || !a.Dup || r.s.safety.At == schema.SafetyEnabled {
			t.Errorf("%s: the older enable came again, was answered %s, and the robot is %s", verb, a.Status, r.s.safety.At)
		}
	}
}

func TestEnableAfterAStopIsJudgedNormally(t *testing.T) {
	for _, n := range []uint64{0, 9} { // 0: nobody counted
		r := newRig(t)
		r.bootConnected("a")
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "stop", N: 8})
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", N: n})
		r.until(2 * time.Second)
		if at := r.s.safety.At; at != schema.SafetyEnabled {
			t.Errorf("number %d: the robot is %s", n, at)
		}
	}
}

// TestEnableSentBeforeAReleaseIsRefused asks while a stop is held: what
// was asked before its release does not happen after it.
func TestEnableSentBeforeAReleaseIsRefused(t *testing.T) {
	for name, enable := range map[string]func(r *rig, release func()){
		"overtaken": func(r *rig, release func()) {
			release()
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"older"}`), N: 7})
		},
		"on its way to the disk": func(r *rig, release func()) {
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"older"}`), N: 7})
			release()
		},
	} {
		r := newRig(t)
		got := acks(r)
		r.bootConnected("a")
		r.give(event.StopDocument{From: event.RobotStops, Rev: 1, FleetID: "fleetd",
			Stops: []schema.StopLatch{{ID: "s-1", Level: schema.StopStop}}, N: 5})
		r.until(1500 * time.Millisecond)
		enable(r, func() {
			r.give(event.StopDocument{From: event.RobotStops, Rev: 2, FleetID: "fleetd", N: 8})
		})
		r.until(2 * time.Second)
		if a := got["older"]; a.Status != schema.StatusCancelled || a.Reason != schema.ReasonStopped || r.s.safety.At == schema.SafetyEnabled {
			t.Errorf("%s: answered %s %s, and the robot is %s", name, a.Status, a.Reason, r.s.safety.At)
		}
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"newer"}`), N: 9})
		r.until(3 * time.Second)
		if at := r.s.safety.At; at != schema.SafetyEnabled {
			t.Errorf("%s: asked after the release the robot is %s", name, at)
		}
	}
}

// TestRecordingAStopCancelsNoCommand has fleetd record a stop that is
// latched on the robot already, while somebody asks for an enable. Nobody stopped the robot
// again and nobody released one, so what stands in the way is the latched stop.
func TestRecordingAStopCancelsNoCommand(t *testing.T) {
	enable := event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"e1"}`), N: 7}
	for _, from := range []event.StopSource{event.RobotStops, event.FleetStops} {
		written := event.StopDocument{From: from, Rev: 1, FleetID: "fleetd", Stops: []schema.StopLatch{{ID: "s-1", Level: schema.StopStop}}, N: 8}
		for name, events := range map[string][]event.Event{
			"the document overtakes":                   {written, enable},
			"the enable is on its way to the disk":     {enable, written},
			"the enable is asked for after everything": {written, event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"e1"}`), N: 9}},
		} {
			r := newRig(t)
			got := acks(r)
			r.bootConnected("a")
			r.give(event.LiveStop{Client: "fleetd", Payload: []byte(`{"id":"s-1"}`), N: 5})
			r.until(1500 * time.Millisecond)
			for _, ev := range events {
				r.give(ev)
			}
			r.until(2 * time.Second)
			if a := got["e1"]; a.Status != schema.StatusRejected || a.Reason != schema.ReasonLatched || r.s.safety.At == schema.SafetyEnabled {
				t.Errorf("%s stop, %s: answered %s %s, and the robot is %s", from, name, a.Status, a.Reason, r.s.safety.At)
			}
		}
	}
}

// TestRepeatedStopEndsWaitingCommands presses a stop again: what was asked for
// before the press does not happen after it.
func TestRepeatedStopEndsWaitingCommands(t *testing.T) {
	press := event.LiveStop{Client: "op2", Payload: []byte(`{"id":"s-1"}`)}
	r := newRig(t)
	got := acks(r)
	r.bootConnected("a")
	press.N = 5
	r.give(press)
	r.until(1500 * time.Millisecond)
	r.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"m1","args":{"mode":"safe"}}`), N: 7})
	press.N = 8
	r.give(press)
	r.until(2 * time.Second)
	if a := got["m1"]; a.Status != schema.StatusCancelled || a.Reason != schema.ReasonStopped {
		t.Errorf("what waited for the disk was answered %s %s", a.Status, a.Reason)
	}
}
