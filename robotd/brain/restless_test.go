package brain

import (
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestUnitRunningWithoutPermissionIsSwitchedOff lets a drive say that it runs
// while the gate is shut.
func TestUnitRunningWithoutPermissionIsSwitchedOff(t *testing.T) {
	r := newRig(t)
	got := acks(r)
	r.bootConnected("a")
	r.give(event.Reported{Event: driver.Event{Kind: driver.Unit, Unit: "drive", State: driver.Run}})
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{"id":"e1"}`)})
	r.until(5900 * time.Millisecond)
	if a := got["e1"]; a.Status != schema.StatusRejected || a.Reason != schema.ReasonBusy || r.s.safety.At != schema.SafetyDisabled {
		t.Errorf("the enable was answered %s %s, the robot is %s", a.Status, a.Reason, r.s.safety.At)
	}
	r.until(6300 * time.Millisecond)
	if r.s.safety.At != schema.SafetyEStop || r.s.body.Ordered() != driver.ToError {
		t.Errorf("after five seconds the robot is %s and its units are ordered %s", r.s.safety.At, r.s.body.Ordered())
	}
}
