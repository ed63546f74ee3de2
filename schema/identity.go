package schema

import (
	"strings"
	"unicode/utf8"
)

// A certificate names its holder in exactly one URI and again in its common name. The
// URI also names the role: a robot or a fleetd.
const (
	robotURN  = "urn:troupe:robot:"
	fleetdURN = "urn:troupe:fleetd:"
)

// IdentityURN returns the URI in the certificate of a robot or a fleetd. It is empty for
// other roles, which have no certificates.
func IdentityURN(role Role, name string) string {
	switch role {
	case RoleRobot:
		return robotURN + name
	case RoleFleetd:
		return fleetdURN + name
	}
	return ""
}

// ParseIdentityURN parses such a URI.
func ParseIdentityURN(urn string) (role Role, name string, ok bool) {
	name, ok = strings.CutPrefix(urn, robotURN)
	role = RoleRobot
	if !ok {
		name, ok = strings.CutPrefix(urn, fleetdURN)
		role = RoleFleetd
	}
	if !ok || !ValidID(name) {
		return "", "", false
	}
	return role, name, true
}

// EnrolRequest is a robot's one-time request for its first certificate, over HTTPS, with
// an enrolment token.
type EnrolRequest struct {
	Token  string `json:"token"`
	CSR    string `json:"csr"`              // PEM; the private key never leaves the robot
	Serial string `json:"serial,omitempty"` // of the body, if the token is bound to one
}

// RenewRequest is a robot's request for its next certificate, over a connection that it
// authenticates with the present one.
type RenewRequest struct {
	CSR string `json:"csr"` // PEM, for a new key
}

// Enrolled is the answer to both requests; the robot stores it.
type Enrolled struct {
	TS          Time     `json:"ts"` // the fleet's time, for robots without a clock
	Robot       string   `json:"robot"`
	Certificate string   `json:"certificate"` // PEM, the robot's own first, then its signers
	CA          string   `json:"ca"`          // PEM, the roots that the robot shall trust
	Brokers     []string `json:"brokers"`     // addresses of the brokers, the preferred first
	Expires     Time     `json:"expires"`
	// FleetID is the fleet that the robot obeys unless it already obeys one;
	// TrustKeys are the keys whose signatures it trusts unless keys are configured on
	// the robot. A robot takes both from its enrolment, never from a renewal.
	FleetID   string   `json:"fleet_id,omitempty"`   // UUID of the fleet's database
	TrustKeys []string `json:"trust_keys,omitempty"` // as in the robot's trust.keys
}

// maxPEM is the greatest size of a certificate request in bytes.
const maxPEM = 8 << 10

// Validate reports missing or invalid fields.
func (r *EnrolRequest) Validate() []Problem {
	var c checks
	c.present("/token", r.Token != "")
	c.pem("/csr", r.CSR)
	if len(r.Serial) > 128 || !utf8.ValidString(r.Serial) {
		c.add("/serial", "bad_value", "the serial number is too long, or not UTF-8", "at most 128 bytes")
	}
	return c
}

// Validate reports missing or invalid fields.
func (r *RenewRequest) Validate() []Problem {
	var c checks
	c.pem("/csr", r.CSR)
	return c
}

func (c *checks) pem(at, text string) {
	c.present(at, text != "")
	if len(text) > maxPEM {
		c.add(at, "too_long", "the request for a certificate is too long", "a request for a P-256 key has less than 1 KiB")
	}
}

// Validate reports missing or invalid fields.
func (e *Enrolled) Validate() []Problem {
	var c checks
	c.id("/robot", e.Robot)
	c.present("/certificate", e.Certificate != "")
	c.present("/ca", e.CA != "")
	c.present("/expires", e.Expires > 0)
	return c
}
