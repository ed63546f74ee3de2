package schema

import (
	"strings"
	"unicode/utf8"
)

// A certificate says who holds it in exactly one URI and, again, in its common
// name. The URI tells what he is: a robot, or a fleetd instance.
const (
	robotURN  = "urn:troupe:robot:"
	fleetdURN = "urn:troupe:fleetd:"
)

// IdentityURN is the URI by which a certificate names a robot or a fleetd instance; empty
// for every other role, which has no certificate.
func IdentityURN(role Role, name string) string {
	switch role {
	case RoleRobot:
		return robotURN + name
	case RoleFleetd:
		return fleetdURN + name
	}
	return ""
}

// ParseIdentityURN reads such a URI.
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

// EnrolRequest is how a robot asks for its certificate, over HTTPS and once, with
// the token that a person was given for it.
type EnrolRequest struct {
	Token  string `json:"token"`
	CSR    string `json:"csr"`              // PEM; its key never leaves the robot
	Serial string `json:"serial,omitempty"` // of the body, where the token is bound to one
}

// RenewRequest is how a robot asks for its next certificate, over a connection
// that it made with the present one.
type RenewRequest struct {
	CSR string `json:"csr"` // PEM, of a new key
}

// Enrolled is the answer to both: what a robot keeps.
type Enrolled struct {
	TS          Time     `json:"ts"` // the fleet's time, for robots without a clock
	Robot       string   `json:"robot"`
	Certificate string   `json:"certificate"` // PEM, the robot's own first, then who signed it
	CA          string   `json:"ca"`          // PEM, whom the robot is to trust
	Brokers     []string `json:"brokers"`     // where it is to connect, the preferred first
	Expires     Time     `json:"expires"`
	// Whom the robot obeys from its first desired state on, unless it obeys somebody already,
	// and whose signatures it believes, unless it was told on the spot. A robot takes
	// both with its first certificate, and from a renewal neither.
	FleetID   string   `json:"fleet_id,omitempty"`   // UUID of the fleet's database
	TrustKeys []string `json:"trust_keys,omitempty"` // as in the robot's trust.keys
}

// maxPEM bounds a request for a certificate, in bytes.
const maxPEM = 8 << 10

// Validate reports what a request must carry and does not.
func (r *EnrolRequest) Validate() []Problem {
	var c checks
	c.said("/token", r.Token != "")
	c.pem("/csr", r.CSR)
	if len(r.Serial) > 128 || !utf8.ValidString(r.Serial) {
		c.add("/serial", "bad_value", "the serial number is too long", "at most 128 characters")
	}
	return c
}

// Validate reports what a request must carry and does not.
func (r *RenewRequest) Validate() []Problem {
	var c checks
	c.pem("/csr", r.CSR)
	return c
}

func (c *checks) pem(at, text string) {
	c.said(at, text != "")
	if len(text) > maxPEM {
		c.add(at, "too_long", "the request for a certificate is too long", "a request for a P-256 key has less than 1 KiB")
	}
}

// Validate reports what an answer must carry and does not.
func (e *Enrolled) Validate() []Problem {
	var c checks
	c.id("/robot", e.Robot)
	c.said("/certificate", e.Certificate != "")
	c.said("/ca", e.CA != "")
	c.said("/expires", e.Expires > 0)
	return c
}
