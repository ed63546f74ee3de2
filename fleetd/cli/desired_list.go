package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func (sh *shell) desiredList() *cobra.Command {
	var labels []string
	kinds := []string{"story", "config", "mode", "places", "activities"}
	c := &cobra.Command{
		Use: "list KIND [ROBOT...]", Short: "show how far robots are with a desired document", Args: atLeastOne,
		Long:      "Show how far robots are with their desired story, config, mode, places or activities; without robots and labels, of all robots.",
		Example:   "  fleetd desired list config -l site=museum",
		ValidArgs: kinds,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(kinds, args[0]) {
				return usage("%s: write one of %s", args[0], strings.Join(kinds, ", "))
			}
			var list api.ProgressList
			if err := sh.do(cmd.Context(), "list-desired", given{"id": args[1:], "label": labels, "topic": "desired_" + args[0]}, &list); err != nil {
				return err
			}
			return sh.show(list, func(out io.Writer) {
				t := newTable(out)
				defer t.Flush()
				fmt.Fprintln(t, "ROBOT\tREVISION\tREPORTED\tOUTCOME\tBECAUSE")
				for _, r := range list.Robots {
					says := "nothing yet"
					if r.Phase != "" {
						says = fmt.Sprintf("%s (revision %d)", r.Phase, r.ReportedRev)
					}
					writeRow(t, r.Robot, r.DesiredRev, says, r.Outcome, r.Detail)
				}
			})
		}),
	}
	c.Flags().StringArrayVarP(&labels, "label", "l", nil, "robots with this key=value; if given several times, a robot must match all")
	return c
}
