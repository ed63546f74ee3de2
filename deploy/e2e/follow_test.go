package e2e

import (
	"strings"
	"testing"

	"troupe/schema"
)

// TestModesHaveParametersThatPeopleSet has a robot with the mode follow, and sets how fast its
// head turns.
func TestModesHaveParametersThatPeopleSet(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#"))
		w.runRobot("r1", "", "--modes", "follow")
		w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
		valueOf := func(m schema.Modes) string {
			for _, mode := range m.Modes {
				for _, p := range mode.Params {
					if mode.ID == "follow" && p.Name == "speed" && *p.Max == 1 && p.Purpose != "" {
						return string(p.Value)
					}
				}
			}
			return ""
		}
		speed := func(what, want string) {
			w.t.Helper()
			awaitDocument(w, robotTopic("r1", "modes"), what, func(m schema.Modes) bool { return valueOf(m) == want })
		}
		speed("the parameter with its default", "0.4")
		w.mustRequest("op1", "r1", "mode/param", `{"args":{"mode":"follow","name":"speed","value":1}}`)
		speed("the new value", "1")
		for payload, want := range map[string]string{
			`{"args":{"mode":"follow","name":"speed","value":7}}`:      "out_of_range /args/value a number from 0.05 to 1",
			`{"args":{"mode":"follow","name":"speed","value":"fast"}}`: "out_of_range /args/value a number from 0.05 to 1",
			`{"args":{"mode":"follow","name":"speeed","value":1}}`:     "bad_request /args/name it has speed, turn",
			`{"args":{"mode":"dance","name":"speed","value":1}}`:       "unknown_mode /args/mode the document modes lists them",
		} {
			parts := strings.SplitN(want, " ", 3)
			if a := w.request("op1", "r1", "mode/param", payload); a.Status != schema.StatusRejected || string(a.Reason) != parts[0] || a.Pointer != parts[1] || !strings.Contains(a.Detail, parts[2]) {
				t.Errorf("%s: %s", payload, jsonText(a))
			}
		}
		w.mustRequest("op1", "r1", "mode/set", "follow")
		w.robots["r1"].kill()
		mark := w.observer.mark()
		w.runRobot("r1", "", "--modes", "follow")
		awaitDocumentAfter(w, mark, robotTopic("r1", "modes"), "the value after a restart", func(m schema.Modes) bool { return valueOf(m) == "1" })
	})
}
