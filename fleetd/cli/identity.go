package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
)

func robotPath(robot, below string) string { return "robots/" + url.PathEscape(robot) + "/" + below }

// identityCommands are how a robot gets its credentials and loses them.
func (sh *shell) identityCommands() []*cobra.Command {
	return []*cobra.Command{sh.enrolCommand(), sh.identityCommand(), sh.revokeCommand()}
}

func (sh *shell) enrolCommand() *cobra.Command {
	var serial, why string
	var valid time.Duration
	c := &cobra.Command{
		Use: "enrol ROBOT", Short: "make a token with which a machine becomes that robot, once", Args: exactlyOne,
		Long: `Make an enrolment token and say what to type on the robot. The robot makes its key
itself and shows the token to get its certificate. A token is used once, lasts a day
and ends when a newer one is made for the same robot. Whoever has it can be that
robot: send it as you would send a password.`,
		Example: "  fleetd robot enrol r7\n  fleetd robot enrol r7 --serial B-0412 --valid 2h",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if valid != 0 && (valid < time.Minute || valid > 7*24*time.Hour) {
				return usage("--valid %v: write 1m to 168h", valid)
			}
			body := api.TokenAsk{Serial: serial, ValidMS: valid.Milliseconds(), Signed: api.Signed{By: sh.by, Why: why}}
			var t api.Token
			if err := sh.call(cmd.Context(), ask{method: http.MethodPost, path: robotPath(args[0], "tokens"), body: body}, &t); err != nil {
				return err
			}
			return sh.show(t, func(w io.Writer) {
				fmt.Fprintf(w, "on the robot, once, until %s:\n  %s\n", t.Expires, t.Line)
			})
		}),
	}
	c.Flags().StringVar(&serial, "serial", "", "serial number of the body: only that one may use the token")
	c.Flags().DurationVar(&valid, "valid", 0, "how long the token lasts (default 24h)")
	c.Flags().StringVar(&why, "why", "", "for the record")
	return c
}

func (sh *shell) identityCommand() *cobra.Command {
	return &cobra.Command{
		Use: "identity ROBOT", Short: "list a robot's certificates and tokens", Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var i api.Identity
			if err := sh.call(cmd.Context(), ask{method: http.MethodGet, path: robotPath(args[0], "identity")}, &i); err != nil {
				return err
			}
			return sh.show(i, func(w io.Writer) { identityTable(w, i) })
		}),
	}
}

func identityTable(out io.Writer, i api.Identity) {
	if i.Revoked != 0 {
		fmt.Fprintf(out, "robot %s is revoked since %s; fleetd robot enrol %s brings it back\n", i.Robot, i.Revoked, i.Robot)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CERTIFICATE\tBY\tISSUED\tEXPIRES\tREVOKED")
	for _, c := range i.Certificates {
		row(w, c.Serial, c.How, c.Issued, c.Expires, dash(strings.TrimSpace(stamp(c.Revoked)+" "+c.By+" "+c.Why)))
	}
	fmt.Fprintln(w, "\nTOKEN OF\tBY\tEXPIRES\tUSED")
	for _, t := range i.Tokens {
		row(w, t.At, dash(t.By), t.Expires, dash(stamp(t.Used)))
	}
	_ = w.Flush() // a reader that went away is told by the next write
}

// revokedLine says what a revocation comes to. Without a broker it comes to nothing
// yet, and nobody must think so.
func revokedLine(r api.Revoked) string {
	certificates := fmt.Sprintf("%d certificates", len(r.Certificates))
	if len(r.Certificates) == 1 {
		certificates = "1 certificate"
	}
	what := "revoked: brokers refuse the name and %s, and end its connections (it is %s)"
	switch {
	case r.DryRun:
		what = "it would be revoked: brokers would refuse the name and %s, and end its connections (it is %s)"
	case !r.Broker:
		what = "revoked, and no broker knows: fleetd has none now. When it has it again, that one refuses the name and %s, and ends its connections (it is %s)"
	}
	return r.Robot + " " + fmt.Sprintf(what, certificates, orElse(r.View, "not there"))
}

func stamp(t schema.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

func (sh *shell) revokeCommand() *cobra.Command {
	var why string
	var dry bool
	c := &cobra.Command{
		Use: "revoke ROBOT", Short: "take a robot's credentials away, at once", Args: exactlyOne,
		Long: `Take a robot's credentials away: brokers end its connections at once and refuse its
name and every certificate it was given. It is not a stop: a robot that is cut off does
what its modes do without a link. It stays one of the fleet's; enrolling it with a new
token brings it back, or fleetd adopt where robots have passwords.`,
		Example: "  fleetd robot revoke r7 --why 'stolen from hall 2'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" && !dry {
				return usage("say --why the robot is not to be trusted any more")
			}
			body := api.RevokeAsk{DryRun: dry, Signed: api.Signed{By: sh.by, Why: why}}
			var r api.Revoked
			if err := sh.call(cmd.Context(), ask{method: http.MethodPost, path: robotPath(args[0], "revoke"), body: body}, &r); err != nil {
				return err
			}
			return sh.show(r, func(w io.Writer) { fmt.Fprintln(w, revokedLine(r)) })
		}),
	}
	c.Flags().StringVar(&why, "why", "", "why it is not to be trusted any more, for the record")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what it would take")
	return c
}
