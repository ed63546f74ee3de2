package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/score"
)

func (sh *shell) assignActivitiesCommand() *cobra.Command {
	var w desiredFlags
	c := &cobra.Command{
		Use: "assign ACTIVITY[,ACTIVITY...] ROBOT...", Short: "set the activities of robots", Args: atLeastOne,
		Long: `Set the activities of robots: the newest revision of each. They replace the activities that the
robots have. Names of several activities are joined by commas; with --all, -l or
another flag that selects robots, all arguments are activities. Robots keep these revisions until
activities are assigned again.`,
		Example: "  fleetd activity assign greet,look-around r1 r2\n  fleetd activity assign greet look-around -l site=museum",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			words, robots := args[:1], args[1:]
			if w.any() {
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
	request := api.ActivitiesAssignment{Activities: activities, Selector: sel, DryRun: w.dryRun, Attribution: audit.Attribution{Who: sh.by, Why: w.why}}
	if w.expect >= 0 {
		request.ExpectedCount = &w.expect
	}
	var done api.ActivitiesAssigned
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "activities/assignments", body: request}, &done); err != nil {
		return err
	}
	if w.dryRun || w.wait == 0 {
		return sh.show(done, func(out io.Writer) { activitiesAssignedLine(out, done) })
	}
	activitiesAssignedLine(sh.Err, done)
	return sh.awaitDesired(ctx, string(schema.TopicDesiredActivities), slices.Concat(done.Updated, done.Unchanged), w.wait)
}

func activitiesAssignedLine(out io.Writer, done api.ActivitiesAssigned) {
	fmt.Fprintf(out, "%s: ", orElse(assignedText(done.Activities), "no activities"))
	desiredResultLine(out, api.DesiredResult{DryRun: done.DryRun, Updated: done.Updated, Unchanged: done.Unchanged})
	misfitLines(out, done.Misfits)
}

// misfitLines says what bodies lack for what is assigned to them.
func misfitLines(out io.Writer, all []api.Misfit) {
	for _, m := range all {
		for _, p := range m.Problems {
			can := "cannot"
			if p.Severity == schema.SeverityWarning {
				can = "can"
			}
			fmt.Fprintf(out, "warning: %s %s perform %s: %s\n", robotsText(m.Robots), can, m.ID, p)
		}
	}
}

// robotsText names robots, of many only some.
func robotsText(robots []string) string {
	const maxNames = 8
	if len(robots) <= maxNames {
		return strings.Join(robots, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(robots[:maxNames], " "), len(robots)-maxNames)
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
	for _, r := range a.Refused {
		text += fmt.Sprintf("; without %s: %s", r.ID, orElse(r.Detail, string(r.Reason)))
	}
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

// showRobotsActivities adds an optional argument ROBOT to the command list; with it the command
// shows the activities of that robot.
func (sh *shell) showRobotsActivities(list *cobra.Command) {
	all := list.RunE
	list.Use, list.Short, list.Args = "list [ROBOT]", "list activities, or those of one robot", cobra.MaximumNArgs(1)
	list.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return all(cmd, args)
		}
		return run(func(cmd *cobra.Command, args []string) error {
			got, err := sh.activitiesOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return sh.show(got, func(w io.Writer) { robotActivitiesTable(w, got) })
		})(cmd, args)
	}
}

func (sh *shell) activitiesOf(ctx context.Context, robot string) (got api.RobotActivities, err error) {
	return got, sh.call(ctx, apiRequest{method: http.MethodGet, path: robotPath(robot, "activities")}, &got)
}

func robotActivitiesTable(out io.Writer, got api.RobotActivities) {
	w := newTable(out)
	fmt.Fprintln(w, "ACTIVITY\tREVISION\tNATURE\tBODY\tNOW")
	for _, a := range got.Activities {
		body := "fits"
		if errs := schema.Errors(a.Misfits); len(errs) > 0 {
			body = "lacks: " + errs[0].Detail
		}
		writeRow(w, a.ID, a.Rev, string(a.Nature), body, nowText(a))
	}
	_ = w.Flush() // a write error shows at the next write
	if !got.Converged && got.DesiredRev > 0 {
		fmt.Fprintln(out, "the robot does not have this set:", activitiesText(got.DesiredActivities))
	}
}

// nowText says whether an activity has the focus, or why it does not start.
func nowText(a api.RobotActivity) string {
	switch {
	case a.Focused:
		return "focused"
	case a.Why == "":
		return "may start"
	}
	return a.Why
}

func (sh *shell) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain ROBOT ACTIVITY", Short: "say why a robot does not start an activity now",
		Long: `Say why a robot does not start an activity now: each part of its condition that is not true, with
the values that it names and their age, or what else keeps it, and what the body lacks for it.
The robot is asked. If it does not answer, the command explains from its last state, in less detail.`,
		Example: "  fleetd activity explain r1 greet",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("write %s ROBOT ACTIVITY", cmd.CommandPath())
			}
			return nil
		},
		RunE: run(func(cmd *cobra.Command, args []string) error {
			got, err := sh.activitiesOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			i := slices.IndexFunc(got.Activities, func(a api.RobotActivity) bool { return a.ID == args[1] })
			if i < 0 {
				return fmt.Errorf("%s has no activity %s; it has %s", args[0], args[1], orElse(assignedText(got.Assigned), "none"))
			}
			a := explained{RobotActivity: got.Activities[i]}
			a.explain(sh, cmd.Context(), args[0])
			return sh.show(a, func(out io.Writer) {
				w := newFacts(out)
				writeRow(w, "activity", fmt.Sprintf("%s revision %d, %s", a.ID, a.Rev, a.Nature))
				writeRow(w, "condition", dash(launchText(a.Launch)))
				writeRow(w, "now", nowText(a.RobotActivity))
				if a.Answer != "" {
					writeRow(w, "robot", a.Answer)
				}
				if got.At != 0 {
					writeRow(w, "at", got.At.String())
				}
				for _, p := range a.Misfits {
					writeRow(w, "body", p.String())
				}
				_ = w.Flush() // a write error shows at the next write
			})
		}),
	}
}

// explained is an activity with the robot's own answer.
type explained struct {
	api.RobotActivity
	Answer string `json:"answer,omitempty"` // why it does not start, or why the robot gave no answer
}

// explain asks the robot about the activity's condition.
func (a *explained) explain(sh *shell, ctx context.Context, robot string) {
	if a.Launch.When == "" {
		return
	}
	got, err := sh.explanationOf(ctx, robot, a.ID)
	if err != nil {
		a.Answer = "gave no answer: " + err.Error()
		return
	}
	a.Answer = explanationText(got)
}

func (sh *shell) explanationOf(ctx context.Context, robot, condition string) (got api.Explanation, err error) {
	return got, sh.call(ctx, apiRequest{method: http.MethodGet, path: "robots/" + url.PathEscape(robot) + "/explain", query: url.Values{"condition": {condition}}}, &got)
}

func explanationText(e api.Explanation) string {
	if e.True {
		return strings.TrimSuffix("true; "+e.Why, "; ")
	}
	return e.Why
}

func launchText(l score.Launch) string {
	text := l.When
	if l.For != "" {
		text += ", for " + l.For
	}
	if l.Cooldown != "" {
		text += ", cooldown " + l.Cooldown
	}
	return text
}

func (sh *shell) conditionCommand() *cobra.Command {
	check := &cobra.Command{
		Use: "check CONDITION", Short: "check a condition, without a server", Args: exactlyOne,
		Example: `  fleetd condition check 'people > 0 && since_s("touch") > 30.0'`,
		RunE: run(func(_ *cobra.Command, args []string) error {
			c, problems := cond.Parse(args[0])
			for _, p := range problems {
				fmt.Fprintln(sh.Err, p)
			}
			if len(problems) > 0 {
				return &failure{code: exitError, err: fmt.Errorf("%q is not a condition", args[0])}
			}
			uses := c.Keys()
			for _, s := range c.Sinces() {
				uses = append(uses, fmt.Sprintf("since_s(%q)", s.Name))
			}
			return sh.show(map[string]any{"condition": args[0], "uses": uses}, func(w io.Writer) {
				fmt.Fprintln(w, "valid; it depends on", orElse(strings.Join(slices.Compact(uses), ", "), "nothing"))
			})
		}),
	}
	keys := &cobra.Command{
		Use: "keys", Short: "list what conditions may name", Args: cobra.NoArgs,
		RunE: run(func(_ *cobra.Command, _ []string) error {
			return sh.show(cond.Keys, func(out io.Writer) {
				w := newTable(out)
				fmt.Fprintln(w, "KEY\tTYPE\tIT SAYS")
				for _, k := range cond.Keys {
					writeRow(w, k.Name, string(k.Type), k.Doc)
				}
				writeRow(w, `since_s("name")`, "double", "seconds since the robot's event or signal of that name")
				_ = w.Flush() // a write error shows at the next write
			})
		}),
	}
	explain := &cobra.Command{
		Use: "explain ROBOT CONDITION", Short: "ask a robot whether a condition is true on it now, and why not", Args: cobra.ExactArgs(2),
		Long: `Ask a robot whether a condition is true on it now, and of each part that is not, why. The
name of an activity that the robot has stands for the condition of that activity.`,
		Example: `  fleetd condition explain r1 'people > 0 && battery > 0.3'`,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			got, err := sh.explanationOf(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return sh.show(got, func(w io.Writer) { fmt.Fprintln(w, explanationText(got)) })
		}),
	}
	return group("condition", "conditions of activities and handlers: check, keys, explain", check, keys, explain)
}
