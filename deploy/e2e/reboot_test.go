package e2e

import (
	"slices"
	"testing"

	"troupe/schema"
)

// TestRebootEndsWithItsOwnStatus plays the supervisor that starts robotd again.
func TestRebootEndsWithItsOwnStatus(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		if a := w.mustRequest("admin", "r1", "controller/unload", "ato"); a.Result != schema.ResultUnloaded {
			t.Errorf("controller/unload was answered %s", jsonText(a))
		}
		w.mustRequest("op1", "r1", "safety/enable", "")
		if a := w.request("admin", "r1", "sys/reboot", ""); a.Status != schema.StatusRejected || a.Reason != schema.ReasonBusy {
			t.Errorf("while the robot may move, sys/reboot was answered %s", jsonText(a))
		}
		w.mustRequest("op1", "r1", "safety/stop", "")
		w.awaitState("r1", "DISABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyDisabled })

		mark := w.observer.mark()
		before := w.robots["r1"]
		before.ignoreExit = true
		w.mustRequest("admin", "r1", "sys/reboot", "")
		if code := before.wait(); code != 75 {
			t.Errorf("robotd ended with status %d, want 75", code)
		}
		awaitDocumentAfter(w, mark, robotTopic("r1", "presence"), "r1 to say goodbye", func(p schema.Presence) bool {
			return p.State == schema.PresenceOffline && p.Reason == "reboot"
		})
		mark = w.observer.mark()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		awaitDocumentAfter(w, mark, robotTopic("r1", "modes"), "ato to be unloaded still", func(m schema.Modes) bool {
			return !slices.ContainsFunc(m.Modes, func(m schema.Mode) bool { return m.ID == schema.ModeAto })
		})
	})
}
