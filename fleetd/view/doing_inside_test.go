package view

import (
	"testing"

	"troupe/fleetd/selector"
	"troupe/schema"
)

func TestDoing(t *testing.T) {
	performing := Robot{
		Adopted: true, Presence: Presence{Status: "online"}, Mode: schema.ModeAto, ModePhase: schema.PhaseRunning, Safety: schema.SafetyEnabled,
		Auto: schema.AutoPerforming, Story: &schema.StoryRef{ID: "show"},
	}
	holder := func(token string) []schema.Pause { return []schema.Pause{{Token: token}} }
	greeting := &Life{Focused: "greet"}
	for _, c := range []struct {
		name string
		do   func(r *Robot)
		want selector.Doing
	}{
		{"its story", func(*Robot) {}, selector.Performing},
		{"a story of which every act fails", func(r *Robot) { r.FailedRounds = 1 }, selector.Failing},
		{"such a story, and paused", func(r *Robot) { r.FailedRounds, r.Auto = 1, schema.AutoPaused }, selector.Paused},
		{"lost, whatever it did last", func(r *Robot) { r.Presence.Status = "lost" }, selector.NotConnected},
		{"unknown to fleetd", func(r *Robot) { r.Presence.Status = "unknown" }, selector.NotConnected},
		{"asleep", func(r *Robot) { r.Presence.Status = "sleeping" }, selector.Asleep},
		{"of no fleet", func(r *Robot) { r.Adopted = false }, selector.NotAdopted},
		{"latched", func(r *Robot) {
			r.Latches, r.Safety = []schema.StopLatch{{ID: "stop-1"}}, schema.SafetyDisabled
		}, selector.WaitingForRelease},
		{"its input is pressed", func(r *Robot) { r.EStopInput, r.Safety = true, schema.SafetyEStop }, selector.StopInput},
		{"in E_STOP", func(r *Robot) { r.Safety = schema.SafetyEStop }, selector.NeedsReset},
		{"braking", func(r *Robot) { r.Safety = schema.SafetyHalt }, selector.Braking},
		{"resetting", func(r *Robot) { r.Safety = schema.SafetyReset }, selector.Resetting},
		{"disabled", func(r *Robot) { r.Safety = schema.SafetyDisabled }, selector.Disabled},
		{"no state yet", func(r *Robot) { r.Safety = "" }, selector.NotReported},
		{"changing its mode", func(r *Robot) { r.ModePhase = schema.PhaseSwitching }, selector.Switching},
		{"driven", func(r *Robot) {
			r.Mode, r.Auto, r.Control = schema.ModeMnl, schema.AutoNotActive, &schema.StateControl{Holder: "tablet"}
		}, selector.Manual},
		{"in manual mode without anybody", func(r *Robot) { r.Mode, r.Auto = schema.ModeMnl, schema.AutoNotActive }, selector.Undriven},
		{"starting", func(r *Robot) { r.Mode = schema.ModeStr }, selector.StartUp},
		{"in safe mode", func(r *Robot) { r.Mode = schema.ModeSafe }, selector.SafeMode},
		{"in a mode of its own", func(r *Robot) { r.Mode = "follow" }, selector.OtherMode},
		{"without a story", func(r *Robot) { r.Auto, r.Story = schema.AutoStopped, nil }, selector.NoStory},
		{"after its story", func(r *Robot) { r.Auto = schema.AutoStopped }, selector.StoryEnded},
		{"an activity without a story", func(r *Robot) { r.Auto, r.Story, r.Life = schema.AutoStopped, nil, greeting }, selector.Activity},
		{"an activity", func(r *Robot) {
			r.Auto, r.Life, r.PauseHolders = schema.AutoPaused, greeting, holder("activity:greet")
		}, selector.Activity},
		{"paused by a person during an activity", func(r *Robot) {
			r.Auto, r.Life, r.PauseHolders = schema.AutoPaused, greeting, holder("operator")
		}, selector.Paused},
		{"reacting", func(r *Robot) {
			r.Auto, r.Interrupts, r.PauseHolders = schema.AutoPaused, []schema.Interrupt{{Handler: "service"}}, holder("interrupt:1")
		}, selector.Interrupted},
		{"paused by safety", func(r *Robot) { r.Auto, r.PauseHolders = schema.AutoPaused, holder("safety") }, selector.PausedBySafety},
		{"paused by a person and by safety", func(r *Robot) {
			r.Auto, r.PauseHolders = schema.AutoPaused, append(holder("operator"), schema.Pause{Token: "safety"})
		}, selector.PausedBySafety},
		{"paused", func(r *Robot) { r.Auto, r.PauseHolders = schema.AutoPaused, holder("operator") }, selector.Paused},
	} {
		r := performing
		c.do(&r)
		if got := r.doing(); got != c.want {
			t.Errorf("a robot that is %s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestStoryState(t *testing.T) {
	show := &schema.StoryRef{ID: "show", Rev: 2}
	for _, c := range []struct {
		d    DesiredStory
		want selector.StoryState
	}{
		{DesiredStory{Converged: true}, selector.StoryNone},
		{DesiredStory{Story: show, Converged: true, Phase: schema.DeployActive}, selector.StoryCurrent},
		{DesiredStory{Story: show, Phase: schema.DeployFetching}, selector.StoryPending},
		{DesiredStory{Story: show, Phase: schema.DeployRejected}, selector.StoryRefused},
		{DesiredStory{Story: show, Reason: schema.ReasonStaleRevision}, selector.StoryRefused},
	} {
		if got := c.d.State(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.d, got, c.want)
		}
	}
}
