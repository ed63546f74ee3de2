package report

import (
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// SimInput records an input of the simulated body, or an entry of its scenario, in the history.
func (t Step) SimInput(ev event.SimInput) {
	if ev.Problem != nil {
		t.Event("sim_refused", "sim", "", "", effect.Described{ID: ev.Name, Reason: schema.ReasonBadRequest, Detail: ev.Problem.String()})
		return
	}
	if ev.Name == "" {
		t.Event("sim_scenario", "sim", "", "", ev.Scenario)
		return
	}
	t.Event("sim_input", "sim", "", "", simInput{ev.Name, ev.Fields, ev.Scenario})
}

type simInput struct {
	Name   string          `json:"name"`
	Fields schema.SimInput `json:"fields"`
	*event.Scenario
}
