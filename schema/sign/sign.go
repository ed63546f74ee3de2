// Package sign says what is signed when a fleet tells robots what it desired documents and
// which stops it holds, and who is believed. Both programs stand on it: fleetd
// signs, the robot verifies.
//
// There are two statements. A Desired state binds a whole document to the topic it is told
// on: nothing in it can be changed, added or left out, and what is meant for one
// robot is nothing to another. Its signature stands in the document itself (sig),
// made by a key that fleetd has at hand. A Release says who let a content out,
// whatever robot it goes to; its signature travels with every desired state for that
// content (released), made by a key that need not be at fleetd.
//
// What is signed is a text of this package: one "name value" line for each field,
// in a fixed order, wrapped as the DSSE protocol says (PAE) under a payload type of
// its own, so that a signature made for one purpose is none for another:
//
//	application/vnd.troupe.desired.v2          application/vnd.troupe.release.v1
//	  kind story                              kind story
//	  robot r1                                id museum-welcome
//	  document 9f86...                        rev 4
//	                                          sha256 9f86...
//	                                          size 5120
//
// Each line ends with one newline; a field that does not apply is "-", such as the
// robot of fleet/stop, which is told to all. document is Digest: the SHA-256 of the
// document without its sig, in the canonical form of JSON (RFC 8785). So it covers
// every field, those that a later version adds too; fleet (fleet id), revision and
// release counter are among them.
//
// A fleetd instance makes a key with ed25519.GenerateKey, keeps it with EncodePrivate, and
// signs with a Seal after everything else of the document, its Counter above all,
// is as it will be sent. The counter rises with each document of the fleet, also
// when an old content is desired again. What robots are given as their --trust-key
// is PublicKey(role, key).String().
//
// A robot asks Ring.Desired state, and Ring.Release where it trusts release keys. Marks
// says whether a counter may be believed after those that were seen before.
package sign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// Payload types of the two statements.
const (
	desiredType = "application/vnd.troupe.desired.v2"
	releaseType = "application/vnd.troupe.release.v1"
)

// Kind is what a document is about.
type Kind string

// The kinds: the last level of the topic, or fleet-stop.
const (
	Story      Kind = "story"
	Config     Kind = "config"
	Mode       Kind = "mode"
	Activities Kind = "activities"
	Places     Kind = "places"
	Stop       Kind = "stop"       // desired/stop: the stops held on one robot
	FleetStop  Kind = "fleet-stop" // fleet/stop: the one held on all
)

// Subject is what the signature of a document binds, and what is counted of it. Its
// fleet and its counter are part of the document.
type Subject struct {
	Kind     Kind
	Robot    string // whom it is for; empty = all
	FleetID  string
	Rev      int64
	Counter  int64
	Document string // Digest of what was told
}

// Digest is the SHA-256, in hexadecimal, of a document without its signature, so
// that white space and the order of fields do not matter. It fails on what is no
// JSON object.
func Digest(document []byte) (string, error) {
	fields := map[string]jsontext.Value{}
	if err := json.Unmarshal(document, &fields); err != nil {
		return "", fmt.Errorf("digest of the document: %w", err)
	}
	if fields == nil { // null
		return "", errors.New("digest of the document: it is no object")
	}
	delete(fields, "sig")
	raw, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("digest of the document: %w", err)
	}
	v := jsontext.Value(raw)
	if err := v.Canonicalize(); err != nil {
		return "", fmt.Errorf("digest of the document: %w", err)
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
func (w Subject) Text() ([]byte, error) {
	if w.Document == "" {
		return nil, errors.New("there is no document to sign")
	}
	return lines("kind", string(w.Kind), "robot", w.Robot, "document", w.Document)
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

// Sign signs the desired state. It fails on a field that cannot be signed.
func (w Subject) Sign(key ed25519.PrivateKey) (*schema.Signature, error) {
	text, err := w.Text()
	if err != nil {
		return nil, err
	}
	return seal(key, desiredType, text), nil
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
