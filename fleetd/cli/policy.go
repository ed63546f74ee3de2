package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/policy"
	"troupe/fleetd/view"
	"troupe/schema"
)

func (sh *shell) policyCommand() *cobra.Command {
	c := group("policy", "which robots have what, also those that join later: put, list, get, delete")
	c.AddCommand(sh.putPolicyCommand())
	return c
}

// putPolicyCommand is not made from its row: a policy comes from flags or from a file, which names its robots, too.
func (sh *shell) putPolicyCommand() *cobra.Command {
	var what contentFlags
	var robots targets
	var place, expect int
	var disabled, dryRun, now bool
	var supersede int
	var how waveFlags
	var why string
	c := &cobra.Command{
		Use: "put POLICY | FILE", Short: "make or change a policy, from flags or from a file", Args: exactlyOne,
		Long: `Make or change a policy: robots with these labels have this, also those that join the fleet or are
labelled later. Of several policies that select a robot, the one with the lowest --place decides; each
kind (story, activities, settings, mode, places) is decided by itself. A robot on which a person pinned
what it has keeps it. --dry-run shows which robots would get something else. A rollout brings it to the
robots, as fleetd rollout create does, or --now all of them at once; robots that join later get it at once.

A file, in YAML or JSON, has the same: {policy: lobby, place: 10, selector: {labels: [{key: site, value: lobby}]},
content: {story: {id: museum}}}. The newest revision is taken now, and not again by itself.`,
		Example: "  fleetd policy put lobby --story museum -l site=lobby --place 10 --dry-run\n" +
			"  fleetd policy put lobby --story museum -l site=lobby --place 10 --expect 3\n" +
			"  fleetd policy put night --mode mnl --all\n  fleetd policy put lobby.yaml",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			ask := given{"id": args[0], "place": place, "dry_run": dryRun, "why": why}
			var text []byte
			var file string
			if strings.ContainsAny(args[0], "./") || args[0] == "-" { // no policy has such a name
				if countOf(robots.any(), place != 0, disabled) > 0 || what.any(cmd) {
					return usage("%s is a file, which says everything about the policy; write the other flags there", args[0])
				}
				var p policy.Policy
				var err error
				if file = args[0]; file == "-" {
					file = "standard input"
				}
				if text, p, err = sh.readPolicy(args[0], file); err != nil {
					return err
				}
				disabled = !p.Enabled
				ask["id"], ask["place"], ask["selector"], ask["content"] = p.ID, p.Place, p.Selector, p.Content
			} else {
				has, err := what.content(sh, cmd)
				if err != nil {
					return err
				}
				sel, err := robots.selector(nil)
				if err != nil {
					return err
				}
				ask["selector"], ask["content"] = sel, has
			}
			if disabled {
				ask["enabled"] = new(bool)
			}
			for _, of := range []struct {
				flag, field string
				n           *int
			}{{"expect", "expected_count", &expect}, {"supersede", "supersede", &supersede}} {
				switch {
				case !cmd.Flags().Changed(of.flag):
				case *of.n < 0:
					return usage("--%s %d: write a number of robots", of.flag, *of.n)
				default:
					ask[of.field] = of.n
				}
			}
			spec, err := how.spec(sh, cmd)
			if err != nil {
				return err
			}
			ask["now"], ask["spec"] = now, spec
			return inPolicyFile(sh.doAndShow(cmd.Context(), "put-policy", ask), file, text, how)
		}),
	}
	f := c.Flags()
	f.StringArrayVarP(&robots.labels, "label", "l", nil, "robots with this key=value; if given several times, a robot must match all")
	f.BoolVar(&robots.all, "all", false, "every robot of the fleet")
	f.IntVar(&place, "place", 0, "of several policies that select a robot, the one with the lowest place decides")
	f.BoolVar(&disabled, "disabled", false, "it decides nothing until it is put again without this")
	f.BoolVar(&dryRun, "dry-run", false, "only show what it means for robots")
	f.IntVar(&expect, "expect", 0, "refuse unless exactly this many robots would get something else")
	f.BoolVar(&now, "now", false, "robots get at once what it says, all of them; else a rollout brings it to them in waves")
	f.IntVar(&supersede, "supersede", 0, "take exactly this many robots from open rollouts of the same kind")
	what.flags(c)
	how.flags(c)
	for _, name := range waveFlagNames {
		c.MarkFlagsMutuallyExclusive("now", name)
	}
	whyFlag(c, &why)
	return c
}

// readPolicy reads a policy from a file.
func (sh *shell) readPolicy(path, name string) (text []byte, p policy.Policy, err error) {
	text, body, err := sh.readAsJSON(path)
	if err != nil {
		return nil, p, err
	}
	p, found := policy.Parse(body)
	if found = schema.Errors(found); len(found) == 0 {
		return text, p, nil
	}
	lines := make([]string, len(found))
	for i, one := range found {
		lines[i] = formatProblem(one, name, text)
	}
	return nil, p, &failure{code: exitError, err: errors.New(strings.Join(lines, "\n"))}
}

// inPolicyFile names the places of problems in the file of a policy, whose fields are called as in the request, or in that of a plan.
func inPolicyFile(err error, file string, text []byte, how waveFlags) error {
	var f *failure
	if file == "" && how.file == "" || !errors.As(err, &f) || f.problem == nil || len(f.problem.Errors) == 0 {
		return err
	}
	var lines []string
	for _, e := range f.problem.Errors {
		at, ofPlan := strings.CutPrefix(e.Pointer, "/spec")
		switch {
		case ofPlan && how.file != "":
			e.Pointer, e.In = at, ""
			lines = append(lines, formatFinding(e, how.file, how.text))
			continue
		case file != "" && !ofPlan && e.Pointer != "/expected_count" && e.Pointer != "/supersede":
			e.In = ""
		}
		lines = append(lines, formatFinding(e, file, text))
	}
	f.err = errors.New(strings.Join(lines, "\n"))
	return f
}

// any reports whether a flag says what robots get.
func (f *contentFlags) any(c *cobra.Command) bool {
	return slices.ContainsFunc([]string{"story", "no-story", "rev", "apply", "activities", "no-activities", "set", "unset", "mode", "places",
		"id"}, c.Flags().Changed)
}

func policyText(_ *shell, out io.Writer, p api.Policy) {
	w := newFacts(out)
	for _, fact := range [][2]string{
		{"policy", p.ID}, {"content", p.Text}, {"robots", p.Robots}, {"place", fmt.Sprint(p.Place)}, {"state", p.State()},
		{"selects", countText(p.Selects, "robot")}, {"decides for", countText(p.Decides, "robot")},
		{"changed", strings.TrimSpace(p.ChangedAt.String() + " " + p.ChangedBy)}, {"why", p.Why}, {"rollout", p.Rollout}, {"from folder",
			p.Owner}, {"version", fmt.Sprint(p.Version)},
	} {
		if fact[1] != "" {
			writeRow(w, fact[0], fact[1])
		}
	}
	_ = w.Flush() // a write error shows at the next write
}

func policyResultText(_ *shell, out io.Writer, r api.PolicyResult) {
	p, gets, has, decides := r.Policy, "updated", "", "decides"
	switch {
	case r.Deleted:
		has, decides = " was deleted", "decided"
	case r.DryRun:
		gets = "would be updated"
	}
	fmt.Fprintf(out, "policy %s%s: %s for %s, place %d, %s\n", p.ID, has, p.Text, p.Robots, p.Place, p.State())
	fmt.Fprintf(out, "%s selected, it %s for %d; %d %s, %d unchanged, %d pinned\n", countText(r.Total, "robot"), decides, r.Decides,
		len(r.Updated), gets, len(r.Unchanged), len(r.Pinned))
	if n := len(r.Left); n > 0 {
		fmt.Fprintf(out, "no policy decides any more for %s: they keep what they have\n", countText(n, "robot"))
	}
	for _, o := range r.Overlaps {
		order := "after it"
		if o.First {
			order = "before it"
		}
		fmt.Fprintf(out, "policy %s, place %d, selects %d of them, too, and comes %s\n", o.Policy, o.Place, o.Robots, order)
	}
	for _, one := range r.Warnings {
		fmt.Fprintf(out, "warning: %s; %s\n", one.Detail, one.Hint)
	}
	misfitLines(out, r.Misfits)
	for _, end := range r.Ends {
		fmt.Fprintln(out, policyEndText(end, r.DryRun))
	}
	for _, o := range r.Rollouts {
		fmt.Fprintf(out, "%s: %s to %s in %s", orElse(strings.TrimSpace("rollout "+o.ID), "rollout"), o.Content, countText(o.Robots, "robot"),
			countText(o.Waves, "wave"))
		switch {
		case o.ID == "":
			fmt.Fprintln(out)
		case o.NeedsApproval:
			fmt.Fprintf(out, "; a second person has to approve it: fleetd rollout get %s\n", o.ID)
		default:
			fmt.Fprintf(out, "; fleetd rollout watch %s\n", o.ID)
		}
		if o.Refused > 0 {
			fmt.Fprintf(out, "warning: %s would refuse it\n", countText(o.Refused, "robot"))
		}
		if o.Superseding > 0 && r.DryRun {
			fmt.Fprintf(out, "it takes %s from open rollouts: confirm with --supersede %d\n", countText(o.Superseding, "robot"), o.Superseding)
		}
	}
}

// policyEndText says which open rollout gives robots nothing any more.
func policyEndText(e api.PolicyEnd, dryRun bool) string {
	verb := map[bool]string{true: "would be", false: "was"}[dryRun]
	if e.Whole {
		return fmt.Sprintf("rollout %s of %s %s aborted: %s not decided", e.Rollout, e.Content, verb, countText(e.Robots, "robot"))
	}
	return fmt.Sprintf("%s %s taken from rollout %s of %s", countText(e.Robots, "robot"), verb, e.Rollout, e.Content)
}

func robotWhyTable(_ *shell, out io.Writer, w api.RobotWhy) {
	writeTable(out, "KIND\tHAS\tDECIDED BY\tBECAUSE", w.Kinds, func(k api.KindWhy) []any {
		return []any{k.Kind, dash(k.Has), deciderText(k), strings.Join(becauseOf(w.Robot, k), "; ")}
	})
}

// deciderText says who decided what a robot has of one kind.
func deciderText(k api.KindWhy) string {
	switch k.DecidedBy {
	case policy.ByPolicy:
		return "policy " + k.Policy
	case policy.ByPin:
		return "a pin of " + orElse(k.Pin.By, "a person")
	case policy.ByPerson:
		return "a person"
	}
	return "nobody"
}

// becauseOf says what is to know about who decided: what the policy says if the robot has something else, and who does not
// decide.
func becauseOf(robot string, k api.KindWhy) (all []string) {
	if k.Pin != nil && k.Pin.Why != "" {
		all = append(all, k.Pin.Why)
	}
	switch {
	case k.Pin != nil && k.Policy != "":
		all = append(all, fmt.Sprintf("without the pin policy %s says %s: fleetd pin remove %s %s", k.Policy, k.Says, robot, k.Kind))
	case k.Differs:
		all = append(all, fmt.Sprintf("the policy says %s, which the robot was not given yet", k.Says))
	}
	for _, l := range k.Losers {
		if k.Pin == nil || l.Policy != k.Policy {
			all = append(all, fmt.Sprintf("policy %s does not decide: %s", l.Policy, l.Why))
		}
	}
	return all
}

// getRobot shows a robot, and who decided what it has.
func getRobot(sh *shell, _ *cobra.Command) finish {
	return func(ctx context.Context, _ []string, r rowRequest) error {
		var d view.Detail
		if err := sh.call(ctx, r.http(), &d); err != nil {
			return err
		}
		var why api.RobotWhy
		if d.Adopted && sh.output != outJSON && sh.output != outYAML && sh.output != outName {
			if err := sh.do(ctx, "explain-robot", given{"id": d.ID}, &why); err != nil {
				return err
			}
		}
		return sh.show(&d, func(out io.Writer) {
			robotDetail(sh, out, d)
			decidedFacts(out, why)
		})
	}
}

// decidedFacts lists what policies and pins decided; without any it lists nothing.
func decidedFacts(out io.Writer, w api.RobotWhy) {
	lines := newFacts(out)
	for _, k := range w.Kinds {
		if k.Policy != "" || k.Pin != nil || len(k.Losers) > 0 {
			writeRow(lines, k.Kind+" by", strings.Join(append([]string{deciderText(k)}, becauseOf(w.Robot, k)...), "; "))
		}
	}
	_ = lines.Flush() // a write error shows at the next write
}
