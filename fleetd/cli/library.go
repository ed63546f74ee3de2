package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

// libraryCommand makes the commands for acts, stories or activities.
func (sh *shell) libraryCommand(kind string) *cobra.Command {
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
			return sh.doAndShow(cmd.Context(), "get-"+kind, given{"id": args[0]})
		}),
	}
	timeline.add(get)
	verbs := []*cobra.Command{get, sh.publishCommand(kind), sh.diffCommand(kind), sh.saveCommand(kind), sh.exportCommand(kind),
		sh.tryCommand(kind)}
	switch kind {
	case "story":
		return group("story",
			"stories: list, get, save, publish, diff, uses, restore, duplicate, export, try, assign, withdraw, revert, delete, recover", verbs...)
	case "activity":
		verbs = append(verbs, sh.explainCommand())
		return group("activity",
			"activities: list, get, save, publish, diff, uses, restore, duplicate, export, try, assign, withdraw, explain, delete, recover",
			verbs...)
	}
	return group("act", "acts: list, get, save, publish, diff, uses, restore, duplicate, export, try, perform, delete, recover",
		append(verbs, sh.performCommand())...)
}

// printRevision prints what robots get of a published revision.
func (sh *shell) printRevision(ctx context.Context, kind, id string, rev int64) error {
	var body json.RawMessage
	if err := sh.do(ctx, "get-published-"+kind, given{"id": id, "rev": rev}, &body); err != nil {
		return err
	}
	return sh.show(body, func(w io.Writer) { fmt.Fprintln(w, string(body)) })
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
