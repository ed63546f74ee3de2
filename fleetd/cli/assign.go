package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/schema"
)

func (sh *shell) awaitReverted(ctx context.Context, done api.Reverted, wait time.Duration) error {
	revertedLines(sh, sh.Err, done)
	var robots []string
	for _, to := range done.To {
		robots = append(robots, to.Robots...)
	}
	return sh.awaitConvergence(ctx, robots, wait)
}

func revertedLines(_ *shell, w io.Writer, d api.Reverted) {
	word := "back to"
	if d.DryRun {
		word = "would go back to"
	}
	for _, to := range d.To {
		what := "no default story"
		if to.Story != "" {
			what = fmt.Sprintf("story %s revision %d", to.Story, to.Rev)
		}
		fmt.Fprintf(w, "%s %s %s: %s\n", countText(len(to.Robots), "robot"), word, what, cell(strings.Join(to.Robots, " ")))
	}
	for _, k := range d.Skipped {
		fmt.Fprintf(w, "%s keeps what it has: %s\n", k.Robot, k.Detail)
	}
	pinnedLine(w, d.Pinned, d.DryRun)
}

func (sh *shell) awaitAssigned(ctx context.Context, done api.Assigned, wait time.Duration) error {
	assignedLines(sh, sh.Err, done)
	return sh.awaitConvergence(ctx, slices.Concat(done.Updated, done.Unchanged), wait)
}

func assignedLines(_ *shell, w io.Writer, d api.Assigned) {
	word := "updated"
	if d.DryRun {
		word = "would be updated"
	}
	what := fmt.Sprintf("story %s revision %d", d.Story, d.Rev)
	if d.Story == "" {
		what = "no default story"
	}
	fmt.Fprintf(w, "%s: %s %s, %d unchanged\n", what, countText(len(d.Updated), "robot"), word, len(d.Unchanged))
	misfitLines(w, d.Misfits)
	pinnedLine(w, d.Pinned, d.DryRun)
}

// pinnedLine says which robots keep what a person gives them, although a policy says otherwise.
func pinnedLine(w io.Writer, robots []string, dryRun bool) {
	word := "is pinned now"
	switch {
	case dryRun:
		word = "would be pinned"
	case len(robots) > 1:
		word = "are pinned now"
	}
	if len(robots) > 0 {
		fmt.Fprintf(w, "policies say otherwise for %s, which %s: %s; fleetd pin remove ROBOT KIND ends that\n", countText(len(robots), "robot"),
			word, cell(strings.Join(robots, " ")))
	}
}

// countText formats a number of things: 1 robot, 2 robots.
func countText(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// awaitConvergence waits until each of these robots has its desired story or has refused it. It
// names the robots, since a selector such as --in-mode may not match them any more once they have it.
func (sh *shell) awaitConvergence(ctx context.Context, robots []string, wait time.Duration) error {
	if len(robots) == 0 {
		return nil
	}
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	line := sh.progress("the story is accepted", "robots")
	defer line.clear()
	var got robotList
	for over := false; !over; {
		got = robotList{} // json.Unmarshal keeps fields that the answer omits
		if err := sh.do(ctx, "list-robots", given{"id": robots}, &got); err != nil {
			return err
		}
		decided := 0
		for _, r := range got.Robots {
			if r.Desired.Converged || hasRefused(r.Desired) {
				decided++
			}
		}
		line.show(decided, len(got.Robots))
		if decided == len(got.Robots) {
			break
		}
		select {
		case <-until.Done():
			over = true
		case <-time.After(pollInterval):
		}
	}
	line.clear()
	if err := sh.show(got, func(w io.Writer) { convergenceTable(w, got.Robots) }); err != nil {
		return err
	}
	sh.noteNotPerforming(got.Robots)
	well, refused := 0, 0
	for _, r := range got.Robots {
		switch {
		case r.Desired.Converged:
			well++
		case hasRefused(r.Desired):
			refused++
		}
	}
	return decided(well, refused, len(got.Robots))
}

// hasRefused reports whether the robot has refused the present desired story for good. A
// robot of another fleet refuses everything, and reports no revision of this fleet.
func hasRefused(w view.DesiredStory) bool {
	return !w.Converged && w.Reason == schema.ReasonWrongFleet ||
		w.ReportedRev == w.DesiredRev && (w.Phase == schema.DeployRejected || w.Phase == schema.DeployRolledBack)
}

func convergenceTable(out io.Writer, robots []view.Robot) {
	writeTable(out, "ROBOT\tPRESENCE\tHAS\tDESIRED\tBECAUSE", robots, func(r view.Robot) []any {
		has := "-"
		if r.Desired.Active != nil {
			has = fmt.Sprintf("%s@%d", r.Desired.Active.ID, r.Desired.Active.Rev)
		}
		if len(r.Desired.Pruned) > 0 {
			has += " without " + strings.Join(r.Desired.Pruned, ", ")
		}
		desired, why := orElse(convergenceText(r.Desired), "fulfilled"), dash(inCommands(r.Desired.Detail, r.ID))
		if hasRefused(r.Desired) && r.Desired.Active != nil && r.Desired.Reason != schema.ReasonWrongFleet {
			why = strings.TrimPrefix(why+"; fleetd story revert "+r.ID+" takes it back", "-; ")
		}
		if r.Desired.Converged && r.Desired.Story != nil && r.Auto == schema.AutoStopped {
			desired, why = needsStart, "stopped: fleetd auto start "+r.ID
		}
		if r.Desired.Converged && len(r.Latches) > 0 {
			why = latchedText(r)
		}
		if d := r.Desired; d.Phase == schema.DeployWaiting && d.ReportedRev == d.DesiredRev && d.Reason == "" && d.Detail == "" {
			why = waitsForAct
		}
		return []any{r.ID, r.Presence.Status, has, desired, why}
	})
}
