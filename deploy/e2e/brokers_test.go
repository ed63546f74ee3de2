package e2e

import "testing"

// Everybody was told two brokers, and the preferred one is dead. All that a robot
// and a fleetd instance say to each other goes over the other one, and stays there while they
// have it, though the first is back and knows nobody.
func TestClientConnectsToTheNextBroker(t *testing.T) {
	in(t, anyBroker, func(w *world) {
		w.fleetdLine.lead("")
		w.wires["r1"] = newWire(w.t, "")
		second := newWire(w.t, w.address)
		w.startFleetd("--broker", second.url())
		w.robot("r1", "", "--broker", second.url())
		w.known("r1")
		w.publishes("round", "nod", "smile")
		w.do("story", "assign", "round", "r1")
		w.converged("round", 1, "r1")

		other := launch(w.t, "the first broker", program(w.t, "broker"), []string{"--dev", "--mqtt", "127.0.0.1:0", "--http", ""}, nil)
		w.fleetdLine.lead(other.ready()["mqtt"])
		w.wires["r1"].lead(other.ready()["mqtt"])
		w.publishes("tale", "tell", "nod")
		w.do("story", "assign", "tale", "r1")
		w.converged("tale", 1, "r1")
		if other.log.holds("client connected") {
			w.t.Error("somebody left the broker that he had")
		}
	})
}

func TestEnrolledRobotConnectsToTheNextBroker(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.fleetd.terminate()
	dead := newWire(t, "")
	s.startFleetd("--robot-broker", "mqtts://"+dead.listener.Addr().String(), "--robot-broker", "mqtts://"+s.address)
	s.enrols("r7")
	s.robots["r7"] = launch(t, "r7", program(t, "robotd"), []string{"--data", s.data("r7")}, nil)
	s.seen("r7", "online")
}
