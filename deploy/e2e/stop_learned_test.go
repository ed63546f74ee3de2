package e2e

import (
	"strings"
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
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1", "r2")
		w.awaitAdopted("r1", "r2")
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

// With fleetd running, a stop that only a robot knows is recorded soon: here a
// stop command with a latch id, which fleetd does not obey.
func TestStopThatOnlyARobotHoldsIsRecordedSoon(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitAdopted("r1")
		mark := w.observer.mark()
		w.mustRequest("op1", "r1", "safety/stop", `{"args":{"latch":"gate-7"}}`)
		awaitDocumentAfter(w, mark, robotTopic("r1", "desired/stop"), "gate-7 to be recorded", func(d schema.DesiredStop) bool { return len(d.Stops) == 1 })
		w.awaitPersistedStops("gate-7")
		shown := awaitDocumentAfter(w, mark, robotTopic("r1", "state"), "gate-7 to be shown", func(s schema.State) bool { return len(s.Safety.Latches) == 1 })
		recorded := awaitDocumentAfter(w, mark, robotTopic("r1", "desired/stop"), "gate-7 to be recorded", func(d schema.DesiredStop) bool { return len(d.Stops) == 1 })
		took := recorded.TS.Sub(shown.TS)
		w.t.Logf("recorded %v after the robot showed it", took)
		if took > 1500*time.Millisecond { // in fake time it is half a second at most
			w.t.Errorf("recorded %v after the robot showed it", took)
		}
	})
}

// The newest state of a disconnected robot still shows a stop that was released
// long ago.
func TestSecondReleaseOfAStopSaysThatItIsNotHeld(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitAdopted("r1")
		id := w.stopRobots("r1")
		w.awaitLatches("r1", id)
		w.awaitPersistedStops(id)
		w.robots["r1"].kill()
		w.awaitPresence("r1", schema.PresenceLost)
		w.mustRunCLI("stop", "release", id, "--by", "ben", "--why", "the stage is clear")
		time.Sleep(3 * time.Second) // longer than a robot may show a released stop
		result := w.runCLI("stop", "release", id, "--why", "the stage is clear")
		if result.code == 0 || strings.Contains(result.out, "released") || !strings.Contains(result.err, "ben released it at") || !strings.Contains(result.err, "r1 reported it last and is not connected") {
			w.t.Errorf("released twice: status %d\n%s%s", result.code, result.out, result.err)
		}
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitLatches("r1") // the release reached it
		w.awaitPersistedStops()
	})
}
