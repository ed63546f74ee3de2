package e2e

import (
	"fmt"
	"strings"
	"testing"

	"troupe/schema"
)

func TestCommandsKeepOrderPreconditionAndID(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#")) // mode/sing is not in the contract
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		const args = `"args":{"interrupter":"touch"}`
		expectRefused := func(verb, payload string, reason schema.Reason, pointer string) {
			w.t.Helper()
			a := w.request("op1", "r1", verb, payload)
			if a.Status != schema.StatusRejected || a.Reason != reason || a.Pointer != pointer {
				w.t.Errorf("%s %s: answer %s, want %s at %q", verb, payload, jsonText(a), reason, pointer)
			}
			if reason == schema.ReasonPrecondition && (a.Current == nil || a.Current.Mode != schema.ModeMnl) {
				w.t.Errorf("%s %s: the answer does not contain the robot's current state: %s", verb, payload, jsonText(a))
			}
		}
		expectDuplicate := func() {
			w.t.Helper()
			if a := w.request("op1", "r1", "interrupter/run", `{"id":"k5","session":"a","seq":5,`+args+`}`); a.Status != schema.StatusSucceeded || !a.Dup {
				w.t.Errorf("the same command again: answer %s", jsonText(a))
			}
		}
		w.mustRequest("op1", "r1", "interrupter/run", `{"id":"k5","session":"a","seq":5,`+args+`}`)
		expectRefused("interrupter/stop", `{"id":"k4","session":"a","seq":4,`+args+`}`, schema.ReasonOutOfOrder, "/seq")
		expectDuplicate()
		expectRefused("interrupter/stop", `{"id":"k5",`+args+`}`, schema.ReasonIDReuse, "")
		expectRefused("interrupter/stop", `{"if":{"mode":"ato"},`+args+`}`, schema.ReasonPrecondition, "/if/mode")
		w.mustRequest("op1", "r1", "interrupter/run", `{"if":{"mode":"mnl"},`+args+`}`)
		expectRefused("mode/sing", `{"id":"k6"}`, schema.ReasonUnknownVerb, "")
		w.expectStillIn(schema.ModeMnl, "r1")

		w.robots["r1"].kill()
		w.awaitPresence("r1", schema.PresenceLost)
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		expectDuplicate()
		expectRefused("interrupter/stop", `{"id":"k3","session":"a","seq":3,`+args+`}`, schema.ReasonOutOfOrder, "/seq")
		w.mustRequest("op1", "r1", "interrupter/run", `{"id":"k7","session":"a","seq":7,`+args+`}`)
	})
}

func TestEventsOfAnEarlierRunAreReplayed(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		boot := w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl }).Boot
		// Events from before the robot's connection are published by a replay only, so
		// there have to be two after it.
		w.request("op1", "r1", "safety/enable", "")
		w.request("op1", "r1", "safety/stop", "")
		first := awaitDocumentAfter(w, 0, robotTopic("r1", "event"), "the robot is enabled", func(e schema.Event) bool { return e.Boot == boot && e.Type == "safety_changed" }).Seq
		awaitDocumentAfter(w, 0, robotTopic("r1", "event"), "the next event", func(e schema.Event) bool { return e.Boot == boot && e.Seq == first+1 })
		w.robots["r1"].kill()
		w.awaitPresence("r1", schema.PresenceLost)
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		mark := w.observer.mark()
		if a := w.mustRequest("op1", "r1", "sys/replay", fmt.Sprintf(`{"id":"r1","args":{"from":%d,"to":%d,"boot":%q}}`, first, first+1, boot)); !strings.Contains(a.Detail, "2") {
			w.t.Errorf("the answer is %s", jsonText(a))
		}
		for seq := range int64(2) {
			awaitDocumentAfter(w, mark, robotTopic("r1", "event"), fmt.Sprintf("event %d of the earlier run", first+seq), func(e schema.Event) bool {
				return e.Boot == boot && e.Seq == first+seq
			})
		}
	})
}

func TestWaitingCalibrationCanBeCancelled(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobot("r1", "homing.yaml")
		w.awaitState("r1", "calibrating", func(s schema.State) bool {
			return s.Mode.Active == schema.ModeStr && s.Mode.Phase == schema.PhaseRunning
		})
		mark := w.observer.mark()
		w.publish("op1", robotTopic("r1", "cmd/op1/mode/set"), `{"id":"k1","args":{"mode":"str","restart":true}}`)
		w.awaitState("r1", "executing k1", func(s schema.State) bool { return len(s.Running) == 1 && s.Running[0].ID == "k1" })
		w.publish("op1", robotTopic("r1", "cmd/op1/sys/cancel"), `{"id":"c1","args":{"id":"k1"}}`)
		if a := w.awaitFinalAck(mark, "op1", "r1", "k1"); a.Status != schema.StatusCancelled || a.Reason != schema.ReasonCancelled {
			w.t.Errorf("the cancelled command is answered %s", jsonText(a))
		}
		if a := w.awaitFinalAck(mark, "op1", "r1", "c1"); a.Status != schema.StatusSucceeded {
			w.t.Errorf("the cancel itself is answered %s", jsonText(a))
		}
	})
}
