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

// Role is what a key's signatures are believed for.
type Role string

// The roles.
const (
	SignsDesired  Role = "desired" // sig: fleetd's own key
	SignsReleases Role = "release" // released: whoever lets contents out
)

// Key is a public key that is believed in one role.
type Key struct {
	Role   Role
	Public ed25519.PublicKey
}

// PublicKey is the key that verifies what private signs.
func PublicKey(role Role, private ed25519.PrivateKey) Key {
	return Key{role, private.Public().(ed25519.PublicKey)}
}

// KeyID is the name of a key in signatures: the first 16 hexadecimal digits of
// its SHA-256.
func KeyID(public ed25519.PublicKey) string { return digest(public)[:16] }

// String is the form in which a key is handed on: desired:BASE64 or release:BASE64.
func (k Key) String() string {
	return string(k.Role) + ":" + base64.StdEncoding.EncodeToString(k.Public)
}

// ParseKey reads what String writes.
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

// pemType is what OpenSSL writes too.
const pemType = "PRIVATE KEY"

// EncodePrivate writes a private key as PEM (PKCS #8). It is a secret.
func EncodePrivate(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the signing key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), nil
}

// DecodePrivate reads what EncodePrivate writes, and what
// "openssl genpkey -algorithm ed25519" does.
func DecodePrivate(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, errors.New("the signing key is no PEM file of type " + pemType)
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

// Ring is the keys that are believed.
type Ring []Key

// Has reports whether any key of the role is in the ring.
func (r Ring) Has(role Role) bool {
	return slices.ContainsFunc(r, func(k Key) bool { return k.Role == role })
}

// ErrUnsigned is returned where there is no signature at all.
var ErrUnsigned = errors.New("it is not signed")

// Subject says whether sig is a believed signature of w.
func (r Ring) Verify(w Subject, sig *schema.Signature) error {
	text, err := w.Text()
	if err != nil {
		return err
	}
	return r.verify(SignsDesired, desiredType, text, sig)
}

// Release says whether sig is a believed signature of what.
func (r Ring) Release(what Release, sig *schema.Signature) error {
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
		return errors.New("the signature is no base64")
	}
	named := false
	for _, k := range r {
		if k.Role != role || KeyID(k.Public) != sig.Key {
			continue // the name is a hint; the signature decides
		}
		if named = true; ed25519.Verify(k.Public, pae(payloadType, text), value) {
			return nil
		}
	}
	if !named {
		return fmt.Errorf("key %s is not trusted to sign %s", sig.Key, asked(role))
	}
	return fmt.Errorf("the signature by key %s is not of this document, for this robot", sig.Key)
}

func asked(r Role) string {
	if r == SignsReleases {
		return "releases"
	}
	return "desired documents"
}
