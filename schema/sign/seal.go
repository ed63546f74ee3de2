package sign

import (
	"crypto/ed25519"

	"troupe/schema"
)

// Seal signs what a desk wishes, each wish under the next release counter. The
// zero value signs nothing. Counter is the newest one given out; whoever keeps it
// keeps it with the wishes, so that none is given out twice.
type Seal struct {
	Key     ed25519.PrivateKey // nil = unsigned
	Release ed25519.PrivateKey // nil = who releases contents is not said
	Counter int64
}

// Next is the counter of one more wish, 0 where nothing is signed.
func (s *Seal) Next() int64 {
	if s.Key == nil {
		return 0
	}
	s.Counter++
	return s.Counter
}

// Outdated reports whether a wish that carries this signature is to be told
// again for the signature's sake: it has none by the key that signs now.
func (s *Seal) Outdated(sig *schema.Signature) bool {
	return s.Key != nil && (sig == nil || sig.Key != KeyID(s.Key.Public().(ed25519.PublicKey)))
}

// Wish signs a wish that carries its counter; nil where nothing is signed.
func (s *Seal) Wish(w Wish) (*schema.Signature, error) {
	if s.Key == nil {
		return nil, nil
	}
	return w.Sign(s.Key)
}

// Content signs the content that a pin names; nil where nobody releases it.
func (s *Seal) Content(kind Kind, p *schema.StoryPin) (*schema.Signature, error) {
	if s.Release == nil || p == nil {
		return nil, nil
	}
	return ReleaseOf(kind, *p).Sign(s.Release)
}
