package brain

import "troupe/robotd/driver"

// chosen records that a person chose what a screen offered. It comes before the executor
// forgets the command.
func (t *step) chosen(ev driver.Event) {
	if ev.Name == "" {
		return
	}
	if act, action, req, ok := t.lanes.Running(ev.Key); ok {
		t.signals.Chosen(t.now.Mono, ev.Name)
		t.recordEvent("screen_choice", "screen", ev.Name, req, choice{act, action, ev.Name})
	}
}

type choice struct {
	Act    string `json:"act"`
	Action string `json:"action"`
	Choice string `json:"choice"`
}
