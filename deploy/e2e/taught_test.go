package e2e

import (
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

// TestRobotIsTaughtAnActAndAPoint records an act manually, and performs it after a restart of
// robotd.
func TestRobotIsTaughtAnActAndAPoint(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.mustRequest("op1", "r1", "safety/enable", "")
		w.mustRequest("op1", "r1", "control/acquire", `{"args":{"ttl_ms":60000}}`)
		w.mustRequest("op1", "r1", "manual/goto", `{"args":{"x_m":-0.7,"y_m":0}}`)
		mark := w.observer.mark()
		w.mustRequest("op1", "r1", "manual/point-save", "window")
		awaitDocumentAfter(w, mark, robotTopic("r1", "caps"), "the taught point", func(c schema.Caps) bool {
			return slices.Contains(c.Points, "window") && len(c.TaughtPoints) == 1 && c.TaughtPoints[0].XM > -0.75 && c.TaughtPoints[0].XM < -0.65
		})

		w.mustRequest("op1", "r1", "manual/act-record", `{"args":{"do":"start","act":"my-bow","name":"My bow"}}`)
		w.awaitState("r1", "recording", func(s schema.State) bool {
			return s.Recording != nil && s.Recording.Act == "my-bow" && s.Recording.Holder == "op1"
		})
		w.mustRequest("op1", "r1", "manual/face", "smile")
		w.mustRequest("op1", "r1", "manual/head-motion", "nod")
		w.mustRequest("op1", "r1", "manual/say", "Hi")
		mark = w.observer.mark()
		if a := w.mustRequest("op1", "r1", "manual/act-record", "stop"); !strings.Contains(a.Detail, "actions of my-bow: 3") {
			t.Errorf("the recording was answered %s", jsonText(a))
		}
		awaitDocumentAfter(w, mark, robotTopic("r1", "acts"), "the taught act", func(a schema.Acts) bool {
			return slices.Equal(a.Acts, []schema.ActRef{{ID: "my-bow", Rev: 1, Name: "My bow"}})
		})

		w.robots["r1"].kill()
		mark = w.observer.mark()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		awaitDocumentAfter(w, mark, robotTopic("r1", "acts"), "the taught act after the restart", func(a schema.Acts) bool { return len(a.Acts) == 1 })
		w.mustRequest("op1", "r1", "safety/enable", "")
		w.mustRequest("op1", "r1", "control/acquire", `{"args":{"ttl_ms":60000}}`)
		w.mustRequest("op1", "r1", "manual/act", "my-bow")
		w.mustRequest("op1", "r1", "manual/goto", "window")
		w.awaitState("r1", "done with the act", func(s schema.State) bool {
			return len(s.Queue.Completed) > 0 && s.Queue.Completed[0] == "my-bow"
		})
		w.mustRequest("op1", "r1", "manual/act-delete", "my-bow")
		if a := w.request("op1", "r1", "manual/act", "my-bow"); a.Reason != schema.ReasonUnknownID {
			t.Errorf("the deleted act was answered %s", jsonText(a))
		}
		w.mustRequest("op1", "r1", "manual/point-delete", "window")
		if a := w.request("op1", "r1", "manual/goto", "window"); a.Reason != schema.ReasonOutOfRange {
			t.Errorf("the deleted point was answered %s", jsonText(a))
		}
	})
}
