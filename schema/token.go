package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"
)

// SecretBytes is how much of an enrolment token nobody can guess.
const SecretBytes = 16

// EnrolmentToken is what a person carries from fleetd to a robot, once: for
// which robot it is, a secret that fleetd knows only by its digest, and the
// SHA-256 of the certificate with which fleetd will show itself, so that the
// robot tells nobody else.
type EnrolmentToken struct {
	Robot       string
	Secret      [SecretBytes]byte
	Fingerprint [sha256.Size]byte
}

const (
	tokenPrefix = "TROUPE-"
	// tokenSum is how many bytes tell a damaged token from a wrong one. With them
	// the bytes fill the letters of base 32 exactly.
	tokenSum = 2
)

var tokenText = base32.StdEncoding.WithPadding(base32.NoPadding)

// String is the token as it is written: TROUPE-r7-, and 80 letters and digits.
func (t EnrolmentToken) String() string {
	body := append(t.Secret[:], t.Fingerprint[:]...)
	return tokenPrefix + t.Robot + "-" + tokenText.EncodeToString(append(body, t.sum(body)...))
}

func (t EnrolmentToken) sum(body []byte) []byte {
	sum := sha256.Sum256(append([]byte(t.Robot+" "), body...))
	return sum[:tokenSum]
}

// Digest is how fleetd keeps a token: what was kept cannot be used.
func (t EnrolmentToken) Digest() [sha256.Size]byte { return sha256.Sum256(t.Secret[:]) }

// ErrToken is what is said of every text that is no token.
var ErrToken = errors.New("this is no enrolment token, or not all of it: it begins with TROUPE- and ends with 80 letters and digits")

// ParseToken reads a token. One letter too few, or another one, is found here and
// needs no question to fleetd.
func ParseToken(s string) (EnrolmentToken, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), tokenPrefix)
	cut := strings.LastIndexByte(rest, '-')
	if !ok || cut < 0 || !ValidID(rest[:cut]) {
		return EnrolmentToken{}, ErrToken
	}
	body, err := tokenText.DecodeString(rest[cut+1:])
	if err != nil || len(body) != SecretBytes+sha256.Size+tokenSum {
		return EnrolmentToken{}, ErrToken
	}
	t := EnrolmentToken{Robot: rest[:cut]}
	copy(t.Secret[:], body)
	copy(t.Fingerprint[:], body[SecretBytes:])
	end := len(body) - tokenSum
	if !bytes.Equal(t.sum(body[:end:end]), body[end:]) {
		return EnrolmentToken{}, ErrToken
	}
	return t, nil
}
