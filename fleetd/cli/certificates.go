package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
)

func (sh *shell) caList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the certificates that this instance needs, those of fleetd instances, and revoked ones of unknown holders", Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var s api.InstanceCertificates
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "instance-certificates"}, &s); err != nil {
				return err
			}
			return sh.show(s, func(out io.Writer) {
				if len(s.Own) > 0 {
					w := newTable(out)
					fmt.Fprintln(w, "NEEDED FOR\tNAME\tEXPIRES")
					for _, c := range s.Own {
						writeRow(w, c.Use, c.Name, c.Expires)
					}
					_ = w.Flush() // a write error shows at the next write
					fmt.Fprintln(out)
				}
				w := newTable(out)
				fmt.Fprintln(w, "CERTIFICATE\tINSTANCE\tISSUED\tEXPIRES\tREVOKED")
				for _, c := range s.Certificates {
					writeRow(w, c.Serial, dash(c.Name), c.Issued, c.Expires, dash(strings.TrimSpace(timeOrEmpty(c.Revoked)+" "+c.By+" "+c.Why)))
				}
				_ = w.Flush() // a write error shows at the next write
			})
		}),
	}
}

func (sh *shell) caRevoke() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "revoke SERIAL", Short: "revoke one certificate, at once", Args: cobra.ExactArgs(1),
		Long: `Revoke one certificate, of a fleetd instance or a robot: brokers close its connections and
refuse it from now on. The name can still connect with another certificate; fleetd robot
revoke revokes a robot with all its certificates.`,
		Example: "  fleetd ca revoke 65bf527bf4f23c5b34be9bd5477f7649c466932e --why 'the laptop is lost'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				return usage("--why is missing: write why the certificate is no longer trusted")
			}
			serial := strings.ToLower(args[0])
			var r api.RevokedCertificate
			body := audit.Attribution{Who: sh.by, Why: why}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: "certificates/" + url.PathEscape(serial) + "/revoke", body: body}, &r); err != nil {
				return err
			}
			return sh.show(r, func(w io.Writer) {
				of := "unknown to this fleetd"
				if r.Name != "" {
					of = "of " + r.Name
				}
				what := "brokers refuse it and close its connections"
				if !r.Broker {
					what = "brokers do not know it yet: fleetd is not connected to its broker, and publishes the revocation when it is connected again"
				}
				fmt.Fprintf(w, "%s, %s, revoked: %s\n", r.Serial, of, what)
			})
		}),
	}
	c.Flags().StringVar(&why, "why", "", "why it is no longer trusted, for the audit")
	return c
}
