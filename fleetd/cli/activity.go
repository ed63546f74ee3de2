package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/schema"
)

func (sh *shell) assignActivitiesCommand() *cobra.Command {
	var w desiredFlags
	c := &cobra.Command{
		Use: "assign ACTIVITY[,ACTIVITY...] ROBOT...", Short: "set the activities of robots", Args: atLeastOne,
		Long: `Set the activities of robots: the newest revision of each. They replace the activities that the
robots have. Names of several activities are joined by commas; with -l or --all all arguments
are activities. Robots keep these revisions until activities are assigned again.`,
		Example: "  fleetd activity assign greet,look-around r1 r2\n  fleetd activity assign greet look-around -l site=museum",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			words, robots := args[:1], args[1:]
			if w.all || len(w.labels) > 0 {
				words, robots = args, nil
			}
			var activities []string
			for _, word := range words {
				activities = append(activities, strings.FieldsFunc(word, func(r rune) bool { return r == ',' })...)
			}
			return sh.assignActivities(cmd.Context(), activities, robots, w)
		}),
	}
	w.flags(c)
	return c
}

func (sh *shell) withdrawActivitiesCommand() *cobra.Command {
	var w desiredFlags
	c := &cobra.Command{
		Use: "withdraw ROBOT...", Short: "remove all activities of robots",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.assignActivities(cmd.Context(), []string{}, args, w)
		}),
	}
	w.flags(c)
	return c
}

func (sh *shell) assignActivities(ctx context.Context, activities, robots []string, w desiredFlags) error {
	sel, err := w.selector(robots)
	if err != nil {
		return err
	}
	request := api.SetAssignment{Activities: activities, Selector: sel, DryRun: w.dryRun, Signed: api.Signed{By: sh.by, Why: w.why}}
	if w.expect >= 0 {
		request.ExpectedCount = &w.expect
	}
	var done api.SetAssigned
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "activities/assignments", body: request}, &done); err != nil {
		return err
	}
	if w.dryRun || w.wait == 0 {
		return sh.show(done, func(out io.Writer) { setAssignedLine(out, done) })
	}
	setAssignedLine(sh.Err, done)
	return sh.awaitDesired(ctx, string(schema.TopicDesiredActivities), slices.Concat(done.Updated, done.Unchanged), w.wait)
}

func setAssignedLine(out io.Writer, done api.SetAssigned) {
	fmt.Fprintf(out, "%s: ", orElse(assignedText(done.Activities), "no activities"))
	desiredResultLine(out, api.DesiredResult{DryRun: done.DryRun, Updated: done.Updated, Unchanged: done.Unchanged})
}

// assignedText formats activities with their revisions: greet@3, look@1.
func assignedText(all []view.Activity) string {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = fmt.Sprintf("%s@%d", a.ID, a.Rev)
	}
	return strings.Join(texts, ", ")
}

// activitiesText formats the activities of a robot, and whether it has them.
func activitiesText(a view.DesiredActivities) string {
	text := orElse(assignedText(a.Assigned), "none")
	if a.Converged {
		return text
	}
	phase := string(a.Phase)
	if a.Progress != nil {
		phase += fmt.Sprintf(" %d%%", *a.Progress)
	}
	if a.ReportedRev != a.DesiredRev {
		phase = "not reported yet"
	}
	text += ": " + phase
	if a.Reason != "" {
		text += " (" + strings.TrimSpace(string(a.Reason)+" "+a.Detail) + ")"
	}
	return text
}
