package enrol

import (
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// Barred is a robot that is not taken whatever it shows, until somebody enrols it
// again.
type Barred struct {
	Robot string
	At    time.Time
	By    string
	Why   string
	Left  bool // it is none of the fleet's any more
}

// forgetAfter is when the name of a robot that left is told no more: every
// certificate that it ever had has ended.
const forgetAfter = 100 * 24 * time.Hour

// Revocation is what a revocation takes away.
type Revocation struct {
	Barred       Barred
	Certificates []Certificate // revoked by it, as they now are
}

// Revoke decides what is taken from a robot: every certificate that still opens a
// door, and its name, under which it might know a password. A second revocation
// takes nothing more and keeps the first one's date and reason persisted.
func Revoke(held []Certificate, robot, by, why string, now time.Time) Revocation {
	out := Revocation{Barred: Barred{Robot: robot, At: now, By: by, Why: why}}
	for _, c := range held {
		if c.Live(now) {
			c.RevokedAt, c.RevokedBy, c.RevokedWhy = now, by, why
			out.Certificates = append(out.Certificates, c)
		}
	}
	return out
}

// List is what brokers are told: the names that are barred, and the certificates
// that were revoked and have not ended. One that has ended is refused for that, and
// robots that left long ago need no mention.
func List(barred []Barred, revoked []Certificate, fleetID string, rev int64, now time.Time) schema.Revoked {
	out := schema.Revoked{Rev: rev, FleetID: fleetID, Names: []string{}, Serials: []string{}, TS: schema.TimeOf(now)}
	for _, b := range barred {
		if !b.Left || now.Sub(b.At) < forgetAfter {
			out.Names = append(out.Names, b.Robot)
		}
	}
	for _, c := range Standing(revoked, now) {
		out.Serials = append(out.Serials, c.Serial)
	}
	slices.Sort(out.Names)
	return out
}

// Fitted writes such a list in at most so many bytes, for the broker would refuse a
// longer one and go on with what it had. Certificates are left out first: brokers
// have them from the file too, while a name holds whatever a robot shows. Thousands
// of names are left out only then, those that were barred longest ago; left are how
// many, for people have to know.
func Fitted(barred []Barred, revoked []Certificate, fleetID string, rev int64, now time.Time, limit int) (payload []byte, left int, err error) {
	all := len(barred)
	barred = slices.SortedFunc(slices.Values(barred), func(a, b Barred) int { return b.At.Compare(a.At) })
	for {
		l := List(barred, revoked, fleetID, rev, now)
		payload, err := schema.Encode(l)
		switch {
		case err != nil || len(payload) <= limit || len(l.Serials)+len(barred) == 0:
			return payload, all - len(barred), err
		case len(l.Serials) > 0:
			revoked = Standing(revoked, now)
			revoked = revoked[:len(revoked)-1-len(revoked)/16]
		default:
			barred = barred[:len(barred)-1-len(barred)/16]
		}
	}
}

// ValidSerial reports whether s can be the serial number of a certificate, as lists
// have it: at most 20 bytes in lower-case hexadecimal, without zeros in front.
func ValidSerial(s string) bool {
	if s == "" || len(s) > 40 || s[0] == '0' {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Standing are the revoked certificates that have not ended, by serial number.
func Standing(all []Certificate, now time.Time) []Certificate {
	var out []Certificate
	for _, c := range all {
		if !c.RevokedAt.IsZero() && now.Before(c.NotAfter) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Certificate) int { return strings.Compare(a.Serial, b.Serial) })
	return out
}
