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
		writeTable(out, "NEEDED FOR\tNAME\tEXPIRES", s.Own, func(c api.OwnCertificate) []any {
			return []any{c.Use, c.Name, c.Expires}
		})
		fmt.Fprintln(out)
	}
	writeTable(out, "CERTIFICATE\tINSTANCE\tISSUED\tEXPIRES\tREVOKED", s.Certificates, func(c api.InstanceCertificate) []any {
		return []any{c.Serial, dash(c.Name), c.Issued, c.Expires, dash(strings.TrimSpace(timeOrEmpty(c.Revoked) + " " + c.By + " " + c.Why))}
	})
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
