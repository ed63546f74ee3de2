package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func revokeCertificate(sh *shell, c *cobra.Command) finish {
	send := needsReason("the certificate is no longer trusted")(sh, c)
	return func(ctx context.Context, args []string, r rowRequest) error {
		r.path["serial"] = strings.ToLower(r.path["serial"])
		return send(ctx, args, r)
	}
}

func certificateTables(_ *shell, out io.Writer, s api.InstanceCertificates) {
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
}

func revokedCertificateText(r api.RevokedCertificate) string {
	of := "unknown to this fleetd"
	if r.Name != "" {
		of = "of " + r.Name
	}
	what := "brokers refuse it and close its connections"
	if !r.Broker {
		what = "brokers do not know it yet: fleetd is not connected to its broker, and publishes the revocation when it is connected again"
	}
	return r.Serial + ", " + of + ", revoked: " + what
}
