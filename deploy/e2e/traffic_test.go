package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

// A person who watches the messages of an idle fleet has to be able to read them
// as they come.
func TestRobotInManualModePublishesLittle(t *testing.T) {
	const watched, every = 25 * time.Second, 10 * time.Second
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1", "r2")
		for _, rid := range []string{"r1", "r2"} {
			awaitDocument(w, robotTopic(rid, "modes"), "the modes of "+rid+" to be up to date", func(m schema.Modes) bool {
				for _, mode := range m.Modes {
					if mode.ID == schema.ModeMnl {
						return mode.Running
					}
				}
				return false
			})
		}
		mark := w.observer.mark()
		// The test measures the messages of this time.
		time.Sleep(watched)
		var lines, beats int
		for _, m := range w.observer.since(mark, schema.DefaultNamespace.Root()+"#") {
			if strings.Contains(m.Topic, "/heartbeat") {
				beats++
				continue
			}
			if strings.Contains(fmt.Sprint(m), `"type":"deadline_missed"`) {
				continue // a busy machine, not the robot, decides how many there are
			}
			lines++
			w.t.Logf("%v", m)
		}
		// At most one message per robot in each started ten seconds; none of fleetd.
		if most := 2 * int((watched+every-1)/every); lines > most {
			w.t.Errorf("%d messages in %v from two robots; want at most %d", lines, watched, most)
		}
		if beats < int(watched/(2*time.Second)) {
			w.t.Errorf("only %d heartbeats in %v: are robots and fleetd running?", beats, watched)
		}
	})
}
