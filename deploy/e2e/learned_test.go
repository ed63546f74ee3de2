package e2e

import (
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

// Nobody but r1 received the stop of all robots. It holds r2 all the same, from the
// moment r2 connects.
func TestStopOfAllWhileFleetdAndARobotAreDownHoldsThatRobot(t *testing.T) {
	in(t, anyBroker, func(w *world) {
		press := schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, "stop1")
		w.recorder.Allow(press)
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1", "r2")
		w.known("r1", "r2")
		w.enabled("r1", "r2")

		w.fleetd.kill()
		w.robots["r2"].kill()
		w.presence("r2", schema.PresenceLost)
		w.send("stop1", press, "")
		w.holds("r1", "stop1")
		w.startFleetd()
		w.persisted("stop1")
		if h := w.heldStops()[0]; !h.All || h.Count != 2 {
			w.t.Errorf("recorded is %s", text(h))
		}
		w.robotsIn(schema.ModeMnl, "", "r2")
		w.holds("r2", "stop1")
		w.refusesEnable("r2", "stop1")

		w.do("stop", "release", "stop1", "--why", "seen to")
		w.holds("r1")
		w.holds("r2")
		w.told("op1", "r2", "mode/set", "mnl")
		w.enabled("r2")
		time.Sleep(3 * time.Second) // longer than a robot may show what was released
		w.persisted()
		w.holds("r1")
	})
}

// With fleetd up, what only a robot knows is recorded soon: here a command with an id to
// hold it by, which fleetd does not obey.
func TestStopThatOnlyARobotHoldsIsRecordedSoon(t *testing.T) {
	in(t, anyBroker, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.known("r1")
		mark := w.eye.mark()
		w.told("op1", "r1", "safety/stop", `{"args":{"latch":"gate-7"}}`)
		becomes(w, mark, on("r1", "desired/stop"), "gate-7 to be recorded", func(d schema.DesiredStop) bool { return len(d.Stops) == 1 })
		w.persisted("gate-7")
		shown := becomes(w, mark, on("r1", "state"), "gate-7 to be shown", func(s schema.State) bool { return len(s.Safety.Latches) == 1 })
		told := becomes(w, mark, on("r1", "desired/stop"), "gate-7 to be recorded", func(d schema.DesiredStop) bool { return len(d.Stops) == 1 })
		took := told.TS.Sub(shown.TS)
		w.t.Logf("recorded %v after the robot showed it", took)
		if took > 1500*time.Millisecond { // 2 to 4 s before; in fake time it is half a second at most
			w.t.Errorf("recorded %v after the robot showed it", took)
		}
	})
}

// The newest state of a robot that is away shows a stop that was released long ago.
func TestSecondReleaseOfAStopSaysThatItIsNotHeld(t *testing.T) {
	in(t, []kind{ours}, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.known("r1")
		id := w.stops("r1")
		w.holds("r1", id)
		w.persisted(id)
		w.robots["r1"].kill()
		w.presence("r1", schema.PresenceLost)
		w.do("stop", "release", id, "--by", "ben", "--why", "the stage is clear")
		time.Sleep(3 * time.Second) // longer than a robot may show what was released
		s := w.cli("stop", "release", id, "--why", "the stage is clear")
		if s.code == 0 || strings.Contains(s.out, "released") || !strings.Contains(s.err, "ben released it at") || !strings.Contains(s.err, "r1 showed it last and is not connected") {
			w.t.Errorf("released twice: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.holds("r1") // the release reached it
		w.persisted()
	})
}
