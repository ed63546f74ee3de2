package e2e

import (
	"strings"
	"testing"

	"troupe/schema"
)

// simInput plays a fault or signal into a robot's simulated body.
func (w *world) simInput(rid, name, fields string) {
	w.t.Helper()
	w.publish("admin", robotTopic(rid, "sim/"+name), fields)
}

func unitOf(s schema.State, id string) schema.UnitState {
	for _, u := range s.Units {
		if u.ID == id {
			return u
		}
	}
	return schema.UnitState{}
}

// awaitEvent waits for an event of the robot after the mark.
func (w *world) awaitEvent(mark int, rid, what string, holds func(schema.Event) bool) schema.Event {
	w.t.Helper()
	return awaitDocumentAfter(w, mark, robotTopic(rid, "event"), what, holds)
}

func TestOnlyAdministratorsPlayFaultsIntoRobotsThatTakeThem(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		for _, rid := range []string{"r1", "r2"} {
			w.recorder.Allow(robotTopic(rid, "sim/#"))
		}
		w.runRobot("r1", "", "--sim-faults")
		w.runRobotsIn(schema.ModeMnl, "", "r2")
		w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
		mark := w.observer.mark()
		w.publish("op1", robotTopic("r1", "sim/battery"), `{"level":0.11}`)
		w.simInput("r2", "battery", `{"level":0.12}`)
		for payload, pointer := range map[string]string{`{"level":15}`: "/level", `{"charge":0.15}`: "/charge", `{}`: "/level", `15 %`: "/"} {
			before := w.observer.mark()
			w.simInput("r1", "battery", payload)
			e := w.awaitEvent(before, "r1", "the refusal of "+payload, func(e schema.Event) bool { return e.Type == "sim_refused" })
			if !strings.Contains(string(e.Data), `"detail":"`+pointer+": ") {
				w.t.Errorf("%s: %s", payload, e.Data)
			}
		}
		w.simInput("r1", "break", `{"unit":"tail","what":"lost"}`)
		w.awaitEvent(mark, "r1", "the refusal of a unit that it lacks", func(e schema.Event) bool {
			return e.Type == "sim_refused" && strings.Contains(string(e.Data), "there is no unit tail; the units are battery, drive, face, head")
		})
		w.simInput("r1", "battery", `{"level":0.15}`)
		w.awaitEvent(mark, "r1", "the input", func(e schema.Event) bool {
			return e.Type == "sim_input" && strings.Contains(string(e.Data), `{"name":"battery","fields":{"level":0.15}}`)
		})
		w.awaitState("r1", "at 15 %", func(s schema.State) bool { return strings.HasPrefix(unitOf(s, "battery").Detail, "15 %") })
		w.mustRequest("op1", "r2", "sys/ping", "")
		for _, m := range w.observer.since(mark, robotTopic("r1", "event")) {
			if strings.Contains(m.Payload, "0.11") {
				w.t.Errorf("an operator's input was taken: %s", m)
			}
		}
		for _, m := range w.observer.since(mark, robotTopic("r2", "event")) {
			if strings.Contains(m.Payload, `"sim_`) {
				w.t.Errorf("a robot without --sim-faults took an input: %s", m)
			}
		}
	})
}
