package report

import (
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// SimInput records an input of the simulated body in the history.
func (t Step) SimInput(ev event.SimInput) {
	if ev.Problem != nil {
		t.Event("sim_refused", "sim", "", "", effect.Described{ID: ev.Name, Reason: schema.ReasonBadRequest, Detail: ev.Problem.String()})
		return
	}
	t.Event("sim_input", "sim", "", "", simInput{ev.Name, ev.Fields})
}

type simInput struct {
	Name   string          `json:"name"`
	Fields schema.SimInput `json:"fields"`
}
