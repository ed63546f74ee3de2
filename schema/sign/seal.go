package sign

import (
	"crypto/ed25519"
	"time"

	"troupe/schema"
)

// Seal signs what a fleetd instance tells, each document under the next release counter. The
// zero value signs nothing. Counter is the newest one given out; whoever keeps it
// keeps it with the documents, so that none is given out twice.
type Seal struct {
	Key     ed25519.PrivateKey // nil = unsigned
	Release ed25519.PrivateKey // nil = who releases contents is not said
	Counter int64
}

// Next is the counter of one more document, 0 where nothing is signed. It is the
// time in milliseconds, and above the last one: robots go on believing a fleetd instance whose
// database was set back to an older copy.
func (s *Seal) Next(now time.Time) int64 {
	if s.Key == nil {
		return 0
	}
	s.Counter = max(s.Counter+1, now.UnixMilli())
	return s.Counter
}

// Outdated reports whether a document that carries this signature is to be told
// again for the signature's sake: it has none by the key that signs now.
func (s *Seal) Outdated(sig *schema.Signature) bool {
	return s.Key != nil && (sig == nil || sig.Key != KeyID(s.Key.Public().(ed25519.PublicKey)))
}

// Subject signs a document that carries its counter, and no signature yet, for a
// robot; nil where nothing is signed.
func (s *Seal) Sign(kind Kind, robot string, document any) (*schema.Signature, error) {
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

// Content signs the content that a pin names; nil where nobody releases it.
func (s *Seal) Content(kind Kind, p *schema.StoryPin) (*schema.Signature, error) {
	if s.Release == nil || p == nil {
		return nil, nil
	}
	return ReleaseOf(kind, *p).Sign(s.Release)
}
