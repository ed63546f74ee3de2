package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func (sh *shell) auditCommand() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "audit", Short: "who did what, the newest first", Args: cobra.NoArgs,
		Long: `Who did what, the newest first: what was done through fleetd, and what was asked of
robots over MQTT without it (mqtt GROUP/VERB). Frames of manual driving are not noted.`,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var got struct {
				Notes []api.Noted `json:"notes"`
			}
			if err := sh.call(cmd.Context(), ask{method: http.MethodGet, path: "audit", query: url.Values{"limit": {strconv.Itoa(limit)}}}, &got); err != nil {
				return err
			}
			return sh.show(got, func(out io.Writer) {
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "AT\tWHO\tWHAT\tTARGET\tDETAIL")
				for _, n := range got.Notes {
					row(w, when(n.At), dash(n.Who), n.What, n.Target, n.Detail)
				}
				_ = w.Flush() // a reader that went away is told by the next write
			})
		}),
	}
	c.Flags().IntVar(&limit, "limit", 50, "at most so many, up to 1000")
	return c
}
