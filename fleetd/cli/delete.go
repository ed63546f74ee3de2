package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func (sh *shell) recoverCommand(kind string) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "recover NAME", Short: "recover what was deleted; it is assigned to no robot", Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var s api.Saved
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: plural(kind) + "/" + url.PathEscape(args[0]) + "/recover", body: sh.attribution(why)}, &s); err != nil {
				return err
			}
			return sh.show(s, func(w io.Writer) { fmt.Fprintln(w, kind, s.Entry.ID, "is recovered") })
		}),
	}
	whyFlag(c, &why)
	return c
}

func (sh *shell) deleteCommand(kind string) *cobra.Command {
	var stories, activities, robots int
	var clears []string
	var why string
	var dryRun bool
	c := &cobra.Command{
		Use: "delete NAME", Short: "delete; recover undoes it", Args: exactlyOne,
		Long: `Delete; the recover command undoes it. An act is removed from every story and activity that
uses it; one that is left without acts is deleted too; robots get what is left. To confirm,
repeat the numbers that --dry-run prints, and name every story whose robots would be left
without a default story.`,
		Example: "  fleetd " + kind + " delete welcome --dry-run\n  fleetd " + kind + " delete welcome --expect-stories 1 --expect-robots 5 --yes-clear-default museum-welcome",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			query := url.Values{
				"expected_stories": {strconv.Itoa(stories)}, "expected_activities": {strconv.Itoa(activities)}, "expected_robots": {strconv.Itoa(robots)}, "clear": clears,
				"by": {sh.by}, "why": {why}, "dry_run": {strconv.FormatBool(dryRun)},
			}
			a := apiRequest{method: http.MethodDelete, path: plural(kind) + "/" + url.PathEscape(args[0]), query: query}
			var d api.Deletion
			err := sh.call(cmd.Context(), a, &d)
			var f *failure
			if errors.As(err, &f) && f.code == exitConflict {
				a.query.Set("dry_run", "true")
				if sh.call(cmd.Context(), a, &d) == nil {
					deletionLines(sh.Err, d)
				}
			}
			if err != nil {
				return err
			}
			return sh.show(d, func(w io.Writer) { deletionLines(w, d) })
		}),
	}
	f := c.Flags()
	f.BoolVar(&dryRun, "dry-run", false, "only show what it would do")
	f.IntVar(&stories, "expect-stories", 0, "how many stories change, as --dry-run prints")
	f.IntVar(&activities, "expect-activities", 0, "how many activities change, as --dry-run prints")
	f.IntVar(&robots, "expect-robots", 0, "how many robots are updated, as --dry-run prints")
	f.StringArrayVar(&clears, "yes-clear-default", nil, "name of a story whose robots may be left without a default story; may be repeated")
	f.StringVar(&why, "why", "", "the reason, for the audit")
	return c
}

func deletionLines(w io.Writer, d api.Deletion) {
	word := "deleted"
	if d.DryRun {
		word = "would delete"
	}
	var changes []string
	if d.Kind != "activity" {
		changes = append(changes, fmt.Sprintf("%d stories", len(d.Stories)))
	}
	if d.Kind == "activity" || len(d.Activities) > 0 {
		changes = append(changes, fmt.Sprintf("%d activities", len(d.Activities)))
	}
	fmt.Fprintf(w, "%s %s %s: %s change, %d robots are updated\n", word, d.Kind, d.ID, strings.Join(changes, " and "), d.Robots)
	for _, s := range d.Stories {
		switch {
		case d.Kind == "story":
		case s.After == 0:
			fmt.Fprintf(w, "  story %s is left empty and deleted too\n", s.Story)
		default:
			fmt.Fprintf(w, "  story %s: %d acts become %d, newest revision %d\n", s.Story, s.Before, s.After, s.Rev)
		}
		if len(s.Cleared) > 0 {
			fmt.Fprintf(w, "  left without a default story: %s\n", strings.Join(s.Cleared, ", "))
		}
	}
	for _, a := range d.Activities {
		switch {
		case d.Kind == "activity":
		case a.After == 0:
			fmt.Fprintf(w, "  activity %s is left empty and deleted too\n", a.Activity)
		default:
			fmt.Fprintf(w, "  activity %s: %d acts become %d, newest revision %d\n", a.Activity, a.Before, a.After, a.Rev)
		}
		if len(a.Cleared) > 0 {
			fmt.Fprintf(w, "  left without this activity: %s\n", strings.Join(a.Cleared, ", "))
		}
	}
	if d.DryRun {
		line := fmt.Sprintf("fleetd %s delete %s --expect-stories %d", d.Kind, d.ID, len(d.Stories))
		if len(d.Activities) > 0 {
			line += fmt.Sprintf(" --expect-activities %d", len(d.Activities))
		}
		line += fmt.Sprintf(" --expect-robots %d", d.Robots)
		for _, s := range d.Clears {
			line += " --yes-clear-default " + s
		}
		fmt.Fprintln(w, "to confirm:", line)
	}
}
