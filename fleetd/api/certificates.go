package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/ca"
	"troupe/fleetd/enrol"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Service is the certificate of a fleetd instance.
type Service struct {
	Serial  string      `json:"serial"`
	Name    string      `json:"name,omitempty" doc:"name of the instance; left out if only the serial number is known"`
	Issued  schema.Time `json:"issued"`
	Expires schema.Time `json:"expires"`
	Revoked schema.Time `json:"revoked,omitzero"`
	By      string      `json:"revoked_by,omitempty"`
	Why     string      `json:"revoked_why,omitempty"`
}

// Services lists the certificates that do not belong to robots.
type Services struct {
	Services []Service `json:"services"`
}

// RevokedCertificate is the result of revoking one certificate.
type RevokedCertificate struct {
	Serial string `json:"serial"`
	Name   string `json:"name,omitempty" doc:"its holder; left out if only the serial number is known"`
	Broker bool   `json:"broker" doc:"fleetd is connected to its broker, which gets the revocation at once; otherwise it gets it when fleetd is connected again"`
}

func (s *server) services(h huma.API) {
	huma.Register(h, op("list-services", http.MethodGet, "/services", "identity", "List the certificates of fleetd instances",
		"Those made with fleetd ca service in the folder of this instance's keys, and revoked ones of which only the serial number is known."),
		func(ctx context.Context, _ *struct{}) (*answer[Services], error) {
			out := Services{Services: []Service{}}
			err := s.inTx(ctx, "the certificates of fleetd instances", func(tx *store.Tx) error {
				all, err := tx.Certificates(ctx, "")
				out.Services = out.Services[:0]
				for _, c := range all {
					out.Services = append(out.Services, Service{
						Serial: c.Serial, Name: nameIn(c), Issued: timeOf(c.IssuedAt), Expires: timeOf(c.NotAfter),
						Revoked: timeOf(c.RevokedAt), By: c.RevokedBy, Why: c.RevokedWhy,
					})
				}
				return err
			})
			if err != nil {
				return nil, err
			}
			return &answer[Services]{out}, nil
		})
	huma.Register(h, op("revoke-certificate", http.MethodPost, "/certificates/{serial}/revoke", "identity", "Revoke one certificate",
		"Of a fleetd instance, a robot or an unknown holder: brokers close its connections at once and refuse it. The name can still connect with another certificate. A reason is required."),
		func(ctx context.Context, in *struct {
			Serial string `path:"serial" doc:"lower-case hexadecimal"`
			Body   Signed
		}) (*answer[RevokedCertificate], error) {
			return s.revokeCertificate(ctx, in.Serial, in.Body)
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

func (s *server) revokeCertificate(ctx context.Context, serial string, in Signed) (*answer[RevokedCertificate], error) {
	if !enrol.ValidSerial(serial) {
		return nil, KindInvalid.Problem(fmt.Sprintf("%q is no serial number", serial), "write up to 40 of 0-9 and a-f, as fleetd ca list and fleetd robot identity show it")
	}
	if strings.TrimSpace(in.Why) == "" {
		return nil, noReason("certificate " + serial)
	}
	now := s.fleet.Now()
	out := RevokedCertificate{Serial: serial, Broker: s.fleet.Status().Broker.OK}
	err := s.inTx(ctx, "certificate "+serial, func(tx *store.Tx) error {
		if err := tx.RevokeSerial(ctx, serial, in.By, in.Why, now); err != nil {
			return err
		}
		c, err := tx.Certificate(ctx, serial)
		if err != nil {
			return err
		}
		out.Name = nameIn(c)
		if err := tx.TellRevoked(ctx, s.fleet.Status().FleetID, now); err != nil {
			return err
		}
		return tx.Note(ctx, now, library.Note{Who: in.By, What: "revoke", Target: "certificate " + serial, Detail: in.Why})
	})
	if err != nil {
		return nil, err
	}
	s.fleet.Changed(ctx)
	s.log.Warn("certificate revoked", "serial", serial, "of", out.Name, "by", in.By, "why", in.Why)
	return &answer[RevokedCertificate]{out}, nil
}
