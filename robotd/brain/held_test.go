package brain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/event"
	"troupe/robotd/safety"
	"troupe/schema"
)

// TestNoRestartReleasesAStop restarts a robot that somebody stopped.
func TestNoRestartReleasesAStop(t *testing.T) {
	for _, verb := range []string{"halt", "estop"} {
		r := newRig(t)
		got := acks(r)
		r.bootConnected("a")
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
		r.until(1500 * time.Millisecond)
		r.give(event.Command{Client: "op2", Group: "safety", Verb: verb})
		r.until(1600 * time.Millisecond)
		r.boot()
		r.give(event.Connected{Session: "b"})
		r.until(r.now + 3*time.Second)
		if by := safety.StoppedBy(r.s.safety.CoreState, (&step{State: r.s}).safetyFacts()); r.s.safety.At != schema.SafetyEStop || by != "op2" {
			t.Fatalf("%s: after a restart the robot is %s, by %q", verb, r.s.safety.At, by)
		}
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "reset", Payload: []byte(`{"id":"r1"}`)})
		r.until(r.now + 10*time.Millisecond)
		r.boot() // in the middle of the reset
		if r.s.safety.At != schema.SafetyEStop {
			t.Errorf("%s: a restart ended the reset, the robot is %s", verb, r.s.safety.At)
		}
		r.give(event.Connected{Session: "c"})
		r.until(r.now + 2*time.Second)
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "reset", Payload: []byte(`{"id":"r2"}`)})
		r.until(r.now + 2*time.Second)
		r.boot()
		if got["r2"].Status != schema.StatusSucceeded || r.s.safety.At != schema.SafetyDisabled {
			t.Errorf("%s: the reset was answered %s, and after a restart the robot is %s", verb, got["r2"].Status, r.s.safety.At)
		}
	}
}

// TestStopInputIsResetAtTheRobotAlsoAfterRestart presses a stop input while
// the robot is in E_STOP already, and lets it go.
func TestStopInputIsResetAtTheRobotAlsoAfterRestart(t *testing.T) {
	r := newRig(t)
	got := acks(r)
	r.bootConnected("a")
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "estop"})
	for _, on := range []bool{true, false} {
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: "red", On: on}})
	}
	r.boot()
	r.give(event.Connected{Session: "b"})
	r.until(r.now + 3*time.Second)
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "reset", Payload: []byte(`{"id":"r1"}`)})
	r.until(r.now + time.Second)
	if a := got["r1"]; a.Reason != schema.ReasonLocalOnly {
		t.Errorf("a reset from afar was answered %s %s", a.Status, a.Reason)
	}
	r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Press, Name: "reset", On: true}})
	r.until(r.now + 2*time.Second)
	if r.s.safety.At != schema.SafetyDisabled || strings.Contains(string(r.memory.Latches), `"safety"`) {
		t.Errorf("reset at the robot it is %s, the disk keeps %s", r.s.safety.At, r.memory.Latches)
	}
}

// TestWayOutOfStopInputsIsAtTheRobot: the alert and the refusals name every pressed input and
// the button, never safety/reset.
func TestWayOutOfStopInputsIsAtTheRobot(t *testing.T) {
	r := newRig(t)
	got := acks(r)
	r.bootConnected("a")
	input := func(name string, on bool) {
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: name, On: on}})
	}
	input("red", true)
	r.until(r.now + time.Second) // the units are in error, and then say why
	r.give(event.Reported{Event: driver.Event{Kind: driver.Unit, Unit: "drive", State: driver.Error, Detail: "a stop input is pressed"}})
	check := func(id, want string) {
		t.Helper()
		r.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"` + id + `","args":{"mode":"str"}}`)})
		r.until(r.now + time.Second)
		if a := got[id]; !strings.HasSuffix(a.Detail, want) {
			t.Errorf("mode/set was answered %s (%s), want %s", a.Status, a.Detail, want)
		}
		alerts := r.s.report.Alerts()
		if i := slices.IndexFunc(alerts, func(a schema.Alert) bool { return a.Type == "unit_error" && a.Source == "drive" }); i < 0 ||
			alerts[i].Hint != want {
			t.Errorf("the alerts are %+v, want %s", alerts, want)
		}
	}
	const button = "press the button reset on the robot's body (after a stop input, safety/reset is refused), then safety/enable"
	check("m1", "release stop input red, then "+button)
	input("back", true)
	check("m2", "release the stop inputs back, red, then "+button)
	input("back", false)
	input("red", false)
	check("m3", button)
}

func TestUnreadablePendingResetIsAnEStop(t *testing.T) {
	r := newRig(t)
	r.memory.Latches = []byte(`{"safety":"?","latches":{"latches":[]}}`)
	r.boot()
	if r.s.safety.At != schema.SafetyEStop || !r.s.safety.Physical {
		t.Errorf("the robot is %s", r.s.safety.At)
	}
}

// TestLatchedStopNamesItsSender has op1 stop the robot in somebody's
// name, which no fleetd has verified.
func TestLatchedStopNamesItsSender(t *testing.T) {
	r := newRig(t)
	r.bootConnected("a")
	by := func() string { return safety.StoppedBy(r.s.safety.CoreState, (&step{State: r.s}).safetyFacts()) }
	r.give(event.LiveStop{Client: "op1", Payload: []byte(`{"id":"s-1","by":"anna"}`)})
	if got := by(); got != "anna at op1" {
		t.Errorf("the live stop was sent by %q", got)
	}
	r.give(event.StopDocument{From: event.RobotStops, Rev: 1, FleetID: "fleetd",
		Stops: []schema.StopLatch{{ID: "s-1", Level: schema.StopStop, By: "anna", Client: "op1"}}})
	if got := by(); got != "anna at op1" {
		t.Errorf("recorded by fleetd, the stop was sent by %q", got)
	}
	r.boot()
	if got := by(); got != "anna at op1" {
		t.Errorf("after a restart the stop was sent by %q", got)
	}
}
