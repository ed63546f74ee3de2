// Package argon2id hashes the passwords of people and programs, for the broker and fleetd.
package argon2id

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Hash is an argon2id hash of a password with its parameters, written as a PHC
// string: $argon2id$v=19$m=19456,t=2,p=1$salt$hash.
type Hash struct {
	memoryKiB, passes uint32
	lanes             uint8
	salt, sum         []byte
}

// SaltBytes is the length of a salt.
const SaltBytes = 16

// The maximum cost that Parse accepts, so that a users file cannot exhaust the program.
const maxMemoryKiB, maxPasses, maxLanes = 128 << 10, 10, 4

// sumBytes is the length of the sum of a new hash.
const sumBytes = 32

// Cost is the memory, passes and lanes (threads) that the computation of a hash takes.
type Cost struct {
	MemoryKiB, Passes uint32
	Lanes             uint8
}

// newCost is the cost of new hashes. It is the smaller one that OWASP recommends, and not the
// second choice of RFC 9106, because a whole fleet may log in at once.
var newCost = Cost{MemoryKiB: 19 << 10, Passes: 2, Lanes: 1}

// HashPassword hashes a password with a random salt of SaltBytes bytes.
func HashPassword(password string, salt [SaltBytes]byte) Hash { return newCost.Hash(password, salt) }

// Hash hashes a password as HashPassword does, at this cost.
func (c Cost) Hash(password string, salt [SaltBytes]byte) Hash {
	return Hash{
		memoryKiB: c.MemoryKiB, passes: c.Passes, lanes: c.Lanes, salt: salt[:],
		sum: argon2.IDKey([]byte(password), salt[:], c.Passes, c.MemoryKiB, c.Lanes, sumBytes),
	}
}

// Nobody is a hash that no password matches and that takes as long to verify as a new one.
func Nobody() Hash {
	return Hash{memoryKiB: newCost.MemoryKiB, passes: newCost.Passes, lanes: newCost.Lanes, salt: make([]byte, SaltBytes),
		sum: make([]byte, sumBytes)}
}

// Verify reports whether password matches. It takes about 20 ms and the hash's memory, so
// a caller that serves unknown clients limits how many run at once.
func (h Hash) Verify(password []byte) bool {
	got := argon2.IDKey(password, h.salt, h.passes, h.memoryKiB, h.lanes, uint32(len(h.sum)))
	return subtle.ConstantTimeCompare(got, h.sum) == 1
}

func (h Hash) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memoryKiB, h.passes, h.lanes, b64(h.salt), b64(h.sum))
}

// Parse parses a PHC string. It refuses parameters with which a hash could
// exhaust the program.
func Parse(s string) (Hash, error) {
	part := strings.Split(s, "$")
	if len(part) != 6 || part[0] != "" || part[1] != "argon2id" {
		return Hash{}, errors.New("not an argon2id hash: broker hash-password makes one")
	}
	if want := fmt.Sprintf("v=%d", argon2.Version); part[2] != want {
		return Hash{}, fmt.Errorf("argon2 version %q: only %s is supported", part[2], want)
	}
	var h Hash
	if n, err := fmt.Sscanf(part[3], "m=%d,t=%d,p=%d", &h.memoryKiB, &h.passes, &h.lanes); err != nil || n != 3 ||
		part[3] != fmt.Sprintf("m=%d,t=%d,p=%d", h.memoryKiB, h.passes, h.lanes) {
		return Hash{}, fmt.Errorf("argon2id parameters %q: want m, t and p", part[3])
	}
	if h.memoryKiB < 8*uint32(h.lanes) || h.memoryKiB > maxMemoryKiB || h.passes < 1 || h.passes > maxPasses || h.lanes < 1 ||
		h.lanes > maxLanes {
		return Hash{}, fmt.Errorf("argon2id parameters %q: want m from 8 times p to %d, t from 1 to %d and p from 1 to %d", part[3], maxMemoryKiB,
			maxPasses, maxLanes)
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.Strict().DecodeString(part[4]); err != nil || len(h.salt) < 8 || len(h.salt) > 64 {
		return Hash{}, errors.New("argon2id salt: want 8 to 64 bytes in unpadded base64")
	}
	if h.sum, err = base64.RawStdEncoding.Strict().DecodeString(part[5]); err != nil || len(h.sum) < 16 || len(h.sum) > 64 {
		return Hash{}, errors.New("argon2id hash: want 16 to 64 bytes in unpadded base64")
	}
	return h, nil
}
