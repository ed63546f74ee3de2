package e2e

import (
	"strings"
	"testing"
)

// Robot and fleetd have two brokers configured, and the preferred one is down.
// They use the other one, and stay connected to it when the first one is back.
func TestClientConnectsToTheNextBroker(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.fleetdProxy.connectTo("")
		w.robotProxies["r1"] = newProxy(w.t, "")
		second := newProxy(w.t, w.address)
		w.startFleetd("--broker", second.url())
		w.runRobot("r1", "", "--broker", second.url())
		w.awaitAdopted("r1")
		w.publishStory("round", "nod", "smile")
		w.mustRunCLI("story", "assign", "round", "r1")
		w.awaitConverged("round", 1, "r1")
		w.fleetd.log.await(w.t, "fleetd", "its second connection to be up", func(line string) bool {
			return strings.Contains(line, "connected to broker") && strings.Contains(line, "connection=drive")
		})

		other := launch(w.t, "the first broker", program(w.t, "broker"), []string{"--dev", "--mqtt", "127.0.0.1:0", "--http", ""}, nil)
		w.fleetdProxy.connectTo(other.ready()["mqtt"])
		w.robotProxies["r1"].connectTo(other.ready()["mqtt"])
		w.publishStory("tale", "tell", "nod")
		w.mustRunCLI("story", "assign", "tale", "r1")
		w.awaitConverged("tale", 1, "r1")
		if other.log.contains("client connected") {
			w.t.Error("a client left the broker that it was connected to")
		}
	})
}

func TestEnrolledRobotConnectsToTheNextBroker(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.fleetd.terminate()
	dead := newProxy(t, "")
	s.startFleetd("--robot-broker", "mqtts://"+dead.listener.Addr().String(), "--robot-broker", "mqtts://"+s.address)
	s.enrol("r7")
	s.robots["r7"] = launch(t, "r7", program(t, "robotd"), []string{"--data", s.dataDir("r7")}, nil)
	s.awaitPresenceStatus("r7", "online")
}
