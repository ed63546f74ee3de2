package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"maps"

	"troupe/broker/access"
	"troupe/schema/argon2id"
)

// maxProven is how many claims are remembered. Only claims with the right password are,
// and beyond the limit an arbitrary one is dropped for a new one.
const maxProven = 16 << 10

// proven remembers which claims had the right password, so that a client that lost its
// connection in a flood or by its own restart does not wait behind unknown clients. It
// keeps only a digest of each password, with a key that is lost with the process. At
// another address the password costs a hash again, so this makes guessing cheaper only for
// a client that has already been right.
type proven struct {
	key [32]byte
	of  map[claim]proof
}

type proof struct {
	hash   string // of the password, as in the users file
	digest [sha256.Size]byte
}

func newProven() proven {
	p := proven{of: map[claim]proof{}}
	_, _ = rand.Read(p.key[:]) // never fails
	return p
}

func (p *proven) digest(c claim, hash string, password []byte) (sum [sha256.Size]byte) {
	m := hmac.New(sha256.New, p.key[:])
	m.Write([]byte(c.name + " " + hash + " ")) // unambiguous: neither contains a space
	m.Write(password)
	m.Sum(sum[:0])
	return sum
}

// has reports whether c was right before with this password and hash.
func (p *proven) has(c claim, hash argon2id.Hash, password []byte) bool {
	was, known := p.of[c]
	if !known || was.hash != hash.String() {
		return false
	}
	now := p.digest(c, was.hash, password)
	return hmac.Equal(was.digest[:], now[:])
}

func (p *proven) add(c claim, hash argon2id.Hash, password []byte) {
	if _, known := p.of[c]; !known && len(p.of) >= maxProven {
		for other := range p.of {
			delete(p.of, other)
			break
		}
	}
	p.of[c] = proof{hash.String(), p.digest(c, hash.String(), password)}
}

// deleteChanged deletes the claims of users whose password has changed or who were removed.
func (p *proven) deleteChanged(users access.Users) {
	maps.DeleteFunc(p.of, func(c claim, was proof) bool {
		user, known := users.Find(c.name)
		return !known || user.Hash == nil || user.Hash.String() != was.hash
	})
}
