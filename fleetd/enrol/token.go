package enrol

import (
	"encoding/hex"
	"fmt"
	"time"

	"troupe/schema"
)

// How long a token may be used.
const (
	DefaultValid = 24 * time.Hour
	LeastValid   = time.Minute
	MostValid    = 7 * 24 * time.Hour
)

// Token is what fleetd keeps of an enrolment token: enough to know it again,
// too little to use it.
type Token struct {
	Digest    string // SHA-256 of the secret, hexadecimal
	Robot     string
	Serial    string // of the body; empty = any
	CreatedAt time.Time
	CreatedBy string
	ExpiresAt time.Time

	UsedAt      time.Time // zero = not yet
	Key         string    // SHA-256 of the key that it was used for
	Certificate string    // serial number of what it was used for
}

// DigestOf is how a token is found again.
func DigestOf(t schema.EnrolmentToken) string {
	sum := t.Digest()
	return hex.EncodeToString(sum[:])
}

// Ask is what somebody shows who wants to be a robot of the fleet.
type Ask struct {
	Robot  string // as his token says
	Serial string // of his body, as he says
	Key    string // SHA-256 of his key
}

// Why a token is refused.
const (
	CodeTokenUnknown = "token_unknown"
	CodeTokenUsed    = "token_used"
	CodeTokenExpired = "token_expired"
	CodeWrongBody    = "wrong_body"
)

// Grant is how an ask is granted.
type Grant string

const (
	First Grant = "first" // a certificate is to be made, and the token is used
	Again Grant = "again" // the answer was lost on its way: the same key gets the same certificate
)

// Redeem decides whether a token may be used. Who has none that is known is told
// nothing else. Known is whether there is a token of that digest.
func Redeem(t Token, known bool, ask Ask, now time.Time) (Grant, *schema.Problem) {
	refuse := func(code, detail, hint string) (Grant, *schema.Problem) {
		p := schema.Fault("/token", code, detail, hint)
		return "", &p
	}
	another := "make another with fleetd robot enrol " + t.Robot
	switch {
	case !known || t.Robot != ask.Robot:
		return refuse(CodeTokenUnknown, "this instance knows no such token", "make one with fleetd robot enrol NAME")
	case t.Serial != "" && t.Serial != ask.Serial:
		return refuse(CodeWrongBody, fmt.Sprintf("the token is for the body with the serial number %q, this one says %q", t.Serial, ask.Serial), "use it on that body, or "+another)
	case !t.UsedAt.IsZero() && t.Key == ask.Key && now.Before(t.ExpiresAt):
		return Again, nil
	case !t.UsedAt.IsZero():
		return refuse(CodeTokenUsed, "the token was used on "+at(t.UsedAt), another)
	case !now.Before(t.ExpiresAt):
		return refuse(CodeTokenExpired, "the token ended on "+at(t.ExpiresAt), another)
	}
	return First, nil
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
