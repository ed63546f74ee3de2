package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
)

// plural returns the API resource of a kind: acts, stories or activities.
func plural(kind string) string {
	if stem, ok := strings.CutSuffix(kind, "y"); ok {
		return stem + "ies"
	}
	return kind + "s"
}

// libraryCommand makes the commands for acts, stories or activities.
func (sh *shell) libraryCommand(kind string) *cobra.Command {
	resource := plural(kind)
	var deleted bool
	list := &cobra.Command{
		Use: "list", Short: "list " + resource, Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var got struct {
				Entries []api.Entry `json:"entries"`
			}
			query := url.Values{"deleted": {strconv.FormatBool(deleted)}}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: resource, query: query}, &got); err != nil {
				return err
			}
			return sh.show(got, func(w io.Writer) { entryTable(w, kind, got.Entries) })
		}),
	}
	list.Flags().BoolVar(&deleted, "deleted", false, "also list deleted ones")
	var timeline timelineFlags
	get := &cobra.Command{
		Use: "get (NAME | --timeline -f FILE... [NAME...])", Short: "show a draft, its problems and revisions, or its timeline",
		Long: `Show a draft, its problems and revisions; with --rev what robots get of a published revision.

With --timeline, draw what each unit does by time: a row for each, ticks above, and below them
the times in figures. ~ marks estimates: a robot speaks, turns and drives for as long as it takes.
With -f the timeline is that of files, and no server is asked.`,
		Example: "  fleetd " + kind + " get welcome --timeline\n  fleetd " + kind + " get -f museum/ welcome --timeline",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(timeline.files) > 0 && !timeline.on:
				return usage("-f needs --timeline: it draws a file; without -f, %s NAME shows what fleetd has", asTyped(cmd))
			case len(timeline.files) == 0 && len(args) != 1:
				return exactlyOne(cmd, args)
			}
			return nil
		},
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if timeline.on {
				return sh.showTimeline(cmd.Context(), kind, args, &timeline)
			}
			if timeline.rev != 0 {
				return sh.printRevision(cmd.Context(), kind, args[0], timeline.rev)
			}
			var e api.Entry
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: resource + "/" + url.PathEscape(args[0])}, &e); err != nil {
				return err
			}
			return sh.show(e, func(w io.Writer) { sh.entryDetail(w, e) })
		}),
	}
	timeline.add(get)
	verbs := []*cobra.Command{list, get, sh.publishCommand(kind), sh.diffCommand(kind), sh.deleteCommand(kind), sh.recoverCommand(kind)}
	verbs = append(verbs, sh.draftCommands(kind)...)
	switch kind {
	case "story":
		verbs = append(verbs, sh.assignCommand(), sh.withdrawCommand(), sh.revertCommand())
		return group("story", "stories: list, get, save, publish, diff, uses, restore, duplicate, export, try, assign, withdraw, revert, delete, recover", verbs...)
	case "activity":
		sh.showRobotsActivities(list)
		verbs = append(verbs, sh.assignActivitiesCommand(), sh.withdrawActivitiesCommand(), sh.explainCommand())
		return group("activity", "activities: list, get, save, publish, diff, uses, restore, duplicate, export, try, assign, withdraw, explain, delete, recover", verbs...)
	}
	return group("act", "acts: list, get, save, publish, diff, uses, restore, duplicate, export, try, perform, delete, recover", append(verbs, sh.performCommand())...)
}

// printRevision prints what robots get of a published revision.
func (sh *shell) printRevision(ctx context.Context, kind, id string, rev int64) error {
	var body json.RawMessage
	if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: fmt.Sprintf("%s/revisions/%d", entryPath(kind, id), rev)}, &body); err != nil {
		return err
	}
	return sh.show(body, func(w io.Writer) { fmt.Fprintln(w, string(body)) })
}

func entryTable(out io.Writer, kind string, entries []api.Entry) {
	if len(entries) == 0 {
		fmt.Fprintln(out, "no", plural(kind))
		return
	}
	w := newTable(out)
	robots := "ROBOTS\t"
	if kind == "act" {
		robots = "" // acts are not assigned to robots
	}
	fmt.Fprintln(w, strings.ToUpper(kind)+"\tNAME\tREVISION\tPROBLEMS\t"+robots+"CHANGED\tBY")
	for _, e := range entries {
		rev := "draft"
		if e.Rev > 0 {
			rev = strconv.FormatInt(e.Rev, 10)
		}
		if e.DeletedAt != 0 {
			rev = "deleted"
		}
		cells := []any{e.ID, dash(e.Name), rev, dash(problemCount(e.Problems))}
		if robots != "" {
			cells = append(cells, e.Robots)
		}
		writeRow(w, append(cells, formatTime(e.ChangedAt), dash(e.ChangedBy))...)
	}
	_ = w.Flush() // a write error shows at the next write
}

func problemCount(found []schema.Problem) string {
	errs := len(schema.Errors(found))
	switch warnings := len(found) - errs; {
	case errs > 0:
		return countText(errs, "error")
	case warnings > 0:
		return countText(warnings, "warning")
	}
	return ""
}

func (sh *shell) entryDetail(out io.Writer, e api.Entry) {
	fmt.Fprint(out, e.Draft)
	if !strings.HasSuffix(e.Draft, "\n") {
		fmt.Fprintln(out)
	}
	fmt.Fprintf(sh.Err, "draft revision %d  %s %s\n", e.DraftRev, formatTime(e.ChangedAt), e.ChangedBy)
	for _, v := range e.Revisions {
		fmt.Fprintf(sh.Err, "revision %d  %s  %s  %d bytes  %s %s\n", v.Rev, formatTime(v.At), v.SHA256[:12], v.Size, v.By, v.Why)
	}
	for _, p := range e.Problems {
		fmt.Fprintln(sh.Err, formatProblem(p, e.ID, []byte(e.Draft)))
	}
	if e.DeletedAt != 0 {
		fmt.Fprintf(sh.Err, "deleted %s by %s: %s\n", formatTime(e.DeletedAt), orElse(e.DeletedBy, "somebody"), e.DeletedWhy)
	}
}
