package sign

import (
	"crypto/ed25519"
	"time"

	"troupe/schema"
)

// Signer signs the documents of fleetd, each with the next signature counter. The zero value
// signs nothing. Counter is the last counter that was used; it has to be stored in the same
// transaction as the documents, so that no counter is used twice.
type Signer struct {
	Key     ed25519.PrivateKey // nil = unsigned
	Release ed25519.PrivateKey // nil = releases are unsigned
	Counter int64
}

// Next returns the counter for another document, 0 if nothing is signed. It is the time in
// milliseconds, or one more than the last counter if that is higher. So robots accept
// documents of a fleetd whose database was restored from an older copy.
func (s *Signer) Next(now time.Time) int64 {
	if s.Key == nil {
		return 0
	}
	s.Counter = max(s.Counter+1, now.UnixMilli())
	return s.Counter
}

// MustSignAgain reports whether a document with these signatures has to be signed and published
// again because one of them is missing or by another key. The pin names the released content; it
// is nil for documents without a blob.
func (s *Signer) MustSignAgain(sig *schema.Signature, pin *schema.ContentPin, released *schema.Signature) bool {
	return lacks(sig, s.Key) || pin != nil && lacks(released, s.Release)
}

// lacks reports whether a signature is not by the key; without a key there is none to lack.
func lacks(sig *schema.Signature, key ed25519.PrivateKey) bool {
	return key != nil && (sig == nil || sig.Key != KeyID(key.Public().(ed25519.PublicKey)))
}

// Sign signs a document, which contains its counter but no signature, for a robot. It
// returns nil if nothing is signed.
func (s *Signer) Sign(kind Kind, robot string, document any) (*schema.Signature, error) {
	if s.Key == nil {
		return nil, nil
	}
	text, err := schema.Encode(document)
	if err != nil {
		return nil, err
	}
	sum, err := Digest(text)
	if err != nil {
		return nil, err
	}
	return Subject{Kind: kind, Robot: robot, Document: sum}.Sign(s.Key)
}

// SignContent signs the release of the content that a pin names. It returns nil without a
// release key or a pin.
func (s *Signer) SignContent(kind Kind, p *schema.ContentPin) (*schema.Signature, error) {
	if s.Release == nil || p == nil {
		return nil, nil
	}
	return ReleaseOf(kind, *p).Sign(s.Release)
}
