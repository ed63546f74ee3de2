package sign

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
)

// Role is the kind of signatures for which a key is trusted.
type Role string

// The roles.
const (
	SignsDesired  Role = "desired" // field sig
	SignsReleases Role = "release" // field released: fleetd's second key, for contents only
)

// Key is a public key that is trusted in one role.
type Key struct {
	Role   Role
	Public ed25519.PublicKey
}

// PublicKey returns the key that verifies signatures of private.
func PublicKey(role Role, private ed25519.PrivateKey) Key {
	return Key{role, private.Public().(ed25519.PublicKey)}
}

// KeyID returns the name of a key in signatures: the first 16 hexadecimal digits of its
// SHA-256.
func KeyID(public ed25519.PublicKey) string { return digest(public)[:16] }

// String returns the text form of a key: desired:BASE64 or release:BASE64.
func (k Key) String() string {
	return string(k.Role) + ":" + base64.StdEncoding.EncodeToString(k.Public)
}

// ParseKey parses the text form of a key.
func ParseKey(s string) (Key, error) {
	role, text, _ := strings.Cut(strings.TrimSpace(s), ":")
	if r := Role(role); r != SignsDesired && r != SignsReleases {
		return Key{}, fmt.Errorf("key %q: want %s: or %s: and 44 characters of base64", s, SignsDesired, SignsReleases)
	}
	public, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return Key{}, fmt.Errorf("key %q: want the base64 of the %d bytes of an Ed25519 public key", s, ed25519.PublicKeySize)
	}
	return Key{Role(role), public}, nil
}

// pemType is the PEM type that OpenSSL uses too.
const pemType = "PRIVATE KEY"

// EncodePrivate encodes a private key as PEM (PKCS #8). The result is a secret.
func EncodePrivate(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the signing key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), nil
}

// DecodePrivate decodes the output of EncodePrivate and of "openssl genpkey -algorithm
// ed25519".
func DecodePrivate(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, errors.New("the signing key is not a PEM file of type " + pemType)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	own, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the signing key is a %T, want an Ed25519 key", key)
	}
	return own, nil
}

// Ring is a list of trusted keys.
type Ring []Key

// Has reports whether any key of the role is in the ring.
func (r Ring) Has(role Role) bool {
	return slices.ContainsFunc(r, func(k Key) bool { return k.Role == role })
}

// ErrUnsigned is returned if there is no signature.
var ErrUnsigned = errors.New("it is not signed")

// Verify checks that sig is a signature of w by a trusted key.
func (r Ring) Verify(w Subject, sig *schema.Signature) error {
	text, err := w.Text()
	if err != nil {
		return err
	}
	return r.verify(SignsDesired, desiredType, text, sig)
}

// VerifyRelease checks that sig is a signature of what by a trusted release key.
func (r Ring) VerifyRelease(what Release, sig *schema.Signature) error {
	text, err := what.Text()
	if err != nil {
		return err
	}
	return r.verify(SignsReleases, releaseType, text, sig)
}

func (r Ring) verify(role Role, payloadType string, text []byte, sig *schema.Signature) error {
	if sig == nil {
		return ErrUnsigned
	}
	value, err := base64.StdEncoding.DecodeString(sig.Value)
	if err != nil {
		return errors.New("the signature is not base64")
	}
	named := false
	for _, k := range r {
		if k.Role != role || KeyID(k.Public) != sig.Key {
			continue // the key id only selects candidates
		}
		if named = true; ed25519.Verify(k.Public, pae(payloadType, text), value) {
			return nil
		}
	}
	if !named {
		return fmt.Errorf("key %s is not trusted to sign %s", sig.Key, documentsOf(role))
	}
	return fmt.Errorf("the signature by key %s does not match this document for this robot", sig.Key)
}

func documentsOf(r Role) string {
	if r == SignsReleases {
		return "releases"
	}
	return "desired documents"
}
