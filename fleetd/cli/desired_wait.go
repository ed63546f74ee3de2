package cli

import (
	"context"
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
		writeTable(out, "ROBOT\tREVISION\tREPORTED\tBECAUSE", all, func(r robotDesired) []any {
			line := desiredLine(r.DesiredState)
			return []any{r.Robot, line[1], line[3], line[4]}
		})
	}); err != nil {
		return err
	}
	count := map[desired.Outcome]int{}
	for _, r := range all {
		count[progressOf(r.DesiredState).Outcome]++
	}
	return decided(count[desired.Accepted], count[desired.Refused], len(all))
}

// decided is how a command ends that waited until robots accept or refuse something.
func decided(accepted, refused, all int) error {
	switch {
	case accepted == all:
		return nil
	case accepted > 0:
		return &failure{code: exitPartial}
	case refused == all:
		return &failure{code: exitError}
	}
	return &failure{code: exitTimeout}
}
