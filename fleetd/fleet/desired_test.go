package fleet_test

import (
	"testing"

	"troupe/fleetd/api"
)

func TestRemovedActAndEmptiedStoryReachTheRobots(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.publish()
		w.assign("museum", "r1")
		w.converged("r1")
		w.must("DELETE", "/acts/bow?expected_stories=1&expected_robots=1&by=ann", nil, nil)
		if desired := w.converged("r1"); desired.Active.Rev != 2 {
			w.Errorf("after an act was removed r1 has %+v", desired.Active)
		}
		if p := w.ask("DELETE", "/acts/welcome?expected_stories=1&expected_robots=1", nil, nil); p == nil || !p.Of(api.KindConfirm) ||
			p.Confirm != "museum" {
			w.Fatalf("emptying a default story needs its name: %+v", p)
		}
		w.must("DELETE", "/acts/welcome?expected_stories=1&expected_robots=1&clear=museum", nil, nil)
		if desired := w.converged("r1"); desired.Active != nil {
			w.Errorf("after its story was emptied r1 has %+v", desired.Active)
		}
	})
}

func TestRestartedBrokerGetsDesiredDocumentsAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.publish()
		w.assign("museum", "r1")
		w.converged("r1")
		old := w.broker.Load()
		w.newBroker()
		if err := old.Close(); err != nil {
			w.Fatal(err)
		}
		r2 := w.robot("r2")
		if n := len(r2.Received()); n != 0 {
			w.Errorf("a new robot received %d commands", n)
		}
		ear := w.broker.Load().Client(w.T, "admin")
		ear.Subscribe("troupe/v1/robots/r1/desired/story", "troupe/v1/blobs/+")
		ear.Expect("troupe/v1/robots/r1/desired/story")
		ear.Expect("troupe/v1/blobs/+")
	})
}

func TestDesiredStateSetWithoutABrokerIsPublishedLater(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.publish()
		old := w.broker.Load()
		if err := old.Close(); err != nil {
			w.Fatal(err)
		}
		w.until("fleetd says so", func() bool { return !w.Status().Broker.OK })
		w.assign("museum", "r1")
		w.stopFleetd() // and a restart does not lose it either
		w.newBroker()
		w.startFleetd()
		w.converged("r1")
	})
}
