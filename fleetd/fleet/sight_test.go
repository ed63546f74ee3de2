package fleet_test

import (
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/verb"
)

// A robot that was just released refuses to be enabled with a heartbeat from before the stop.
func TestEnableWaitsForHeartbeatAfterTheStop(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		r := w.robot("r1")
		w.sleep(4 * time.Second) // heartbeats arrive
		stopped := time.Since(began)
		r.Change(func(s *schema.State) { s.Safety.Cause = schema.ReasonStopped })
		w.until("fleetd knows", func() bool { d, _ := w.Robot("r1"); return d.Cause == schema.ReasonStopped })

		asked := time.Now()
		w.command(order("safety/enable", "r1"))
		if took := time.Since(asked); took > 3*time.Second {
			t.Errorf("fleetd waited %v for a heartbeat", took)
		}
		w.until("the robot gets it", func() bool { return count(r.Received(), "safety/enable") == 1 })
		got := r.Received()
		if allow := got[len(got)-1].Request.Args.(verb.EnableOrReset); time.Duration(allow.SeenMonoMS)*time.Millisecond < stopped {
			t.Errorf("it names a heartbeat of %d ms; the robot was stopped %v after its start", allow.SeenMonoMS, stopped)
		}
	})
}
