package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
)

// draftCommands are the commands that change drafts without publishing them, and the one that
// says who uses an entry.
func (sh *shell) draftCommands(kind string) []*cobra.Command {
	return []*cobra.Command{sh.saveCommand(kind), sh.restoreCommand(kind), sh.duplicateCommand(kind), sh.usesCommand(kind), sh.exportCommand(kind), sh.tryCommand(kind)}
}

const overHelp = "the draft revision that you read, as get prints it; refused if there is a newer one"

// entryPath returns the API path of an entry.
func entryPath(kind, id string) string { return plural(kind) + "/" + url.PathEscape(id) }

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
			var saved api.Saved
			err = sh.call(cmd.Context(), apiRequest{method: http.MethodPut, path: entryPath(kind, s.id), query: url.Values{"by": {sh.by}}, body: s.text, match: matchOf(over), file: s.path}, &saved)
			if err != nil {
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
		sh.call(ctx, apiRequest{method: http.MethodGet, path: entryPath(kind, id)}, &e) != nil {
		return err
	}
	better := *refused
	better.err = fmt.Errorf("the draft of %s %s is at revision %d, saved by %s at %s: look at it with fleetd %s get %s, then fleetd %s %s --over %d",
		kind, id, e.DraftRev, orElse(e.ChangedBy, "somebody"), formatTime(e.ChangedAt), kind, id, kind, command, e.DraftRev)
	return &better
}

func (sh *shell) showSaved(saved api.Saved, word string) error {
	e := saved.Entry
	if saved.Unchanged {
		word = "unchanged"
	}
	return sh.show(saved, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s: draft revision %d %s; %s\n", e.Kind, e.ID, e.DraftRev, word, orElse(problemCount(e.Problems), "no problems"))
	})
}

func (sh *shell) restoreCommand(kind string) *cobra.Command {
	var over int64
	var why string
	c := &cobra.Command{
		Use: "restore NAME REVISION", Short: "save the content of a published revision as the draft", Args: cobra.ExactArgs(2),
		Long: `Save the content of a published revision as the draft; publish makes it the newest revision. Of a
story or an activity the acts are not restored: it is published with their newest revisions. A draft
with changes that were not published is replaced only with --over.`,
		Example: "  fleetd " + kind + " restore welcome 3",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			rev, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || rev < 1 {
				return usage("%q is not a revision", args[1])
			}
			if !cmd.Flags().Changed("over") {
				var e api.Entry
				if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: entryPath(kind, args[0])}, &e); err != nil {
					return err
				}
				if e.Edited {
					return &failure{code: exitConflict, err: fmt.Errorf("the draft of %s %s has changes that were not published (revision %d, saved by %s at %s): look at it with fleetd %s get %s, then fleetd %s restore %s %d --over %d",
						kind, args[0], e.DraftRev, orElse(e.ChangedBy, "somebody"), formatTime(e.ChangedAt), kind, args[0], kind, args[0], rev, e.DraftRev)}
				}
				over = e.DraftRev
			}
			var saved api.Saved
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: fmt.Sprintf("%s/revisions/%d/restore", entryPath(kind, args[0]), rev), body: audit.Attribution{Who: sh.by, Why: why}, match: matchOf(over)}, &saved); err != nil {
				return sh.saveOver(cmd.Context(), err, kind, args[0], "restore "+args[0]+" "+args[1])
			}
			return sh.showSaved(saved, fmt.Sprintf("restored from revision %d", rev))
		}),
	}
	c.Flags().Int64Var(&over, "over", 0, overHelp)
	c.Flags().StringVar(&why, "why", "", "the reason, for the audit")
	return c
}

func (sh *shell) duplicateCommand(kind string) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "duplicate NAME NEW-NAME", Short: "save a copy of the draft under another name", Args: cobra.ExactArgs(2),
		Example: "  fleetd " + kind + " duplicate welcome welcome-winter",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var saved api.Saved
			body := api.Copy{ID: args[1], Attribution: sh.attribution(why)}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: entryPath(kind, args[0]) + "/duplicate", body: body}, &saved); err != nil {
				return err
			}
			return sh.showSaved(saved, "copied from "+args[0])
		}),
	}
	whyFlag(c, &why)
	return c
}

func (sh *shell) usesCommand(kind string) *cobra.Command {
	short := "show the robots that have it, and which revision"
	if kind == "act" {
		short = "show the stories, activities and acts that perform it"
	}
	return &cobra.Command{
		Use: "uses NAME", Short: short, Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			uses, err := sh.uses(cmd.Context(), kind, args[0])
			if err != nil {
				return err
			}
			return sh.show(uses, func(w io.Writer) { usesTable(w, kind, uses) })
		}),
	}
}

func (sh *shell) uses(ctx context.Context, kind, id string) (uses api.Uses, err error) {
	err = sh.call(ctx, apiRequest{method: http.MethodGet, path: entryPath(kind, id) + "/uses"}, &uses)
	return uses, err
}

func usesTable(out io.Writer, kind string, uses api.Uses) {
	if len(uses.Performers)+len(uses.Robots) == 0 {
		fmt.Fprintln(out, "nothing uses it")
		return
	}
	w := newTable(out)
	if kind == "act" {
		fmt.Fprintln(w, "USED BY\tREVISION\tDRAFT\tROBOTS")
		for _, u := range uses.Performers {
			rev, draft := "-", "-"
			if u.Rev > 0 {
				rev = strconv.FormatInt(u.Rev, 10)
			}
			if u.Draft {
				draft = "yes"
			}
			writeRow(w, u.Kind+" "+u.ID, rev, draft, dash(strings.Join(u.Robots, ", ")))
		}
	} else {
		fmt.Fprintln(w, "ROBOT\tASSIGNED\tHAS\tNEWEST")
		for _, h := range uses.Robots {
			newest := "no"
			if h.Newest {
				newest = "yes"
			}
			writeRow(w, h.Robot, revisionCell(h.Rev), revisionCell(h.Active), newest)
		}
	}
	_ = w.Flush() // a write error shows at the next write
}

func revisionCell(rev int64) string {
	if rev == 0 {
		return "-"
	}
	return strconv.FormatInt(rev, 10)
}
