package enrol

import (
	"encoding/hex"
	"fmt"
	"time"

	"troupe/schema"
)

// DefaultValid is how long tokens are valid.
const DefaultValid = 24 * time.Hour

// Token is the row of an enrolment token. It has a digest instead of the secret.
type Token struct {
	Digest    string // SHA-256 of the secret, hexadecimal
	Robot     string
	Serial    string            // serial number of the body; empty = any
	Labels    map[string]string // that the robot gets when it enrols; nil = none
	CreatedAt time.Time
	CreatedBy string
	ExpiresAt time.Time

	UsedAt      time.Time // zero = not yet
	Key         string    // SHA-256 of the public key that it was used for
	Certificate string    // serial number of the certificate that it was used for
}

// DigestOf returns the digest under which the row of a token is found.
func DigestOf(t schema.EnrolmentToken) string {
	sum := t.Digest()
	return hex.EncodeToString(sum[:])
}

// Request is an enrolment request.
type Request struct {
	Robot  string // robot named in the token
	Serial string // serial number of the body, as the robot says
	Key    string // SHA-256 of its public key
}

// Why a token is refused.
const (
	CodeTokenUnknown = "token_unknown"
	CodeTokenUsed    = "token_used"
	CodeTokenExpired = "token_expired"
	CodeWrongBody    = "wrong_body"
)

// Grant says how to answer a granted Request.
type Grant string

const (
	First Grant = "first" // issue a certificate and mark the token as used
	Again Grant = "again" // the answer was lost: the same key gets the same certificate
)

// Redeem decides whether a token may be used. known says whether there is a row with its
// digest; if not, the answer reveals nothing else.
func Redeem(t Token, known bool, request Request, now time.Time) (Grant, *schema.Problem) {
	refuse := func(code, detail, hint string) (Grant, *schema.Problem) {
		p := schema.NewProblem("/token", code, detail, hint)
		return "", &p
	}
	another := "make another with fleetd robot enrol " + t.Robot
	switch {
	case !known || t.Robot != request.Robot:
		return refuse(CodeTokenUnknown, "unknown token", "make one with fleetd robot enrol NAME")
	case t.Serial != "" && t.Serial != request.Serial:
		return refuse(CodeWrongBody, fmt.Sprintf("the token is for the body with the serial number %q, this one has %q", t.Serial,
			request.Serial), "use it on that body, or "+another)
	case !t.UsedAt.IsZero() && t.Key == request.Key && now.Before(t.ExpiresAt):
		return Again, nil
	case !t.UsedAt.IsZero():
		return refuse(CodeTokenUsed, "the token was used on "+at(t.UsedAt), another)
	case !now.Before(t.ExpiresAt):
		return refuse(CodeTokenExpired, "the token expired on "+at(t.ExpiresAt), another)
	}
	return First, nil
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
