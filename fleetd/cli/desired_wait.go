package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/desired"
	"troupe/schema"
)

// progressOf returns how far a robot is with the newest revision of a desired document.
func progressOf(w api.DesiredState) desired.Progress {
	document, _ := schema.Decode[struct {
		Rev     int64  `json:"rev"`
		FleetID string `json:"fleet_id"`
	}](w.Desired)
	return desired.ProgressOf(document.FleetID, document.Rev, w.Reported, w.Overtaken)
}

// hasDecided reports whether a robot has accepted or refused its desired document for good. It
// tries again what it could not fetch or save, but does not begin a mode again that did not start.
func hasDecided(w api.DesiredState) bool {
	p := progressOf(w)
	triesAgain := p.Phase == schema.DeployFailed && w.Topic != string(schema.TopicDesiredMode)
	return p.Outcome != desired.Undecided && !triesAgain
}

// robotDesired is one desired document of a robot.
type robotDesired struct {
	Robot string `json:"robot"`
	api.DesiredState
}

// awaitDesired waits until each robot has accepted or refused its desired document, and
// shows what it reported.
func (sh *shell) awaitDesired(ctx context.Context, topic string, robots []string, wait time.Duration) error {
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	line := sh.progress("reported", "robots")
	defer line.clear()
	slices.Sort(robots)
	all := make([]robotDesired, len(robots))
	for over := false; !over; {
		open := 0
		for i, id := range robots {
			if all[i].Robot != "" && hasDecided(all[i].DesiredState) {
				continue
			}
			all[i].Robot = id
			var list api.DesiredList
			if err := sh.do(ctx, "get-desired", given{"id": id}, &list); err != nil {
				return err
			}
			if j := slices.IndexFunc(list.Desired, func(w api.DesiredState) bool { return w.Topic == topic }); j >= 0 {
				all[i].DesiredState = list.Desired[j]
			}
			if !hasDecided(all[i].DesiredState) {
				open++
			}
		}
		line.show(len(robots)-open, len(robots))
		if open == 0 {
			break
		}
		select {
		case <-until.Done():
			over = true
		case <-time.After(pollInterval):
		}
	}
	line.clear()
	if err := sh.show(map[string]any{"desired": all}, func(out io.Writer) {
		t := newTable(out)
		defer t.Flush()
		fmt.Fprintln(t, "ROBOT\tREVISION\tREPORTED\tBECAUSE")
		for _, r := range all {
			line := desiredLine(r.DesiredState)
			writeRow(t, r.Robot, line[1], line[3], line[4])
		}
	}); err != nil {
		return err
	}
	count := map[desired.Outcome]int{}
	for _, r := range all {
		count[progressOf(r.DesiredState).Outcome]++
	}
	switch {
	case count[desired.Accepted] == len(all):
		return nil
	case count[desired.Accepted] > 0:
		return &failure{code: exitPartial}
	case count[desired.Refused] == len(all):
		return &failure{code: exitError}
	}
	return &failure{code: exitTimeout}
}
