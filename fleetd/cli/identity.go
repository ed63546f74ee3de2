package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/schema"
)

func robotPath(robot, below string) string { return "robots/" + url.PathEscape(robot) + "/" + below }

// identityCommands are the commands that give a robot its credentials and revoke them.
func (sh *shell) identityCommands() []*cobra.Command {
	return []*cobra.Command{sh.enrolCommand(), sh.identityCommand(), sh.revokeCommand()}
}

func (sh *shell) enrolCommand() *cobra.Command {
	var serial, why string
	var valid time.Duration
	c := &cobra.Command{
		Use: "enrol ROBOT", Short: "make an enrolment token for a robot", Args: exactlyOne,
		Long: `Make an enrolment token and print the command to type on the robot. The robot makes its own
key and gets its certificate with the token. A token can be used once, is valid for a day,
and is replaced by the next one made for the same robot. Anybody with the token can become
that robot: treat it like a password.`,
		Example: "  fleetd robot enrol r7\n  fleetd robot enrol r7 --serial B-0412 --valid 2h",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if valid != 0 && (valid < time.Minute || valid > 7*24*time.Hour) {
				return usage("--valid %v: write 1m to 168h", valid)
			}
			body := api.TokenRequest{Serial: serial, ValidMS: valid.Milliseconds(), Attribution: audit.Attribution{Who: sh.by, Why: why}}
			var t api.EnrolmentToken
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: robotPath(args[0], "tokens"), body: body}, &t); err != nil {
				return err
			}
			return sh.show(t, func(w io.Writer) {
				fmt.Fprintf(w, "on the robot, once, until %s:\n  %s\n", t.Expires, t.Line)
			})
		}),
	}
	c.Flags().StringVar(&serial, "serial", "", "serial number of the robot's body: only that body may use the token")
	c.Flags().DurationVar(&valid, "valid", 0, "how long the token is valid (default 24h)")
	c.Flags().StringVar(&why, "why", "", "the reason, for the audit")
	return c
}

func (sh *shell) identityCommand() *cobra.Command {
	return &cobra.Command{
		Use: "identity ROBOT", Short: "list a robot's certificates and tokens", Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var i api.Identity
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: robotPath(args[0], "identity")}, &i); err != nil {
				return err
			}
			return sh.show(i, func(w io.Writer) { identityTable(w, i) })
		}),
	}
}

func identityTable(out io.Writer, i api.Identity) {
	if i.Revoked != 0 {
		fmt.Fprintf(out, "robot %s was revoked at %s; fleetd robot enrol %s enrols it again\n", i.Robot, i.Revoked, i.Robot)
	}
	w := newTable(out)
	fmt.Fprintln(w, "CERTIFICATE\tHOW\tISSUED\tEXPIRES\tREVOKED")
	for _, c := range i.Certificates {
		writeRow(w, c.Serial, c.How, c.Issued, c.Expires, dash(strings.TrimSpace(timeOrEmpty(c.Revoked)+" "+c.By+" "+c.Why)))
	}
	fmt.Fprintln(w, "\nTOKEN MADE\tBY\tEXPIRES\tUSED")
	for _, t := range i.Tokens {
		writeRow(w, t.At, dash(t.By), t.Expires, dash(timeOrEmpty(t.Used)))
	}
	_ = w.Flush() // a write error shows at the next write
}

// revokedLine says what a revocation does. Without a connection to the broker it has no
// effect yet, and the line must not claim one.
func revokedLine(r api.Revoked) string {
	certificates := fmt.Sprintf("%d certificates", len(r.Certificates))
	if len(r.Certificates) == 1 {
		certificates = "1 certificate"
	}
	what := "revoked: brokers refuse the name and %s, and close its connections (the robot is %s)"
	switch {
	case r.DryRun:
		what = "would be revoked: brokers would refuse the name and %s, and close its connections (the robot is %s)"
	case !r.Broker:
		what = "revoked, but the broker does not know it yet: fleetd is not connected to it. When it is connected again, the broker refuses the name and %s, and closes its connections (the robot is %s)"
	}
	return r.Robot + " " + fmt.Sprintf(what, certificates, orElse(r.PresenceStatus, "not seen"))
}

func timeOrEmpty(t schema.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

func (sh *shell) revokeCommand() *cobra.Command {
	var why string
	var dry bool
	c := &cobra.Command{
		Use: "revoke ROBOT", Short: "revoke a robot's credentials, at once", Args: exactlyOne,
		Long: `Revoke a robot's credentials: brokers close its connections at once and refuse its name and
every certificate issued to it. This is not a stop: a disconnected robot does what its modes
do without a link. It remains in the fleet; enrolling it again with a new token ends the
revocation, and so does fleetd adopt where robots have passwords.`,
		Example: "  fleetd robot revoke r7 --why 'stolen from hall 2'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" && !dry {
				return usage("--why is missing: write why the robot is no longer trusted")
			}
			body := api.RevokeRequest{DryRun: dry, Attribution: audit.Attribution{Who: sh.by, Why: why}}
			var r api.Revoked
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: robotPath(args[0], "revoke"), body: body}, &r); err != nil {
				return err
			}
			return sh.show(r, func(w io.Writer) { fmt.Fprintln(w, revokedLine(r)) })
		}),
	}
	c.Flags().StringVar(&why, "why", "", "why it is no longer trusted, for the audit")
	c.Flags().BoolVar(&dry, "dry-run", false, "only show what it would revoke")
	return c
}
