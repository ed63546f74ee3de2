package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

// deleteEntry shows what the deletion would do if that needs a confirmation.
func deleteEntry(sh *shell, _ *cobra.Command) finish {
	return func(ctx context.Context, _ []string, r rowRequest) error {
		err := sh.sendRow(ctx, r)
		if f := (*failure)(nil); errors.As(err, &f) && f.code == exitConflict {
			r.query.Set("dry_run", "true")
			var d api.Deletion
			if sh.call(ctx, r.http(), &d) == nil {
				deletionLines(sh, sh.Err, d)
			}
		}
		return err
	}
}

func deletionLines(_ *shell, w io.Writer, d api.Deletion) {
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
