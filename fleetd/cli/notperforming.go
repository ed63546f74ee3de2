package cli

import (
	"fmt"
	"slices"
	"strings"

	"troupe/fleetd/presence"
	"troupe/fleetd/view"
	"troupe/schema"
)

// noteNotPerforming prints which robots have their story and do not perform it, why, and what
// leads out, those with the same reason in one line. The table has said so already of a latched
// stop and of a story that was stopped.
func (sh *shell) noteNotPerforming(robots []view.Robot) {
	var order []string
	alike := map[string][]string{}
	for _, r := range robots {
		text := notPerformingText(r)
		if text == "" {
			continue
		}
		if alike[text] == nil {
			order = append(order, text)
		}
		alike[text] = append(alike[text], r.ID)
	}
	for _, text := range order {
		ids, names := alike[text], strings.Join(alike[text], " ")
		if len(ids) > maxNotes {
			names = "ROBOT..."
			fmt.Fprintf(sh.Err, "%d robots", len(ids))
		} else {
			fmt.Fprint(sh.Err, strings.Join(ids, ", "))
		}
		fmt.Fprintln(sh.Err, ": the story is there and is not performed: "+strings.ReplaceAll(text, robotsInText, names))
	}
}

// robotsInText stands for the names of the robots in a command.
const robotsInText = "\x00"

// notPerformingText says why a robot that has its story does not perform it, with the commands
// that lead out, in which robotsInText is the robot; empty = it does, or will by itself.
func notPerformingText(r view.Robot) string {
	if !r.Desired.Converged || r.Desired.Story == nil || len(r.Latches) > 0 || r.Auto == schema.AutoStopped ||
		!presence.Status(r.Presence.Status).Reachable() {
		return ""
	}
	const reset, enable, resume = "fleetd safety reset " + robotsInText, "fleetd safety enable " + robotsInText, "fleetd auto continue " +
		robotsInText
	var why, steps []string
	inAto := r.Mode == schema.ModeAto || r.Intended == schema.ModeAto
	pausedBy := func(found func(schema.Pause) bool) bool { return slices.ContainsFunc(r.PauseHolders, found) }
	switch {
	case r.Safety == schema.SafetyEStop:
		why, steps = append(why, string(r.Safety)), append(steps, reset, enable)
	case r.Safety == schema.SafetyDisabled && (!inAto || pausedBy(func(p schema.Pause) bool { return p.Token == "safety" })):
		why, steps = append(why, string(r.Safety)), append(steps, enable)
	}
	switch {
	case !inAto:
		why, steps = append(why, longModeText(r)), append(steps, "fleetd mode set ato "+robotsInText)
	case r.Safety == schema.SafetyEStop || pausedBy(needsContinue):
		if steps = append(steps, resume); len(why) == 0 {
			why = append(why, "paused")
		}
	}
	for _, p := range r.PauseHolders {
		if inAto && strings.HasPrefix(p.Token, "operator:") {
			why, steps = append(why, "paused by "+holder(p)), append(steps, resume+" --token "+p.Token)
		}
	}
	if len(steps) == 0 {
		return ""
	}
	return strings.Join(why, ", ") + "; " + strings.Join(steps, ", then ")
}
