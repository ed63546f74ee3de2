package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func (sh *shell) caList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the certificates of fleetd instances that this instance knows", Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var s api.Services
			if err := sh.call(cmd.Context(), ask{method: http.MethodGet, path: "services"}, &s); err != nil {
				return err
			}
			return sh.show(s, func(out io.Writer) {
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "CERTIFICATE\tDESK\tISSUED\tEXPIRES\tREVOKED")
				for _, c := range s.Services {
					row(w, c.Serial, dash(c.Name), c.Issued, c.Expires, dash(strings.TrimSpace(stamp(c.Revoked)+" "+c.By+" "+c.Why)))
				}
				_ = w.Flush() // a reader that went away is told by the next write
			})
		}),
	}
}

func (sh *shell) caRevoke() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "revoke SERIAL", Short: "take one certificate away, at once", Args: cobra.ExactArgs(1),
		Long: `Take one certificate away, of a fleetd instance or a robot: brokers end the connections that were
made with it and take it no more. The name stays good with another certificate; a
robot as a whole is revoked by fleetd robot revoke.`,
		Example: "  fleetd ca revoke 65bf527bf4f23c5b34be9bd5477f7649c466932e --why 'the laptop is lost'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				return usage("say --why the certificate is not to be trusted any more")
			}
			serial := strings.ToLower(args[0])
			var r api.RevokedCertificate
			body := api.Signed{By: sh.by, Why: why}
			if err := sh.call(cmd.Context(), ask{method: http.MethodPost, path: "certificates/" + url.PathEscape(serial) + "/revoke", body: body}, &r); err != nil {
				return err
			}
			return sh.show(r, func(w io.Writer) {
				of := "of which nothing else is known here"
				if r.Name != "" {
					of = "of " + r.Name
				}
				what := "brokers refuse it, and end its connections"
				if !r.Broker {
					what = "no broker knows: fleetd has none now, and tells it when it has it again"
				}
				fmt.Fprintf(w, "%s, %s, revoked: %s\n", r.Serial, of, what)
			})
		}),
	}
	c.Flags().StringVar(&why, "why", "", "why it is not to be trusted any more, for the record")
	return c
}
