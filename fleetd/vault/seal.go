package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"troupe/fleetd/atomicfile"
)

// Sealer seals secrets for the database: a person who has only the database cannot read them. It reads its key at the first use.
type Sealer struct {
	key func() ([]byte, error)

	mu   sync.Mutex
	aead cipher.AEAD // nil until the key was read
}

// sealKeySize is the size of the key, in bytes.
const sealKeySize = 32

// FileSealer seals with the key in a file, which it makes at the first use if there is none. Instances that share a
// database need the same key.
func FileSealer(path string) *Sealer {
	return &Sealer{key: func() ([]byte, error) {
		key, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			if key, err = makeSealKey(path); errors.Is(err, fs.ErrExist) { // another instance made it at the same time
				key, err = os.ReadFile(path)
			}
		}
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			return nil, fmt.Errorf("%s is readable by other users: chmod 600 it, and find out whether they read it", path)
		}
		if len(key) != sealKeySize {
			return nil, fmt.Errorf(
				"%s has %d bytes and is no such key: restore it from the backup, or move it away and enter the secrets of receivers again",
				path, len(key))
		}
		return key, nil
	}}
}

// makeSealKey makes the key as a whole: no instance reads a part of it, and none replaces the one of another.
func makeSealKey(path string) ([]byte, error) {
	key := make([]byte, sealKeySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(path, secret)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(key); err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	return key, f.Link()
}

// Sealer seals with a key that follows from that of the intermediate, so instances with the same folder have the same.
func (v *Vault) Sealer() *Sealer {
	return &Sealer{key: func() ([]byte, error) { return v.DeriveKey("troupe secrets of receivers") }}
}

func (s *Sealer) open() (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aead != nil {
		return s.aead, nil
	}
	key, err := s.key()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSealKey, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	s.aead, err = cipher.NewGCMWithRandomNonce(block)
	return s.aead, err
}

// ErrSealKey says that the key of a Sealer cannot be read.
var ErrSealKey = errors.New("the key that seals secrets cannot be read")

// ErrSealedElsewhere says that a secret was sealed with another key, or changed since.
var ErrSealedElsewhere = errors.New("it was sealed with another key")

// Seal seals a text. of names what it belongs to: only for the same name it can be opened.
func (s *Sealer) Seal(text []byte, of string) ([]byte, error) {
	aead, err := s.open()
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, text, []byte(of)), nil
}

// Open opens what Seal sealed.
func (s *Sealer) Open(sealed []byte, of string) ([]byte, error) {
	aead, err := s.open()
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, sealed, []byte(of))
	if err != nil {
		return nil, ErrSealedElsewhere
	}
	return text, nil
}
