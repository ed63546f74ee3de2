package cli

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
)

// labelFlags are the flags of robot label.
type labelFlags struct {
	targets
	why    string
	dryRun bool
	expect int
}

func (sh *shell) labelCommand() *cobra.Command {
	var l labelFlags
	c := &cobra.Command{
		Use: "label (ROBOT... | -l KEY=VALUE | --all) KEY=VALUE... KEY-...", Short: "set labels; KEY- removes one",
		Example: "  fleetd robot label r1 site=museum floor=2\n  fleetd robot label r1 floor-\n" +
			"  fleetd robot label -l site=museum floor=2 --dry-run",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if !l.any() && len(args) == 0 {
				return atLeastOne(cmd, args)
			}
			names, changes := namesAndLabels(args)
			set, unset, err := labelChanges(changes)
			if err != nil {
				return err
			}
			if len(set)+len(unset) == 0 {
				return usage("which labels? write %s KEY=VALUE, or KEY- to remove one",
					strings.Join(append([]string{cmd.CommandPath()}, names...), " "))
			}
			if len(names) == 1 && !l.any() && !l.dryRun && l.expect < 0 {
				return sh.label(cmd.Context(), names[0], set, unset, l.why)
			}
			return sh.labelMany(cmd.Context(), names, &l, set, unset)
		}),
	}
	l.flags(c)
	f := c.Flags()
	f.BoolVar(&l.dryRun, "dry-run", false, "only show how many of the selected robots it would change")
	f.IntVar(&l.expect, "expect", -1, "refuse unless exactly this many robots are selected")
	whyFlag(c, &l.why)
	return c
}

// namesAndLabels tells robots from changes of labels: robots come first.
func namesAndLabels(args []string) (names, changes []string) {
	i := slices.IndexFunc(args, func(a string) bool { return strings.Contains(a, "=") || strings.HasSuffix(a, "-") })
	if i < 0 {
		return args, nil
	}
	return args[:i], args[i:]
}

// any reports whether flags select robots.
func (t *targets) any() bool {
	for _, v := range t.state {
		if *v != "" {
			return true
		}
	}
	return t.all || len(t.labels) > 0
}

// label changes labels of one robot and shows all that it has then.
func (sh *shell) label(ctx context.Context, robot string, set map[string]string, unset []string, why string) error {
	var d view.Detail
	if err := sh.do(ctx, "get-robot", given{"id": robot}, &d); err != nil {
		return err
	}
	labels := maps.Clone(d.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, set)
	for _, key := range unset {
		delete(labels, key)
	}
	return sh.doAndShow(ctx, "set-labels", given{"id": robot, "labels": labels, "why": why})
}

func labelsText(r view.Robot) string { return r.ID + " " + labelText(r.Labels) }

// labelMany changes labels of several robots.
func (sh *shell) labelMany(ctx context.Context, names []string, l *labelFlags, set map[string]string, unset []string) error {
	sel, err := l.selector(names)
	if err != nil {
		return err
	}
	ask := given{"selector": sel, "set": set, "unset": unset, "dry_run": l.dryRun, "why": l.why}
	if l.expect >= 0 {
		ask["expected_count"] = &l.expect
	}
	return sh.doAndShow(ctx, "label-robots", ask)
}

func labeledText(done api.LabelsResult) string {
	word := "updated"
	if done.DryRun {
		word = "would be updated"
	}
	return fmt.Sprintf("%s %s, %d unchanged", countText(len(done.Updated), "robot"), word, done.Total-len(done.Updated))
}

// labelChanges reads KEY=VALUE and KEY-.
func labelChanges(changes []string) (set map[string]string, unset []string, err error) {
	set = map[string]string{}
	for _, c := range changes {
		key, value, sets := strings.Cut(c, "=")
		gone, removes := strings.CutSuffix(c, "-")
		switch {
		case sets:
			set[key] = value
		case removes:
			unset = append(unset, gone)
		default:
			return nil, nil, usage("%q is not a label: write key=value, or key- to remove one", c)
		}
	}
	return set, unset, nil
}

// exportRobots prints robots as CSV.
func (sh *shell) exportRobots(ctx context.Context, query url.Values) error {
	var text []byte
	if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: "robots.csv", query: query}, &text); err != nil {
		return err
	}
	_, err := sh.Out.Write(text)
	return err
}
