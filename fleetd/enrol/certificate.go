package enrol

import (
	"fmt"
	"time"

	"troupe/schema"
)

// How a robot came to a certificate.
type How string

const (
	ByToken   How = "token"
	ByRenewal How = "renewal"
	ByService How = "service" // a fleetd instance's, made with the fleet's keys
	ByList    How = "list"    // of which only the serial number is known, and that it is revoked
)

// LongestLife is how long a certificate of which nothing is known may still be good.
const LongestLife = 90 * 24 * time.Hour

// Certificate is what fleetd keeps of a certificate that it issued.
type Certificate struct {
	Serial    string // hexadecimal, lower case
	Robot     string // empty = it is no robot's
	How       How
	IssuedAt  time.Time
	NotBefore time.Time
	NotAfter  time.Time
	PEM       string // with who signed it

	RevokedAt  time.Time // zero = never
	RevokedBy  string
	RevokedWhy string
}

// Live reports whether the certificate opens a door at that time.
func (c Certificate) Live(now time.Time) bool {
	return c.RevokedAt.IsZero() && now.Before(c.NotAfter)
}

// mostLive bounds how many certificates of one robot open doors at a time: a
// robot that asks again and again is out of its mind.
const mostLive = 8

// Why a robot does not get its next certificate.
const (
	CodeRevoked  = "certificate_revoked"
	CodeNotKnown = "certificate_unknown"
	CodeTooMany  = "too_many_certificates"
)

// Renew decides whether the robot that shows the certificate of that serial
// number may have its next one. held are all that it was ever given. The present
// one stays good until its own end.
func Renew(held []Certificate, serial string, now time.Time) *schema.Problem {
	if no := Holds(held, serial); no != nil {
		return no
	}
	live := 0
	for _, c := range held {
		if c.Live(now) {
			live++
		}
	}
	if live >= mostLive {
		return refuse(CodeTooMany, fmt.Sprintf("the robot has %d certificates that are all good", live), "find out why it asks so often; revoke it and enrol it again to begin anew")
	}
	return nil
}

// Holds decides whether the certificate of that serial number, which has not
// ended, is one of those that a robot was given, and was not revoked.
func Holds(held []Certificate, serial string) *schema.Problem {
	for _, c := range held {
		switch {
		case c.Serial != serial:
		case !c.RevokedAt.IsZero():
			return refuse(CodeRevoked, "this certificate was revoked on "+at(c.RevokedAt), "enrol the robot again with a new token")
		default:
			return nil
		}
	}
	return refuse(CodeNotKnown, "this instance has no record of that certificate", "enrol the robot again with a new token")
}

func refuse(code, detail, hint string) *schema.Problem {
	p := schema.Fault("", code, detail, hint)
	return &p
}
