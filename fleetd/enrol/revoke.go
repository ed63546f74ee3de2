package enrol

import (
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// RevokedName is a robot whose name brokers refuse, whatever its credentials, until it is
// enrolled again or adopted.
type RevokedName struct {
	Robot string
	At    time.Time
	By    string
	Why   string
}

// Revocation is the change that a revocation makes.
type Revocation struct {
	Name         RevokedName
	Certificates []Certificate // those that it revokes, as changed
}

// Revoke revokes every valid certificate of a robot, and its name, since it may also
// have a password. Revoking again keeps the date and reason of certificates that are
// revoked already.
func Revoke(held []Certificate, robot, by, why string, now time.Time) Revocation {
	out := Revocation{Name: RevokedName{Robot: robot, At: now, By: by, Why: why}}
	for _, c := range held {
		if c.Live(now) {
			c.RevokedAt, c.RevokedBy, c.RevokedWhy = now, by, why
			out.Certificates = append(out.Certificates, c)
		}
	}
	return out
}

// RevokedDocument makes the document fleet/revoked: revoked names, and revoked certificates that have not
// expired, since brokers refuse expired ones anyway. The name of a decommissioned robot stays for
// ever, because its password, if it has one, does not expire.
func RevokedDocument(names []RevokedName, revoked []Certificate, fleetID string, rev int64, now time.Time) schema.Revoked {
	out := schema.Revoked{Rev: rev, FleetID: fleetID, Names: []string{}, Serials: []string{}, TS: schema.TimeOf(now)}
	for _, b := range names {
		out.Names = append(out.Names, b.Robot)
	}
	for _, c := range Unexpired(revoked, now) {
		out.Serials = append(out.Serials, c.Serial)
	}
	slices.Sort(out.Names)
	return out
}

// EncodeRevoked encodes such a list in at most limit bytes, because the broker would refuse a
// longer one and keep the one before. Certificates are left out first: brokers with --crl also
// have them in that file, while a revoked name works against any credentials. Then the names
// that were revoked longest ago are left out; omitted is their number, to warn people.
func EncodeRevoked(names []RevokedName, revoked []Certificate, fleetID string, rev int64, now time.Time,
	limit int) (payload []byte, omitted int, err error) {
	all := len(names)
	names = slices.SortedFunc(slices.Values(names), func(a, b RevokedName) int { return b.At.Compare(a.At) })
	for {
		l := RevokedDocument(names, revoked, fleetID, rev, now)
		payload, err := schema.Encode(l)
		switch {
		case err != nil || len(payload) <= limit || len(l.Serials)+len(names) == 0:
			return payload, all - len(names), err
		case len(l.Serials) > 0:
			revoked = Unexpired(revoked, now)
			revoked = revoked[:len(revoked)-1-len(revoked)/16]
		default:
			names = names[:len(names)-1-len(names)/16]
		}
	}
}

// ValidSerial reports whether s is a serial number as lists have it: at most 20 bytes in
// lower-case hexadecimal without leading zeros.
func ValidSerial(s string) bool {
	if s == "" || len(s) > 40 || s[0] == '0' {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Unexpired returns the revoked certificates that have not expired, by serial number.
func Unexpired(all []Certificate, now time.Time) []Certificate {
	var out []Certificate
	for _, c := range all {
		if !c.RevokedAt.IsZero() && now.Before(c.NotAfter) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Certificate) int { return strings.Compare(a.Serial, b.Serial) })
	return out
}
