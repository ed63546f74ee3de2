package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/library"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/score"
)

func (sh *shell) awaitActivities(ctx context.Context, done api.ActivitiesAssigned, wait time.Duration) error {
	activitiesAssignedLine(sh, sh.Err, done)
	return sh.awaitDesired(ctx, string(schema.TopicDesiredActivities), slices.Concat(done.Updated, done.Unchanged), wait)
}

func activitiesAssignedLine(sh *shell, out io.Writer, done api.ActivitiesAssigned) {
	fmt.Fprintf(out, "%s: ", orElse(assignedText(done.Activities), "no activities"))
	desiredResultLine(sh, out, api.DesiredResult{DryRun: done.DryRun, Updated: done.Updated, Unchanged: done.Unchanged, Pinned: done.Pinned})
	misfitLines(out, done.Misfits)
}

// misfitLines says what bodies lack for what is assigned to them.
func misfitLines(out io.Writer, all []library.Misfit) {
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

func robotActivitiesTable(_ *shell, out io.Writer, got api.RobotActivities) {
	writeTable(out, "ACTIVITY\tREVISION\tNATURE\tBODY\tNOW", got.Activities, func(a api.RobotActivity) []any {
		body := "fits"
		if errs := schema.Errors(a.Misfits); len(errs) > 0 {
			body = "lacks: " + errs[0].Detail
		}
		return []any{a.ID, a.Rev, string(a.Nature), body, nowText(a)}
	})
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
			var got api.RobotActivities
			if err := sh.do(cmd.Context(), "list-robot-activities", given{"id": args[0]}, &got); err != nil {
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
	var got api.Explanation
	if err := sh.do(ctx, "explain-condition", given{"id": robot, "condition": a.ID}, &got); err != nil {
		a.Answer = "gave no answer: " + err.Error()
		return
	}
	a.Answer = explanationText(got)
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
	return group("condition", "conditions of activities and handlers: check, keys, explain", check, keys)
}
