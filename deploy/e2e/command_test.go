package e2e

import (
	"fmt"
	"strings"
	"testing"

	"troupe/schema"
)

func TestEventsOfAnEarlierRunAreReplayed(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		boot := w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl }).Boot
		// Events from before the robot's connection are published by a replay only, so
		// there have to be two after it.
		w.request("op1", "r1", "safety/enable", "")
		w.request("op1", "r1", "safety/stop", "")
		first := awaitDocumentAfter(w, 0, robotTopic("r1", "event"), "the robot is enabled",
			func(e schema.Event) bool { return e.Boot == boot && e.Type == "safety_changed" }).Seq
		awaitDocumentAfter(w, 0, robotTopic("r1", "event"), "the next event",
			func(e schema.Event) bool { return e.Boot == boot && e.Seq == first+1 })
		w.mustRequest("op1", "r1", "sys/ping", "") // events of a stop are published before they are on disk, and this answer after them
		w.robots["r1"].kill()
		w.awaitPresence("r1", schema.PresenceLost)
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		mark := w.observer.mark()
		if a := w.mustRequest("op1", "r1", "sys/replay",
			fmt.Sprintf(`{"id":"r1","args":{"from":%d,"to":%d,"boot":%q}}`, first, first+1, boot)); !strings.Contains(a.Detail, "2") {
			w.t.Errorf("the answer is %s", jsonText(a))
		}
		for seq := range int64(2) {
			awaitDocumentAfter(w, mark, robotTopic("r1", "event"), fmt.Sprintf("event %d of the earlier run", first+seq), func(e schema.Event) bool {
				return e.Boot == boot && e.Seq == first+seq
			})
		}
	})
}
