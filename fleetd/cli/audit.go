package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func (sh *shell) auditCommand() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "audit", Short: "show who did what, the newest first", Args: cobra.NoArgs,
		Long: `Show who did what, the newest first: changes made through fleetd (library, desired state, robots,
stops), and commands that other MQTT clients sent to robots directly (mqtt GROUP/VERB). Commands
sent through fleetd, such as safety enable, are in fleetd command list instead. WHO is the name that the person or client gave, PRINCIPAL
as whom fleetd authenticated the request. Velocity frames of manual driving are not recorded.`,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var got struct {
				Notes []api.AuditEntry `json:"notes"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "audit", query: url.Values{"limit": {strconv.Itoa(limit)}}}, &got); err != nil {
				return err
			}
			return sh.show(got, func(out io.Writer) {
				w := newTable(out)
				fmt.Fprintln(w, "AT\tWHO\tPRINCIPAL\tWHAT\tTARGET\tDETAIL")
				for _, n := range got.Notes {
					writeRow(w, formatTime(n.At), dash(n.Who), dash(n.Principal), n.What, n.Target, n.Detail)
				}
				_ = w.Flush() // a write error shows at the next write
			})
		}),
	}
	c.Flags().IntVar(&limit, "limit", 50, "at most this many, up to 1000")
	return c
}
