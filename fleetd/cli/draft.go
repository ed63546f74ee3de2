package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

const overHelp = "the draft revision that you read, as get prints it; refused if there is a newer one"

func (sh *shell) saveCommand(kind string) *cobra.Command {
	var path string
	var over int64
	c := &cobra.Command{
		Use: "save -f FILE", Short: "save a file as a draft, without publishing it", Args: cobra.NoArgs,
		Long: `Save a file as a draft. It may have errors, which are printed; publish refuses them. Saving over
an existing draft needs --over with the draft revision that you read, so that nobody's change is
lost.`,
		Example: "  fleetd " + kind + " save -f welcome.yaml\n  fleetd " + kind + " save -f welcome.yaml --over 3",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			all, err := sh.sources([]string{path}, kind)
			if err != nil {
				return err
			}
			if len(all) != 1 || all[0].kind != kind || all[0].id == "" {
				return fmt.Errorf("%s is not the file of one %s", path, kind)
			}
			s := all[0]
			r := sh.request("save-"+kind, given{"id": s.id})
			a := r.http()
			a.body, a.match, a.file = s.text, matchOf(over), s.path
			var saved api.Saved
			if err := sh.call(cmd.Context(), a, &saved); err != nil {
				return sh.saveOver(cmd.Context(), err, kind, s.id, "save -f "+s.path)
			}
			for _, p := range saved.Entry.Problems {
				fmt.Fprintln(sh.Err, formatProblem(p, s.path, s.text))
			}
			return sh.showSaved(saved, "saved")
		}),
	}
	c.Flags().StringVarP(&path, "file", "f", "", "the file, - for the standard input")
	c.Flags().Int64Var(&over, "over", 0, overHelp)
	_ = c.MarkFlagRequired("file") // it is defined above
	return c
}

// matchOf returns the header If-Match for a draft revision.
func matchOf(rev int64) string { return strconv.Quote(strconv.FormatInt(rev, 10)) }

// saveOver adds to the refusal of a draft that was changed meanwhile who changed it, and the
// commands that show it and save over it. Other errors stay as they are.
func (sh *shell) saveOver(ctx context.Context, err error, kind, id, command string) error {
	var refused *failure
	var e api.Entry
	if !errors.As(err, &refused) || refused.problem == nil || !refused.problem.Of(api.KindPreconditionFailed) ||
		sh.do(ctx, "get-"+kind, given{"id": id}, &e) != nil {
		return err
	}
	better := *refused
	better.err = fmt.Errorf(
		"the draft of %s %s is at revision %d, saved by %s at %s: look at it with fleetd %s get %s, then fleetd %s %s --over %d",
		kind, id, e.DraftRev, orElse(e.ChangedBy, "somebody"), formatTime(e.ChangedAt), kind, id, kind, command, e.DraftRev)
	return &better
}

func (sh *shell) showSaved(saved api.Saved, word string) error {
	e := saved.Entry
	if saved.Unchanged {
		word = "unchanged"
	}
	return sh.show(saved, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s: draft revision %d %s; %s\n", e.Kind, e.ID, e.DraftRev, word, orElse(e.Found(), "no problems"))
	})
}

func restoreDraft(sh *shell, c *cobra.Command) finish {
	over := c.Flags().Int64("over", 0, overHelp)
	return func(ctx context.Context, args []string, r rowRequest) error {
		kind, id := strings.TrimPrefix(r.operation.ID, "restore-"), args[0]
		if rev, err := strconv.ParseInt(args[1], 10, 64); err != nil || rev < 1 {
			return usage("%q is not a revision", args[1])
		}
		if !c.Flags().Changed("over") {
			var e api.Entry
			if err := sh.do(ctx, "get-"+kind, given{"id": id}, &e); err != nil {
				return err
			}
			if *over = e.DraftRev; e.Edited {
				return &failure{code: exitConflict, err: fmt.Errorf("the draft of %s %s has changes that were not published (revision %d, "+
					"saved by %s at %s): look at it with fleetd %s get %s, then fleetd %s restore %s %s --over %d",
					kind, id, e.DraftRev, orElse(e.ChangedBy, "somebody"), formatTime(e.ChangedAt), kind, id, kind, id, args[1], e.DraftRev)}
			}
		}
		a := r.http()
		a.match = matchOf(*over)
		var saved api.Saved
		if err := sh.call(ctx, a, &saved); err != nil {
			return sh.saveOver(ctx, err, kind, id, "restore "+id+" "+args[1])
		}
		return sh.showSaved(saved, "restored from revision "+args[1])
	}
}

func duplicateDraft(sh *shell, _ *cobra.Command) finish {
	return func(ctx context.Context, args []string, r rowRequest) error {
		var saved api.Saved
		if err := sh.call(ctx, r.http(), &saved); err != nil {
			return err
		}
		return sh.showSaved(saved, "copied from "+args[0])
	}
}

func usesTable(_ *shell, out io.Writer, uses api.Uses) {
	if len(uses.Performers)+len(uses.Robots) == 0 {
		fmt.Fprintln(out, "nothing uses it")
		return
	}
	if len(uses.Performers) > 0 {
		writeTable(out, "USED BY\tREVISION\tDRAFT\tROBOTS", uses.Performers, func(u api.Performer) []any {
			draft := "-"
			if u.Draft {
				draft = "yes"
			}
			return []any{u.Kind + " " + u.ID, revisionCell(u.Rev), draft, dash(strings.Join(u.Robots, ", "))}
		})
		return
	}
	writeTable(out, "ROBOT\tASSIGNED\tHAS\tNEWEST", uses.Robots, func(h api.RobotWith) []any {
		newest := "no"
		if h.Newest {
			newest = "yes"
		}
		return []any{h.Robot, revisionCell(h.Rev), revisionCell(h.Active), newest}
	})
}

func revisionCell(rev int64) string {
	if rev == 0 {
		return "-"
	}
	return strconv.FormatInt(rev, 10)
}
