package e2e

import (
	"strings"
	"testing"

	"troupe/schema"
)

// anyBroker: the robot has to keep its promises on our broker and on any other.
var anyBroker = []variant{ownBroker, mosquitto}

func TestModeSetIsAnswered(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitActiveStory("r1", w.setDesiredStory("r1", 1, "round", "nod", "smile"))

		mark := w.observer.mark()
		ack := w.request("op1", "r1", "mode/set", "ato")
		if ack.Status != schema.StatusSucceeded || ack.Verb != "mode/set" {
			w.t.Fatalf("answer %s", jsonText(ack))
		}
		// The state with the answer's state_seq shows what the answer promised.
		shown := awaitDocumentAfter(w, mark, robotTopic("r1", "state"), "the state that the answer names", func(s schema.State) bool {
			return s.StateSeq >= ack.StateSeq
		})
		if shown.Mode.Active != schema.ModeAto || shown.LastReq == nil || shown.LastReq.Client != "op1" {
			w.t.Errorf("the state is %s", jsonText(shown))
		}
		w.awaitState("r1", "past its first act", func(s schema.State) bool {
			return s.Auto.Status == schema.AutoPerforming && s.Auto.Act == "smile"
		})
		w.awaitState("r1", "in its second round", func(s schema.State) bool { return s.Auto.Loop >= 1 })
	})
}

func TestUnknownModeIsRefusedWithTheListOfModes(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		ack := w.request("op1", "r1", "mode/set", "dance")
		if ack.Status != schema.StatusRejected || ack.Result != schema.ResultNoMode || ack.Reason != schema.ReasonUnknownMode {
			w.t.Errorf("answer %s", jsonText(ack))
		}
		for _, mode := range []string{"str", "mnl", "ato"} {
			if !strings.Contains(ack.Detail, mode) {
				w.t.Errorf("the detail %q does not name %s", ack.Detail, mode)
			}
		}
		w.expectStillIn(schema.ModeMnl, "r1")
	})
}

func TestMalformedRequestIsRefusedWithAPointer(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#"))
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		for _, c := range []struct{ payload, pointer string }{
			{`{"id":"k1","args":{"mode":7}}`, "/args/mode"},
			{`{"id":"k2","args":{"mode":"ato","speed":1}}`, "/args/speed"},
			{`{"id":"k3","arguments":{"mode":"ato"}}`, "/arguments"},
		} {
			ack := w.request("op1", "r1", "mode/set", c.payload)
			if ack.Status != schema.StatusRejected || ack.Reason != schema.ReasonBadRequest || ack.Pointer != c.pointer {
				w.t.Errorf("%s: answer %s, want %s", c.payload, jsonText(ack), c.pointer)
			}
		}
		ack := w.request("op1", "r1", "mode/set", `{"args":{"mode":"ato"`)
		if ack.Status != schema.StatusRejected || ack.Reason != schema.ReasonBadRequest || ack.ID != nil || ack.Detail == "" {
			w.t.Errorf("broken JSON: answer %s", jsonText(ack))
		}
		w.expectStillIn(schema.ModeMnl, "r1")
	})
}

func TestAtoWithoutStoryIsRefusedAndManualModeGoesOn(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		ack := w.request("op1", "r1", "mode/set", "ato")
		if ack.Status != schema.StatusRejected || ack.Result != schema.ResultNotReady || ack.Reason != schema.ReasonNoDefaultStory {
			w.t.Errorf("answer %s", jsonText(ack))
		}
		w.expectStillIn(schema.ModeMnl, "r1")
		// The document modes says so before a request.
		awaitDocument(w, robotTopic("r1", "modes"), "the modes to say why not", func(m schema.Modes) bool {
			for _, mode := range m.Modes {
				if mode.ID == schema.ModeAto {
					return !mode.Selectable && len(mode.WhyNot) > 0 && mode.WhyNot[0].Reason == schema.ReasonNoDefaultStory
				}
			}
			return false
		})
	})
}

// expectStillIn checks that a robot that refused something has not left its mode,
// not even for a moment.
func (w *world) expectStillIn(mode schema.ModeID, rid string) {
	w.t.Helper()
	// A ping is answered after all commands before it.
	w.mustRequest("op1", rid, "sys/ping", "")
	w.awaitState(rid, "in "+string(mode), func(s schema.State) bool {
		return s.Mode.Active == mode && s.Mode.Intended == mode && s.Mode.Phase == schema.PhaseRunning
	})
	for _, m := range w.observer.since(0, robotTopic(rid, "event")) {
		e, problems := schema.Decode[schema.Event]([]byte(m.Payload))
		if len(problems) == 0 && e.Type == "mode_changed" && strings.Contains(string(e.Data), `"to":"ato"`) {
			w.t.Errorf("%s was in ato: %s", rid, m)
		}
	}
}

func TestPausedTwiceAndContinuedOnceIsPaused(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.performStory("r1", "tale", "tell", "nod")
		w.mustRequest("op1", "r1", "auto/pause", "visitors")
		w.mustRequest("op1", "r1", "auto/pause", "cleaning")
		w.awaitState("r1", "paused twice", func(s schema.State) bool { return s.Auto.Status == schema.AutoPaused && s.Auto.PauseCount == 2 })
		w.mustRequest("op1", "r1", "auto/continue", "")
		w.awaitState("r1", "still paused", func(s schema.State) bool { return s.Auto.Status == schema.AutoPaused && s.Auto.PauseCount == 1 })
		w.mustRequest("op1", "r1", "auto/continue", "")
		w.awaitState("r1", "performing again", func(s schema.State) bool { return s.Auto.Status == schema.AutoPerforming && s.Auto.PauseCount == 0 })
	})
}

func TestStopWithAnyPayloadStops(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#"))
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		for _, client := range []string{"op1", "stop1"} {
			w.mustRequest("op1", "r1", "safety/enable", "")
			w.awaitState("r1", "ENABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled })
			ack := w.request(client, "r1", "safety/stop", "{{{")
			if ack.Status != schema.StatusSucceeded {
				w.t.Errorf("%s: answer %s", client, jsonText(ack))
			}
			w.awaitState("r1", "DISABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyDisabled })
		}
	})
}

func TestStoryWithMotionWaitsForEnable(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitActiveStory("r1", w.setDesiredStory("r1", 1, "glance", "look"))
		w.mustRequest("op1", "r1", "mode/set", "ato")
		w.awaitState("r1", "paused by safety", func(s schema.State) bool {
			return s.Auto.Status == schema.AutoPaused && len(s.Auto.PauseHolders) == 1 && s.Auto.PauseHolders[0].Token == "safety"
		})
		w.mustRequest("op1", "r1", "safety/enable", "")
		w.awaitState("r1", "performing", func(s schema.State) bool {
			return s.Auto.Status == schema.AutoPerforming && s.Safety.State == schema.SafetyEnabled
		})
		w.awaitState("r1", "in its second round", func(s schema.State) bool { return s.Auto.Loop >= 1 })
	})
}

func TestRetainedCommandIsNotExecutedOnAnyBroker(t *testing.T) {
	runIn(t, []variant{mosquitto}, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#"))
		w.publish("op1", robotTopic("r1", "cmd/op1/mode/set"), "str", "-r")
		mark := w.observer.mark()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		awaitDocumentAfter(w, mark, robotTopic("r1", "ack/op1"), "the refusal", func(a schema.Ack) bool {
			return a.Status == schema.StatusRejected && a.Reason == schema.ReasonRetainedCommand
		})
		w.awaitState("r1", "in mnl with an alert", func(s schema.State) bool {
			for _, a := range s.Alerts {
				if a.Type == string(schema.ReasonRetainedCommand) {
					return s.Mode.Active == schema.ModeMnl
				}
			}
			return false
		})
	})
}

func TestOnlyStartUpModeRunsBeforeCalibration(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobot("r1", "homing.yaml")
		w.awaitState("r1", "calibrating", func(s schema.State) bool { return s.Mode.Active == schema.ModeStr && !s.Mode.Calibrated })
		for _, mode := range []string{"ato", "mnl"} {
			ack := w.request("op1", "r1", "mode/set", mode)
			if ack.Status != schema.StatusRejected || ack.Result != schema.ResultNoCalib || ack.Reason != schema.ReasonNotCalibrated {
				w.t.Errorf("%s: answer %s", mode, jsonText(ack))
			}
		}
		w.awaitState("r1", "still calibrating", func(s schema.State) bool { return s.Mode.Active == schema.ModeStr })
		// Calibration moves the robot, so it waits until an operator enables it.
		w.mustRequest("op1", "r1", "safety/enable", "")
		w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
	})
}
