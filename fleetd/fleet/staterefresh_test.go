package fleet_test

import (
	"testing"
	"time"

	"troupe/schema"
)

func TestOutdatedStateIsMarkedAndRequested(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.Change(func(s *schema.State) { s.Safety.State, s.Safety.StoppedBy = schema.SafetyEnabled, "" })
		w.until("r1 is enabled", func() bool { d, _ := w.Robot("r1"); return d.Safety == schema.SafetyEnabled })
		before := count(r.Received(), "sys/resync")

		// The broker takes no state any more, and the robot is stopped.
		r.Stateless(true)
		r.Change(func(s *schema.State) {
			s.Safety.State, s.Mode.Active = schema.SafetyEStop, schema.ModeSafe
		})
		w.until("r1 is shown as it is", func() bool { d, _ := w.Robot("r1"); return d.Safety == schema.SafetyEStop })
		if d, _ := w.Robot("r1"); !d.StateOutdated || d.Mode != schema.ModeSafe {
			w.Errorf("shown as %s, %s, out of date %v", d.Mode, d.Safety, d.StateOutdated)
		}
		w.until("r1 is asked", func() bool { return count(r.Received(), "sys/resync") > before })
		w.sleep(10 * time.Minute)
		if asked := count(r.Received(), "sys/resync") - before; asked > 10 {
			w.Errorf("within ten minutes it was asked %d times", asked)
		}

		r.Stateless(false)
		r.Change(func(*schema.State) {})
		w.until("r1's state is here", func() bool { d, _ := w.Robot("r1"); return !d.StateOutdated && d.Safety == schema.SafetyEStop })
	})
}

func TestStateUnderWayIsNotOutdated(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		for range 50 {
			r.Change(func(*schema.State) {})
			w.sleep(300 * time.Millisecond)
			if d, _ := w.Robot("r1"); d.StateOutdated {
				w.Fatal("out of date")
			}
		}
	})
}
