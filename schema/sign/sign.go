// Package sign says what is signed when a fleet wishes something of a robot, and
// who is believed. Both programs stand on it: the desk signs, the robot verifies.
//
// There are two statements. A Wish binds a wish to one robot, one fleet, one
// revision and one release counter; its signature stands in the wish itself
// (sig), made by a key that the desk has at hand. A Release says who let a
// content out, whatever robot it goes to; its signature travels with every wish
// for that content (released), made by a key that need not be at the desk.
//
// What is signed is never the JSON that carries it, but a text of this package:
// one "name value" line for each field, in a fixed order, wrapped as the DSSE
// protocol says (PAE) under a payload type of its own, so that a signature made
// for one purpose is none for another:
//
//	application/vnd.troupe.wish.v1          application/vnd.troupe.release.v1
//	  authority 0193...                       kind story
//	  robot r1                                id museum-welcome
//	  kind story                              rev 4
//	  rev 12                                  sha256 9f86...
//	  counter 40                              size 5120
//	  sha256 9f86...
//	  apply next_act
//
// Each line ends with one newline; a field that does not apply is "-". sha256 is
// that of the blob; of a wish without a blob it is ValuesDigest (configuration:
// the canonical JSON, RFC 8785, of its values) or ModeDigest (mode: its id);
// withdrawing has none.
//
// A desk makes a key with ed25519.GenerateKey, keeps it with EncodePrivate, and
// signs: WishOfStory(robot, &d).Sign(key) after everything else of d, its Counter
// above all, is as it will be sent. The counter rises with each release of the
// fleet, also when an old content is wished again. What robots are given as
// their --trust-key is PublicKey(role, key).String().
//
// A robot asks Ring.Wish, and Ring.Release where it trusts release keys. Marks
// says whether a counter may be believed after those that were seen before.
package sign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// Payload types of the two statements.
const (
	wishType    = "application/vnd.troupe.wish.v1"
	releaseType = "application/vnd.troupe.release.v1"
)

// Kind is what is wished: the last level of the wish's topic.
type Kind string

// The kinds.
const (
	Story      Kind = "story"
	Config     Kind = "config"
	Mode       Kind = "mode"
	Activities Kind = "activities"
	Places     Kind = "places"
)

// Wish is what a wish's signature binds.
type Wish struct {
	Authority string
	Robot     string // whom it is for
	Kind      Kind
	Rev       int64
	Counter   int64
	SHA256    string // of the content; empty = withdrawn
	Apply     string // when it takes over; empty for kinds that have no choice
}

// WishOfStory is the statement of a desired story.
func WishOfStory(robot string, d *schema.DesiredStory) Wish {
	return Wish{d.Authority, robot, Story, d.Rev, d.Counter, digestOf(d.Story), string(d.Apply)}
}

// WishOfSet is the statement of desired activities or places.
func WishOfSet(robot string, kind Kind, d *schema.DesiredSet) Wish {
	return Wish{d.Authority, robot, kind, d.Rev, d.Counter, digestOf(d.Set), ""}
}

// WishOfMode is the statement of a desired mode.
func WishOfMode(robot string, d *schema.DesiredMode) Wish {
	return Wish{d.Authority, robot, Mode, d.Rev, d.Counter, ModeDigest(d.Mode), string(d.Apply)}
}

// WishOfConfig is the statement of a desired configuration. It fails on values
// that are no JSON.
func WishOfConfig(robot string, d *schema.DesiredConfig) (Wish, error) {
	sum, err := ValuesDigest(d.Values)
	return Wish{d.Authority, robot, Config, d.Rev, d.Counter, sum, ""}, err
}

func digestOf(p *schema.StoryPin) string {
	if p == nil {
		return ""
	}
	return p.SHA256
}

// ModeDigest is the SHA-256 of the mode's id, in hexadecimal.
func ModeDigest(m schema.ModeID) string { return digest([]byte(m)) }

// ValuesDigest is the SHA-256, in hexadecimal, of the object of values in its
// canonical form (RFC 8785), so that white space and the order of keys do not
// matter.
func ValuesDigest(values map[string]jsontext.Value) (string, error) {
	raw, err := schema.Encode(values)
	if err != nil {
		return "", err
	}
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		return "", fmt.Errorf("canonical form of the values: %w", err)
	}
	return digest(v), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Release is what a release's signature binds: one content.
type Release struct {
	Kind   Kind
	ID     string
	Rev    int64
	SHA256 string
	Size   int64 // bytes
}

// ReleaseOf is the statement about the content that a pin names.
func ReleaseOf(kind Kind, p schema.StoryPin) Release {
	return Release{kind, p.ID, p.Rev, p.SHA256, p.Size}
}

// Text is the text that is signed, before it is wrapped. It fails on a field
// that would not keep to its line.
func (w Wish) Text() ([]byte, error) {
	return lines("authority", w.Authority, "robot", w.Robot, "kind", string(w.Kind), "rev", number(w.Rev),
		"counter", number(w.Counter), "sha256", w.SHA256, "apply", w.Apply)
}

// Text is the text that is signed, before it is wrapped. It fails on a field
// that would not keep to its line.
func (r Release) Text() ([]byte, error) {
	return lines("kind", string(r.Kind), "id", r.ID, "rev", number(r.Rev), "sha256", r.SHA256, "size", number(r.Size))
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func lines(fields ...string) ([]byte, error) {
	var b bytes.Buffer
	for i := 0; i < len(fields); i += 2 {
		name, value := fields[i], fields[i+1]
		if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) || value == "-" {
			return nil, fmt.Errorf("%s %q cannot be signed: want visible ASCII characters", name, value)
		}
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(&b, "%s %s\n", name, value)
	}
	return b.Bytes(), nil
}

// pae is the pre-authentication encoding of DSSE version 1.
func pae(payloadType string, payload []byte) []byte {
	head := fmt.Sprintf("DSSEv1 %d %s %d ", len(payloadType), payloadType, len(payload))
	return append([]byte(head), payload...)
}

// Sign signs the wish. It fails on a field that cannot be signed.
func (w Wish) Sign(key ed25519.PrivateKey) (*schema.Signature, error) {
	text, err := w.Text()
	if err != nil {
		return nil, err
	}
	return seal(key, wishType, text), nil
}

// Sign signs the release. It fails on a field that cannot be signed.
func (r Release) Sign(key ed25519.PrivateKey) (*schema.Signature, error) {
	text, err := r.Text()
	if err != nil {
		return nil, err
	}
	return seal(key, releaseType, text), nil
}

func seal(key ed25519.PrivateKey, payloadType string, text []byte) *schema.Signature {
	public := key.Public().(ed25519.PublicKey)
	return &schema.Signature{Key: KeyID(public), Value: base64.StdEncoding.EncodeToString(ed25519.Sign(key, pae(payloadType, text)))}
}
