package cli

import (
	"strings"
	"testing"

	"troupe/fleetd/view"
	"troupe/schema"
)

func TestRobotThatHasItsStoryAndDoesNotPerformSaysWhyAndTheWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*view.Robot)
		want   string
	}{
		"performing":     {func(*view.Robot) {}, ""},
		"without motion": {func(r *view.Robot) { r.Safety = schema.SafetyDisabled }, ""},
		"offline":        {func(r *view.Robot) { r.Safety, r.Presence.Status = schema.SafetyEStop, "offline" }, ""},
		"latched":        {func(r *view.Robot) { r.Safety, r.Latches = schema.SafetyEStop, []schema.StopLatch{{ID: "s-1"}} }, ""},
		"withdrawn":      {func(r *view.Robot) { r.Safety, r.Desired.Story = schema.SafetyEStop, nil }, ""},
		"not converged":  {func(r *view.Robot) { r.Safety, r.Desired.Converged = schema.SafetyEStop, false }, ""},
		"E_STOP": {func(r *view.Robot) { r.Safety = schema.SafetyEStop },
			"E_STOP; fleetd safety reset r1, then fleetd safety enable r1, then fleetd auto continue r1"},
		"DISABLED": {func(r *view.Robot) {
			r.Safety, r.PauseHolders = schema.SafetyDisabled, []schema.Pause{{Token: "safety", Why: "safety_disabled"}}
		}, "DISABLED; fleetd safety enable r1"},
		"its cause is gone": {func(r *view.Robot) {
			r.PauseHolders = []schema.Pause{{Token: "safety", Why: string(schema.ReasonNeedsContinue)}}
		}, "paused; fleetd auto continue r1"},
		"paused by a person": {func(r *view.Robot) { r.PauseHolders = []schema.Pause{{Token: "operator:fleetd/ann/2", By: "ann"}} },
			"paused by ann; fleetd auto continue r1 --token operator:fleetd/ann/2"},
		"paused by an interrupt": {func(r *view.Robot) { r.PauseHolders = []schema.Pause{{Token: "interrupt:1"}} }, ""},
		"in mnl":                 {func(r *view.Robot) { r.Mode = schema.ModeMnl }, "mnl (manual); fleetd mode set ato r1"},
		"in mnl, DISABLED": {func(r *view.Robot) { r.Mode, r.Safety = schema.ModeMnl, schema.SafetyDisabled },
			"DISABLED, mnl (manual); fleetd safety enable r1, then fleetd mode set ato r1"},
		"on its way to ato": {func(r *view.Robot) { r.Mode, r.Intended = schema.ModeStr, schema.ModeAto }, ""},
	} {
		r := view.Robot{ID: "r1", Mode: schema.ModeAto, Safety: schema.SafetyEnabled, Auto: schema.AutoPerforming}
		r.Presence.Status, r.Desired.Converged, r.Desired.Story = "online", true, &schema.StoryRef{ID: "tour", Rev: 1}
		c.change(&r)
		if got := strings.ReplaceAll(notPerformingText(r), robotsInText, "r1"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestRobotsThatDoNotPerformForOneReasonAreOneLine(t *testing.T) {
	var all []view.Robot
	for _, id := range []string{"r1", "r2", "r3"} {
		r := view.Robot{ID: id, Mode: schema.ModeMnl, Safety: schema.SafetyEnabled}
		r.Presence.Status, r.Desired.Converged, r.Desired.Story = "online", true, &schema.StoryRef{ID: "tour", Rev: 1}
		all = append(all, r)
	}
	all[1].Mode, all[1].Safety = schema.ModeAto, schema.SafetyEStop
	var errs strings.Builder
	sh := &shell{Streams: Streams{Err: &errs}}
	sh.noteNotPerforming(all)
	const want = "r1, r3: the story is there and is not performed: mnl (manual); fleetd mode set ato r1 r3\n" +
		"r2: the story is there and is not performed: E_STOP; fleetd safety reset r2, then fleetd safety enable r2, then fleetd auto " +
		"continue r2\n"
	if errs.String() != want {
		t.Errorf("%swant\n%s", &errs, want)
	}
}
