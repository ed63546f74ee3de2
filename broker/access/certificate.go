package access

import (
	"crypto/x509"
	"errors"
	"fmt"

	"troupe/schema"
)

// Holder is the identity that a client certificate names. The chain of trust was verified
// during the TLS handshake.
type Holder struct {
	Role   schema.Role
	Name   string
	Serial string // lower-case hexadecimal
}

// HolderOf reads the certificate's one URI, urn:troupe:robot:NAME or
// urn:troupe:fleetd:NAME, and compares it with the common name. A certificate with several
// URIs is refused, because it would be ambiguous which one counts.
func HolderOf(cert *x509.Certificate) (Holder, error) {
	if len(cert.URIs) != 1 {
		return Holder{}, errors.New("the certificate must have exactly one URI, urn:troupe:robot:NAME or urn:troupe:fleetd:NAME")
	}
	role, name, ok := schema.ParseIdentityURN(cert.URIs[0].String())
	switch {
	case !ok:
		return Holder{}, errors.New("the certificate's URI names neither a robot nor a fleetd instance")
	case role == schema.RoleRobot && schema.ReservedName(name):
		return Holder{}, fmt.Errorf("the certificate names a robot %s, but that name is reserved for fleetd instances and people", name)
	case name != cert.Subject.CommonName:
		return Holder{}, errors.New("the certificate's common name differs from the name in its URI")
	}
	return Holder{role, name, serialOf(cert)}, nil
}

func serialOf(c *x509.Certificate) string { return c.SerialNumber.Text(16) }
