package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func listDesired(sh *shell, c *cobra.Command) finish {
	c.ValidArgs = []string{"story", "config", "mode", "places", "activities"}
	return func(ctx context.Context, args []string, r rowRequest) error {
		if !slices.Contains(c.ValidArgs, args[0]) {
			return usage("%s: write one of %s", args[0], strings.Join(c.ValidArgs, ", "))
		}
		r.query.Set("topic", "desired_"+args[0])
		return sh.sendRow(ctx, r)
	}
}

func progressTable(_ *shell, out io.Writer, list api.ProgressList) {
	writeTable(out, "ROBOT\tREVISION\tREPORTED\tOUTCOME\tBECAUSE", list.Robots, func(r api.RobotProgress) []any {
		says := "nothing yet"
		if r.Phase != "" {
			says = fmt.Sprintf("%s (revision %d)", r.Phase, r.ReportedRev)
		}
		return []any{r.Robot, r.DesiredRev, says, r.Outcome, r.Detail}
	})
}
