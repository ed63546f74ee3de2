// Package ato is the automatic mode: the robot performs its story.
package ato

import (
	"troupe/robotd/mode"
	"troupe/schema"
)

// Mode is the row of the mode.
var Mode = mode.Installed{
	Settings: mode.DefaultSettings(schema.ModeAto), Name: "automatic", Performs: true,
	Ready: func(h *mode.Host) mode.Refusal { return h.NoStory },
	New:   func() mode.Mode { return &automatic{} },
}

type automatic struct {
	mode.Plain
	awaitsStory bool // BeginStory is not answered yet
}

func (a *automatic) Start(h *mode.Host) {
	a.awaitsStory = true
	h.Do(mode.BeginStory{})
}

func (a *automatic) Stop(h *mode.Host) {
	h.Do(mode.EndStory{})
	h.Stopped()
}

func (a *automatic) Kill(h *mode.Host) { h.Do(mode.EndStory{}) }

func (a *automatic) Step(h *mode.Host, n mode.Notice) {
	answer, ok := n.(mode.StoryAnswered)
	switch {
	case !ok || !a.awaitsStory:
	case answer.Reason != "":
		h.StartFailed(answer.Refusal)
	default:
		a.awaitsStory = false
		h.Started()
	}
}
