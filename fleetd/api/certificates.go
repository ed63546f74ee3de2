package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/ca"
	"troupe/fleetd/certificate"
	"troupe/fleetd/enrol"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// InstanceCertificate is the certificate of a fleetd instance.
type InstanceCertificate struct {
	Serial  string      `json:"serial"`
	Name    string      `json:"name,omitempty" doc:"name of the instance; left out if only the serial number is known"`
	Issued  schema.Time `json:"issued"`
	Expires schema.Time `json:"expires"`
	Revoked schema.Time `json:"revoked,omitzero"`
	By      string      `json:"revoked_by,omitempty"`
	Why     string      `json:"revoked_why,omitempty"`
}

// OwnCertificate is a certificate that this instance needs to run.
type OwnCertificate struct {
	Use     certificate.Use `json:"use" enum:"root,intermediate,address,broker" doc:"root: every client trusts it; intermediate: fleetd issues certificates with it; address: of fleetd's HTTP address; broker: for the connection to the broker"`
	Name    string          `json:"name"`
	Expires schema.Time     `json:"expires"`
}

// InstanceCertificates lists the certificates that do not belong to robots.
type InstanceCertificates struct {
	Own          []OwnCertificate      `json:"own" doc:"what this instance needs to run; empty without certificates"`
	Certificates []InstanceCertificate `json:"certificates"`
}

// RevokedCertificate is the result of revoking one certificate.
type RevokedCertificate struct {
	Serial string `json:"serial"`
	Name   string `json:"name,omitempty" doc:"its holder; left out if only the serial number is known"`
	Broker bool   `json:"broker" doc:"fleetd is connected to its broker, which gets the revocation at once; otherwise it gets it when fleetd is connected again"`
}

func (s *server) instanceCertificates(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-instance-certificates", Method: http.MethodGet, Path: "/instance-certificates", Tag: "identity", Right: auth.View,
		Summary: "List the certificates of fleetd instances",
		Description: "Those that this instance needs, those made with fleetd ca instance in the folder of its keys, and revoked " +
			"ones of which only the serial number is known.",
		FleetWide: true,
		Use:       "ca list",
	}, func(ctx context.Context, _ *noInput) (*answer[InstanceCertificates], error) {
		all, err := s.Identities.InstanceCertificates(ctx)
		if err != nil {
			return nil, s.fail(err, "the certificates of fleetd instances")
		}
		own, err := s.Identity.Own()
		if err != nil {
			return nil, err
		}
		out := InstanceCertificates{Own: []OwnCertificate{}, Certificates: []InstanceCertificate{}}
		for _, c := range own {
			out.Own = append(out.Own, OwnCertificate{Use: c.Use, Name: c.Name, Expires: timeOf(c.NotAfter)})
		}
		for _, c := range all {
			out.Certificates = append(out.Certificates, InstanceCertificate{
				Serial: c.Serial, Name: nameIn(c), Issued: timeOf(c.IssuedAt), Expires: timeOf(c.NotAfter),
				Revoked: timeOf(c.RevokedAt), By: c.RevokedBy, Why: c.RevokedWhy,
			})
		}
		return &answer[InstanceCertificates]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "revoke-certificate", Method: http.MethodPost, Path: "/certificates/{serial}/revoke", Tag: "identity", Right: auth.Administer,
		Summary: "Revoke one certificate",
		Description: "Of a fleetd instance, a robot or an unknown holder: brokers close its connections at once and refuse it. The " +
			"name can still connect with another certificate. A reason is required.",
		Audit:   audit.ActionRevoke,
		Use:     "ca revoke SERIAL",
		Short:   "revoke one certificate, at once",
		Example: "ca revoke 65bf527bf4f23c5b34be9bd5477f7649c466932e --why lost",
	}, func(ctx context.Context, in *struct {
		caller
		Serial string `path:"serial" doc:"lower-case hexadecimal"`
		Body   audit.Attribution
	}) (*answer[RevokedCertificate], error) {
		return s.revokeCertificate(ctx, in.principal, in.Serial, in.Body)
	})
}

// nameIn returns the name of the holder of a certificate, empty if only the serial number
// is known.
func nameIn(c enrol.Certificate) string {
	if c.Robot != "" {
		return "robot " + c.Robot
	}
	leaf, err := ca.ReadCertificate([]byte(c.PEM))
	if err != nil {
		return ""
	}
	return leaf.Subject.CommonName
}

func (s *server) revokeCertificate(ctx context.Context, p auth.Principal, serial string,
	in audit.Attribution) (*answer[RevokedCertificate], error) {
	if !enrol.ValidSerial(serial) {
		return nil, KindInvalid.Problem(fmt.Sprintf("%q is no serial number", serial),
			"write up to 40 of 0-9 and a-f, as fleetd ca list and fleetd robot identity show it")
	}
	if strings.TrimSpace(in.Why) == "" {
		return nil, noReason("certificate " + serial)
	}
	c, err := s.Identities.RevokeSerial(ctx, p, serial, attribute(p, in))
	if err != nil {
		return nil, s.fail(err, "certificate "+serial)
	}
	out := RevokedCertificate{Serial: serial, Name: nameIn(c), Broker: s.Status().Broker.OK}
	s.Log.WarnContext(ctx, "certificate revoked", "serial", serial, "of", out.Name, "by", attribute(p, in).Who, "why", in.Why)
	return &answer[RevokedCertificate]{out}, nil
}
