package rollout

import (
	"fmt"
	"strings"
)

// Waits says what an open rollout waits for; empty if it is over.
func (r Rollout) Waits() string {
	switch r.State {
	case Draft, WaitingForApproval:
		return "a second person has to approve it"
	case Ready:
		return "a person has to start it"
	case Scheduled:
		return "its time has not come"
	case Paused:
		return "a person has to decide: " + r.Why
	case Running, RollingBack:
	case Aborted:
		if !r.EndedAt.IsZero() {
			return ""
		}
	default:
		return ""
	}
	counts := map[RobotState]int{}
	for _, w := range r.Waves[:min(r.Wave+1, len(r.Waves))] {
		for state, n := range w.Counts {
			counts[state] += n
		}
	}
	var parts []string
	for _, of := range []struct {
		state RobotState
		what  string
	}{
		{Planned, "to be offered the content"},
		{Offered, "that were offered the content"},
		{Active, "that are watched for the soak"},
		{Deferred, "for a window, for the end of their performance, or for the next try"},
		{WaitingOffline, "that are not reachable"},
		{Restoring, "to report what they had before"},
	} {
		if n := counts[of.state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", robotsText(n), of.what))
		}
	}
	if w := r.Waves[r.Wave]; r.State == Running && w.State == WaveSoaking {
		parts = append(parts, fmt.Sprintf("the soak of wave %q", w.Name))
	}
	if len(parts) == 0 {
		return "the next step of fleetd"
	}
	return "it waits for " + strings.Join(parts, ", for ")
}
