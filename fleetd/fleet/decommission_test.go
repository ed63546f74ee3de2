package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/decommission"
)

// While fleetd does not know whether a robot is connected, the robot may be moving: fleetd asks
// for confirmation, and waits until it knows whether the robot has to be stopped.
func TestRobotOfUnknownPresenceIsNotRevokedWithoutAStop(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		if err := w.broker.Load().Close(); err != nil {
			t.Fatal(err)
		}
		w.awaitPresence("r1", "unknown")
		if p := w.ask("POST", "/robots/r1/decommission", api.DecommissionRequest{}, nil); p == nil || !p.Of(api.KindOnline) ||
			!strings.Contains(p.Error(), "--yes") {
			t.Errorf("without confirmation: %v", p)
		}
		w.must("POST", "/robots/r1/decommission", api.DecommissionRequest{Yes: true}, nil)
		w.sleep(5 * time.Second)
		var d api.Decommission
		w.must("GET", "/robots/r1/decommission", nil, &d)
		if d.Step != decommission.Begun || !strings.Contains(d.Waiting, "does not know whether it is connected") {
			t.Errorf("without a broker it is at %s, waiting: %q", d.Step, d.Waiting)
		}
		w.newBroker()
		w.until("r1 is stopped and revoked", func() bool {
			w.must("GET", "/robots/r1/decommission", nil, &d)
			return d.Step != decommission.Begun && count(r.Received(), "safety/stop") == 1
		})
	})
}

// Its heartbeats have ended, so its presence is lost, but its connection works.
func TestRobotWithAHangingControlLoopIsStoppedBeforeItIsRevoked(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		r.SetHanging(true)
		w.until("r1 is lost while its messages arrive", func() bool {
			r.Event("act_ended")
			d, _ := w.Robot("r1")
			return d.Presence.Status == "lost" && strings.Contains(d.Presence.Why, "its control loop hangs")
		})
		w.must("POST", "/robots/r1/decommission", api.DecommissionRequest{Yes: true}, nil)
		w.until("r1 is stopped and revoked", func() bool {
			var d api.Decommission
			w.must("GET", "/robots/r1/decommission", nil, &d)
			return d.Step != decommission.Begun && d.Step != decommission.StopSent
		})
		if n := count(r.Received(), "safety/stop"); n != 1 {
			t.Errorf("it received %d stops", n)
		}
	})
}
