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
	counts, total := map[RobotState]int{}, 0
	for _, w := range r.Waves[:r.Wave+1] {
		for state, n := range w.Counts {
			if state.Open() {
				counts[state] += n
				total += n
			}
		}
	}
	var parts []string
	for _, of := range []struct {
		state RobotState
		what  string
	}{
		{Planned, "to be offered the content"},
		{Offered, "offered the content"},
		{Active, "watched for the soak"},
		{Deferred, "until a window, the end of the performance, or the next try"},
		{WaitingOffline, "not reachable"},
		{Restoring, "offered what they had before"},
	} {
		if n := counts[of.state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, of.what))
		}
	}
	text := "it waits for "
	if total > 0 {
		text += robotsText(total) + ": " + strings.Join(parts, ", ")
	}
	switch w := r.Waves[r.Wave]; {
	case r.State == Running && w.State == WaveSoaking && total > 0:
		return text + fmt.Sprintf("; and for the soak of wave %q", w.Name)
	case r.State == Running && w.State == WaveSoaking:
		return text + fmt.Sprintf("the soak of wave %q", w.Name)
	case total == 0:
		return text + "the next step of fleetd"
	}
	return text
}
