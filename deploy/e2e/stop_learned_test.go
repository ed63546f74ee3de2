package e2e

import (
	"testing"
	"time"

	"troupe/schema"
)

// Only r1 received the stop of all robots. It holds r2 too, from the moment r2
// connects.
func TestStopOfAllWhileFleetdAndARobotAreDownHoldsThatRobot(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		stopTopic := schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, "stop1")
		w.recorder.Allow(stopTopic)
		w.startFleet("", "r1", "r2")
		w.enable("r1", "r2")

		w.fleetd.kill()
		w.robots["r2"].kill()
		w.awaitPresence("r2", schema.PresenceLost)
		w.publish("stop1", stopTopic, "")
		w.awaitLatches("r1", "stop1")
		w.startFleetd()
		w.awaitPersistedStops("stop1")
		if h := w.latchedStops()[0]; !h.All || h.Count != 2 {
			w.t.Errorf("fleetd has recorded %s", jsonText(h))
		}
		w.runRobotsIn(schema.ModeMnl, "", "r2")
		w.awaitLatches("r2", "stop1")
		w.expectEnableRefused("r2", "stop1")

		w.mustRunCLI("stop", "release", "stop1", "--why", "seen to")
		w.awaitLatches("r1")
		w.awaitLatches("r2")
		w.mustRequest("op1", "r2", "mode/set", "mnl")
		w.enable("r2")
		time.Sleep(3 * time.Second) // longer than a robot may show a released stop
		w.awaitPersistedStops()
		w.awaitLatches("r1")
	})
}
