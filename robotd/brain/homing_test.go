package brain

import (
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestEnableForCalibrationStartsNoStory boots into ato with a story that moves;
// calibration waits for an enable, and gets one.
func TestEnableForCalibrationStartsNoStory(t *testing.T) {
	r := newRig(t)
	r.cfg.Mode.Boot = schema.ModeAto
	r.boot()
	r.give(event.Connected{Session: "a"})
	pin := stories["tour"]
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	r.until(time.Second)

	r.boot()
	var homed coming
	for i, c := range r.coming {
		if _, ok := c.ev.(event.Calibrated); ok {
			homed = c
			r.coming = append(r.coming[:i:i], r.coming[i+1:]...)
			break
		}
	}
	r.give(event.Connected{Session: "b"})
	r.give(event.Reported{Event: driver.Event{Kind: driver.Waits, Unit: "drive", Reason: schema.ReasonNeedsEnable}})
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
	r.until(r.now + 2*time.Second)
	if r.s.modes.Mode().Active != schema.ModeStr || r.s.safety.At != schema.SafetyEnabled {
		t.Fatalf("while it finds its zero the robot is in %s and %s", r.s.modes.Mode().Active, r.s.safety.At)
	}
	r.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			if start, ok := e.(effect.Start); ok && (start.Unit == "head" || start.Unit == "drive") {
				t.Errorf("at %v the %s moves for the story, and nobody enabled that", r.now, start.Unit)
			}
		}
	}
	r.give(homed.ev)
	r.until(r.now + 5*time.Second)
	if r.s.modes.Mode().Active != schema.ModeAto || r.s.safety.At != schema.SafetyDisabled {
		t.Errorf("calibrated, the robot is in %s and %s, want ato and DISABLED", r.s.modes.Mode().Active, r.s.safety.At)
	}
}

func TestAlertOfAWaitingCalibrationEndsWithTheWait(t *testing.T) {
	for what, end := range map[string]event.Command{
		"is enabled":   {Client: "op1", Group: "safety", Verb: "enable"},
		"is cancelled": {Client: "op1", Group: "sys", Verb: "cancel", Payload: []byte(`{"args":{"id":"m1"}}`)},
		"is killed":    {Client: "op1", Group: "mode", Verb: "kill"},
	} {
		r := newRig(t)
		r.bootConnected("a")
		r.calibTime = time.Minute
		r.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"m1","args":{"mode":"str"}}`)})
		r.until(r.now + time.Second)
		r.give(event.Reported{Event: driver.Event{Kind: driver.Waits, Unit: "drive", Reason: schema.ReasonNeedsEnable}})
		if !r.alerted("calibration_waits") {
			t.Fatal("a calibration that waits raises no alert")
		}
		r.give(end)
		r.until(r.now + time.Second)
		if r.alerted("calibration_waits") {
			t.Errorf("the calibration %s, and the alert stays", what)
		}
	}
}
