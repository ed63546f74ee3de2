package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
)

func makeEnrolmentToken(sh *shell, c *cobra.Command) finish {
	labels := c.Flags().StringArrayP("label", "l", nil, "label KEY=VALUE that the robot gets when it enrols; may be repeated")
	return func(ctx context.Context, _ []string, r rowRequest) error {
		if ms, is := r.body["valid_ms"].(int64); is && (ms < time.Minute.Milliseconds() || ms > 7*24*time.Hour.Milliseconds()) {
			return usage("--valid %v: write 1m to 168h", time.Duration(ms)*time.Millisecond)
		}
		if set, unset, err := labelChanges(*labels); err != nil {
			return err
		} else if len(unset) > 0 {
			return usage("--label %s-: a new robot has no labels to remove; write KEY=VALUE", unset[0])
		} else if len(set) > 0 {
			r.body["labels"] = set
		}
		return sh.sendRow(ctx, r)
	}
}

func enrolmentText(t api.EnrolmentToken) string {
	return fmt.Sprintf("on the robot, once, until %s:\n  %s", t.Expires, t.Line)
}

func identityTables(_ *shell, out io.Writer, i api.Identity) {
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
		what = "revoked, but the broker does not know it yet: fleetd is not connected to it. When it is connected again, the broker refuses " +
			"the name and %s, and closes its connections (the robot is %s)"
	}
	return r.Robot + " " + fmt.Sprintf(what, certificates, orElse(r.PresenceStatus, "not seen"))
}

func timeOrEmpty(t schema.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}
