package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"
)

// SecretBytes is the length of the secret in an enrolment token.
const SecretBytes = 16

// EnrolmentToken is a one-time token that a person takes from fleetd to a robot. It
// contains the robot's name, a secret of which fleetd stores only the digest, and the
// SHA-256 of fleetd's certificate, so that the robot sends the token to no other server.
type EnrolmentToken struct {
	Robot       string
	Secret      [SecretBytes]byte
	Fingerprint [sha256.Size]byte
}

const (
	tokenPrefix = "TROUPE-"
	// tokenSum is the length of the checksum, which detects typing errors. With it the
	// length is a multiple of five bytes, as base32 needs.
	tokenSum = 2
)

var tokenText = base32.StdEncoding.WithPadding(base32.NoPadding)

// String returns the token as text: TROUPE-r7- and 80 letters and digits.
func (t EnrolmentToken) String() string {
	body := append(t.Secret[:], t.Fingerprint[:]...)
	return tokenPrefix + t.Robot + "-" + tokenText.EncodeToString(append(body, t.sum(body)...))
}

func (t EnrolmentToken) sum(body []byte) []byte {
	sum := sha256.Sum256(append([]byte(t.Robot+" "), body...))
	return sum[:tokenSum]
}

// Digest returns what fleetd stores of a token, which cannot be used as a token.
func (t EnrolmentToken) Digest() [sha256.Size]byte { return sha256.Sum256(t.Secret[:]) }

// ErrToken is returned for every text that is not a valid token.
var ErrToken = errors.New("this is not an enrolment token, or not all of it: it begins with TROUPE- and ends with 80 letters and digits")

// ParseToken parses a token. It detects missing and wrong letters without asking fleetd.
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
