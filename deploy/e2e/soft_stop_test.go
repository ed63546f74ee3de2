package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"troupe/schema"
)

// awaitSafety waits for the event that the robot came from one safety state to another.
func (w *world) awaitSafety(mark int, rid string, from, to schema.SafetyState) schema.Event {
	w.t.Helper()
	return w.awaitEvent(mark, rid, string(from)+" to "+string(to), func(e schema.Event) bool {
		return e.Type == "safety_changed" && strings.Contains(string(e.Data), `"from":"`+string(from)+`","to":"`+string(to)+`"`)
	})
}

// TestSoftStopBringsTheHeadToRest soft-stops a robot whose head is turned; then, with a head that
// hangs, it ends the shutdown act early by safety/stop, and once by its time limit.
func TestSoftStopBringsTheHeadToRest(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "sim/#"))
		w.runRobot("r1", "", "--sim-faults")
		w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
		w.mustRequest("op1", "r1", "control/acquire", `{"args":{"ttl_ms":60000}}`)

		softStop := func() (mark int) {
			w.enable("r1")
			mark = w.observer.mark()
			w.mustRequest("op1", "r1", "safety/soft-stop", "closing time")
			w.awaitSafety(mark, "r1", schema.SafetyEnabled, schema.SafetySoftStop)
			return mark
		}
		atRest := func(mark int) { w.awaitSafety(mark, "r1", schema.SafetyStop, schema.SafetyDisabled) }

		w.enable("r1")
		w.mustRequest("op1", "r1", "manual/head", `{"args":{"yaw_rad":1}}`)
		mark := softStop()
		ended := w.awaitEvent(mark, "r1", "the end of the shutdown act", func(e schema.Event) bool {
			return e.Type == "act_ended" && strings.Contains(string(e.Data), `"heads-to-rest"`)
		})
		var took struct {
			Outcome string `json:"outcome"`
			MS      int64  `json:"ms"`
		}
		if err := json.Unmarshal(ended.Data, &took); err != nil || took.Outcome != "completed" || took.MS < 900 { // the head turns 1 rad/s
			w.t.Errorf("the shutdown act ended with %s", ended.Data)
		}
		if stop := w.awaitSafety(mark, "r1", schema.SafetySoftStop, schema.SafetyStop); stop.Seq < ended.Seq {
			w.t.Errorf("STOP is event %d, the end of the shutdown act %d", stop.Seq, ended.Seq)
		}
		atRest(mark)

		w.simInput("r1", "hang", `{"unit":"head","on":true}`)
		w.awaitEvent(mark, "r1", "the input", func(e schema.Event) bool { return e.Type == "sim_input" })
		mark = softStop()
		w.mustRequest("op1", "r1", "safety/stop", "")
		cut := w.awaitSafety(mark, "r1", schema.SafetySoftStop, schema.SafetyStop)
		began := w.awaitSafety(mark, "r1", schema.SafetyEnabled, schema.SafetySoftStop)
		if d := cut.TS - began.TS; d >= 5000 {
			w.t.Errorf("safety/stop ended the shutdown act after %d ms", d)
		}
		atRest(mark)

		mark = softStop()
		began = w.awaitSafety(mark, "r1", schema.SafetyEnabled, schema.SafetySoftStop)
		limit := w.awaitSafety(mark, "r1", schema.SafetySoftStop, schema.SafetyStop)
		if d := limit.TS - began.TS; d < 4900 {
			w.t.Errorf("a shutdown act that does not end was ended after %d ms", d)
		}
		atRest(mark)

		// A unit asks for a stop; the robot says once why it stands, and a refused enable
		// names the cause.
		mark = softStop()
		w.simInput("r1", "ask-stop", `{"unit":"drive","stop":"estop"}`)
		w.awaitSafety(mark, "r1", schema.SafetySoftStop, schema.SafetyEStop)
		w.awaitEvent(mark, "r1", "the sentence", func(e schema.Event) bool {
			return e.Type == "act_started" && strings.Contains(string(e.Data), `"why-estop"`)
		})
		ack := w.request("op1", "r1", "safety/enable", "")
		if ack.Status != schema.StatusRejected || ack.Reason != schema.ReasonNeedsReset || !strings.Contains(ack.Detail, "unit drive") || !strings.Contains(ack.Detail, "safety/reset") {
			w.t.Errorf("enable in E_STOP: %s", jsonText(ack))
		}
	})
}
