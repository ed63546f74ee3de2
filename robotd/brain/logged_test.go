package brain

import (
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// A fault of an adapter is one of all its units, and its driver logs it. A fault of a unit itself
// is in nobody else's log.
func TestFaultOfWhatConnectsAUnitIsMarkedAsLogged(t *testing.T) {
	for _, lost := range []bool{false, true} {
		r := newRig(t)
		r.boot()
		r.until(time.Second)
		lines := map[string]int{}
		line := func(unit string, logged bool) {
			if lines[unit]++; logged != lost {
				t.Errorf("lost: %t; a line about the %s is marked as logged: %t", lost, unit, logged)
			}
		}
		r.watch = func(_ event.Event, out []effect.Effect) {
			for _, e := range out {
				switch e := e.(type) {
				case effect.LogTransition:
					if e.Machine == "diagnosis" {
						line(e.Cause, e.LoggedByDriver)
					}
				case effect.LogAlert:
					line(e.Source, e.LoggedByDriver)
				}
			}
		}
		units := []string{"head", "speaker"}
		for _, id := range units {
			r.give(event.Reported{Event: driver.Event{Kind: driver.Unit, Unit: id, State: driver.Error, Detail: "parrot: the adapter is gone",
				Lost: lost}})
		}
		r.until(2 * time.Second)
		for _, id := range units {
			if lines[id] < 2 { // an alert and the diagnosis
				t.Errorf("lost: %t; %d lines about the %s", lost, lines[id], id)
			}
			lines[id] = 0
			r.give(event.Reported{Event: driver.Event{Kind: driver.Unit, Unit: id, State: driver.Idle}})
		}
		r.until(3 * time.Second)
		if lines["speaker"] != 1 {
			t.Errorf("lost: %t; %d lines about the speaker when it is back", lost, lines["speaker"])
		}
		if at := r.s.safety.At; at != schema.SafetyEStop {
			t.Errorf("the robot is in %s", at)
		}
	}
}
