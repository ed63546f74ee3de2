package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/view"
	"troupe/schema"
)

// assignment are the flags of assign and withdraw.
type assignment struct {
	targets
	apply  string
	rev    int64
	why    string
	wait   time.Duration
	dryRun bool
	expect int
}

func (a *assignment) flags(c *cobra.Command) {
	a.targets.flags(c)
	f := c.Flags()
	f.StringVar(&a.apply, "apply", "", "when it takes over: next_act (default), now, which ends the running act, or next_start, when the present story has ended or is stopped")
	f.StringVar(&a.why, "why", "", "the reason, for the audit")
	f.BoolVar(&a.dryRun, "dry-run", false, "only show which robots would be updated")
	f.IntVar(&a.expect, "expect", -1, "refuse unless exactly this many robots are selected")
	waitFlag(c, &a.wait)
}

func (sh *shell) assignCommand() *cobra.Command {
	var a assignment
	c := &cobra.Command{
		Use: "assign STORY ROBOT...", Short: "set the story that robots perform by default", Args: atLeastOne,
		Long:    "Set the newest revision of a story, or --rev, as the default story of robots. Each robot keeps its present story until it has accepted the new one. A robot in ato whose story was stopped, withdrawn or has ended does not begin by itself: it waits for fleetd auto start.",
		Example: "  fleetd story assign museum-welcome r1 r2 --wait\n  fleetd story assign museum-welcome -l site=museum --rev 3",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.assign(cmd.Context(), args[0], args[1:], a)
		}),
	}
	a.flags(c)
	c.Flags().Int64Var(&a.rev, "rev", 0, "revision; default: the newest")
	return c
}

func (sh *shell) withdrawCommand() *cobra.Command {
	var a assignment
	c := &cobra.Command{
		Use: "withdraw ROBOT...", Short: "remove the default story of robots",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.assign(cmd.Context(), "", args, a)
		}),
	}
	a.flags(c)
	return c
}

func (sh *shell) revertCommand() *cobra.Command {
	var a assignment
	c := &cobra.Command{
		Use: "revert ROBOT...", Short: "give robots the default story that they had before",
		Long: `Give robots the default story that they had before the present one, each its own. A second revert
undoes that. A robot whose story was never changed, or whose earlier story cannot be assigned any
more, keeps what it has.`,
		Example: "  fleetd story revert -l site=museum --dry-run\n  fleetd story revert r1 r2 --wait",
		RunE:    run(func(cmd *cobra.Command, args []string) error { return sh.revert(cmd.Context(), args, a) }),
	}
	a.flags(c)
	apply := c.Flags().Lookup("apply")
	apply.Usage = strings.Replace(apply.Usage, "next_act (default), now", "next_act, now", 1) + "; default: as the present story was assigned"
	return c
}

func (sh *shell) revert(ctx context.Context, names []string, a assignment) error {
	sel, err := a.selector(names)
	if err != nil {
		return err
	}
	request := api.Reversion{Selector: sel, Apply: schema.Apply(a.apply), DryRun: a.dryRun, Attribution: audit.Attribution{Who: sh.by, Why: a.why}}
	if a.expect >= 0 {
		request.ExpectedCount = &a.expect
	}
	var done api.Reverted
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "assignments/revert", body: request}, &done); err != nil {
		return err
	}
	if a.dryRun || a.wait == 0 {
		return sh.show(done, func(w io.Writer) { revertedLines(w, done) })
	}
	revertedLines(sh.Err, done)
	var robots []string
	for _, to := range done.To {
		robots = append(robots, to.Robots...)
	}
	return sh.awaitConvergence(ctx, robots, a.wait)
}

func revertedLines(w io.Writer, d api.Reverted) {
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
}

func (sh *shell) assign(ctx context.Context, story string, names []string, a assignment) error {
	sel, err := a.selector(names)
	if err != nil {
		return err
	}
	switch schema.Apply(a.apply) {
	case "", schema.ApplyNextAct, schema.ApplyNow, schema.ApplyNextStart:
	default:
		return usage("--apply %s: write next_act, now or next_start", a.apply)
	}
	request := api.Assignment{Story: story, Rev: a.rev, Selector: sel, Apply: schema.Apply(a.apply), DryRun: a.dryRun, Attribution: audit.Attribution{Who: sh.by, Why: a.why}}
	if a.expect >= 0 {
		request.ExpectedCount = &a.expect
	}
	var done api.Assigned
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "assignments", body: request}, &done); err != nil {
		return err
	}
	if a.dryRun || a.wait == 0 {
		return sh.show(done, func(w io.Writer) { assignedLines(w, done) })
	}
	assignedLines(sh.Err, done)
	return sh.awaitConvergence(ctx, slices.Concat(done.Updated, done.Unchanged), a.wait)
}

func assignedLines(w io.Writer, d api.Assigned) {
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
	query := url.Values{"id": robots}
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	bar := sh.progress(1, "robots accept the story")
	var got robotList
	for over := false; !over; {
		got = robotList{} // json.Unmarshal keeps fields that the answer omits
		if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: "robots", query: query}, &got); err != nil {
			return err
		}
		decided := 0
		for _, r := range got.Robots {
			if r.Desired.Converged || hasRefused(r.Desired) {
				decided++
			}
		}
		bar.ChangeMax(len(got.Robots))
		_ = bar.Set(decided) // only drawing can fail
		if decided == len(got.Robots) {
			break
		}
		select {
		case <-until.Done():
			over = true
		case <-time.After(pollInterval):
		}
	}
	_ = bar.Exit() // clears the line for the table
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
	switch {
	case well == len(got.Robots):
		return nil
	case well > 0:
		return &failure{code: exitPartial}
	case refused == len(got.Robots):
		return &failure{code: exitError}
	}
	return &failure{code: exitTimeout}
}

// hasRefused reports whether the robot has refused the present desired story for good. A
// robot of another fleet refuses everything, and reports no revision of this fleet.
func hasRefused(w view.DesiredStory) bool {
	return !w.Converged && w.Reason == schema.ReasonWrongFleet ||
		w.ReportedRev == w.DesiredRev && (w.Phase == schema.DeployRejected || w.Phase == schema.DeployRolledBack)
}

func convergenceTable(out io.Writer, robots []view.Robot) {
	w := newTable(out)
	fmt.Fprintln(w, "ROBOT\tPRESENCE\tHAS\tDESIRED\tBECAUSE")
	for _, r := range robots {
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
		writeRow(w, r.ID, r.Presence.Status, has, desired, why)
	}
	_ = w.Flush() // a write error shows at the next write
}
