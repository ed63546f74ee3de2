package enrol

import (
	"fmt"
	"time"

	"troupe/schema"
)

// How is how a certificate was issued, or why fleetd knows of it.
type How string

const (
	ByToken    How = "token"
	ByRenewal  How = "renewal"
	ByInstance How = "service" // of a fleetd instance, made with the fleet's keys
	BySerial   How = "list"    // revoked by its serial number; nothing else is known. The database keeps the name list
)

// LongestLife bounds how long a certificate of unknown lifetime may still be valid.
const LongestLife = 90 * 24 * time.Hour

// Certificate is the row of a certificate.
type Certificate struct {
	Serial    string // hexadecimal, lower case
	Robot     string // empty = not of a robot
	How       How
	IssuedAt  time.Time
	NotBefore time.Time
	NotAfter  time.Time
	PEM       string // the chain

	RevokedAt  time.Time // zero = never
	RevokedBy  string
	RevokedWhy string
}

// Live reports whether the certificate is neither revoked nor expired at that time.
func (c Certificate) Live(now time.Time) bool {
	return c.RevokedAt.IsZero() && now.Before(c.NotAfter)
}

// maxLive bounds the valid certificates of one robot: a robot that keeps renewing is
// faulty.
const maxLive = 8

// Codes of refused renewals.
const (
	CodeRevoked  = "certificate_revoked"
	CodeNotKnown = "certificate_unknown"
	CodeTooMany  = "too_many_certificates"
)

// Renew decides whether a robot that presents the certificate with that serial number may
// get its next one. held are all that were issued to it. The present one stays valid until
// it expires.
func Renew(held []Certificate, serial string, now time.Time) *schema.Problem {
	if no := CheckCertificate(held, serial); no != nil {
		return no
	}
	live := 0
	for _, c := range held {
		if c.Live(now) {
			live++
		}
	}
	if live >= maxLive {
		return refuse(CodeTooMany, fmt.Sprintf("the robot has %d valid certificates", live),
			"find out why it renews so often; revoke it and enrol it again to start afresh")
	}
	return nil
}

// CheckCertificate decides whether the unexpired certificate with that serial number was issued to the
// robot and not revoked.
func CheckCertificate(held []Certificate, serial string) *schema.Problem {
	for _, c := range held {
		switch {
		case c.Serial != serial:
		case !c.RevokedAt.IsZero():
			return refuse(CodeRevoked, "this certificate was revoked on "+at(c.RevokedAt), "enrol the robot again with a new token")
		default:
			return nil
		}
	}
	return refuse(CodeNotKnown, "the database of this fleet has no record of that certificate", "enrol the robot again with a new token")
}

func refuse(code, detail, hint string) *schema.Problem {
	p := schema.NewProblem("", code, detail, hint)
	return &p
}
