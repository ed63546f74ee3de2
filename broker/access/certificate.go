package access

import (
	"crypto/x509"
	"errors"
	"fmt"

	"troupe/schema"
)

// Holder is whom a certificate names. Whether the certificate is to be believed
// was decided when the connection was made.
type Holder struct {
	Role   schema.Role
	Name   string
	Serial string // lower-case hexadecimal
}

// HolderOf reads exactly one URI, urn:troupe:robot:NAME or urn:troupe:fleetd:NAME,
// and holds the common name against it. Further URIs are refused: which one counts
// would be anybody's guess.
func HolderOf(c *x509.Certificate) (Holder, error) {
	if len(c.URIs) != 1 {
		return Holder{}, errors.New("the certificate does not have exactly one URI")
	}
	role, name, ok := schema.ParseIdentityURN(c.URIs[0].String())
	switch {
	case !ok:
		return Holder{}, errors.New("the certificate names no robot and no fleetd")
	case role == schema.RoleRobot && schema.ReservedName(name):
		return Holder{}, fmt.Errorf("the certificate names a robot %s, and fleetd instances and people are called so", name)
	case name != c.Subject.CommonName:
		return Holder{}, errors.New("the certificate's common name is not that of its URI")
	}
	return Holder{role, name, serialOf(c)}, nil
}

func serialOf(c *x509.Certificate) string { return c.SerialNumber.Text(16) }
