package view

import (
	"slices"
	"strings"

	"troupe/fleetd/presence"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// doing decides what a robot does now, the most important first: absence, stops, safety, mode,
// story.
func (r *Robot) doing() selector.Doing {
	switch s := presence.Status(r.Presence.Status); {
	case s == presence.Sleeping:
		return selector.Asleep
	case !s.Reachable():
		return selector.NotConnected
	case !r.Adopted:
		return selector.NotAdopted
	case len(r.Latches) > 0:
		return selector.WaitingForRelease
	case r.EStopInput:
		return selector.StopInput
	}
	switch r.Safety {
	case schema.SafetyEStop:
		return selector.NeedsReset
	case schema.SafetySoftStop, schema.SafetyStop, schema.SafetyHalt:
		return selector.Braking
	case schema.SafetyReset:
		return selector.Resetting
	case schema.SafetyDisabled:
		return selector.Disabled
	case "":
		return selector.NotReported
	}
	if r.ModePhase != "" && r.ModePhase != schema.PhaseRunning {
		return selector.Switching
	}
	switch r.Mode {
	case schema.ModeAto:
		return r.doingInAuto()
	case schema.ModeMnl:
		if r.Control == nil {
			return selector.Undriven
		}
		return selector.Manual
	case schema.ModeStr:
		return selector.StartUp
	case schema.ModeSafe:
		return selector.SafeMode
	}
	return selector.OtherMode
}

func (r *Robot) doingInAuto() selector.Doing {
	focused := r.Life != nil && r.Life.Focused != ""
	switch {
	case r.Auto == schema.AutoPerforming && r.FailedRounds > 0:
		return selector.Failing
	case r.Auto == schema.AutoPerforming:
		return selector.Performing
	case r.Auto == schema.AutoPaused && len(r.Interrupts) > 0:
		return selector.Interrupted
	case r.Auto == schema.AutoPaused && focused && r.pausedByActivityOnly():
		return selector.Activity
	case r.Auto == schema.AutoPaused && r.pausedBySafety():
		return selector.PausedBySafety
	case r.Auto == schema.AutoPaused:
		return selector.Paused
	case focused:
		return selector.Activity
	case r.Story == nil:
		return selector.NoStory
	}
	return selector.StoryEnded
}

// pausedBySafety reports whether a stop is among what pauses the story.
func (r *Robot) pausedBySafety() bool {
	return slices.ContainsFunc(r.PauseHolders, func(p schema.Pause) bool { return p.Token == "safety" })
}

// pausedByActivityOnly reports whether nothing but the focused activity pauses the story.
func (r *Robot) pausedByActivityOnly() bool {
	for _, p := range r.PauseHolders {
		if !strings.HasPrefix(p.Token, "activity:") {
			return false
		}
	}
	return true
}

// State is how far the robot is with its default story.
func (d *DesiredStory) State() selector.StoryState {
	switch {
	case d.Story == nil:
		return selector.StoryNone
	case d.Converged:
		return selector.StoryCurrent
	case d.Reason != "" || d.Phase == schema.DeployRejected || d.Phase == schema.DeployFailed || d.Phase == schema.DeployRolledBack:
		return selector.StoryRefused
	}
	return selector.StoryPending
}

// Selectable is the robot as selectors look at it.
func (r *Robot) Selectable() selector.Robot {
	s := selector.Robot{
		ID: r.ID, Labels: r.Labels, Doing: r.Doing, Mode: r.Mode, Presence: r.Presence.Status, StoryState: r.Desired.State(),
	}
	if r.Story != nil {
		s.Story = r.Story.ID
	}
	if r.Desired.Story != nil {
		s.Assigned = r.Desired.Story.ID
	}
	return s
}
