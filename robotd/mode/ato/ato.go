// Package ato is the automatic mode: the robot performs its story.
package ato

import (
	"troupe/robotd/mode"
	"troupe/schema"
)

// Mode is the row of the mode.
var Mode = mode.Installed{
	Settings: mode.DefaultSettings(schema.ModeAto), Name: "automatic", Performs: true,
	Ready: func(h *mode.Host) mode.Refusal { return h.Story },
	New:   func() mode.Mode { return &automatic{} },
}

type automatic struct {
	mode.Plain
	entering bool // whether the story can be performed is not known yet
}

func (a *automatic) Start(h *mode.Host) {
	a.entering = true
	h.Do(mode.BeginStory{})
}

func (a *automatic) Stop(h *mode.Host) {
	h.Do(mode.EndStory{})
	h.Stopped()
}

func (a *automatic) Kill(h *mode.Host) { h.Do(mode.EndStory{}) }

func (a *automatic) Step(h *mode.Host, n mode.Notice) {
	entered, ok := n.(mode.StoryAnswered)
	switch {
	case !ok || !a.entering:
	case entered.Reason != "":
		h.StartFailed(entered.Refusal)
	default:
		a.entering = false
		h.Started()
	}
}
