// Package sign signs and verifies the desired documents and latched stops of a fleet.
// fleetd signs; robots verify.
//
// There are two signed statements. A Subject binds a whole document to its topic: no field
// can be changed, added or removed, and a document for one robot is not valid for another.
// Its signature is in the document itself (sig). A Release states that any robot may
// perform a content. Its signature is in every desired document for that content
// (released), made with a second key of fleetd, the release key: a fleetd without it changes
// settings and modes, but gives no new content to robots that require this signature.
//
// The signed text has one "name value" line for each field, in a fixed order, in the
// pre-authentication encoding (PAE) of DSSE with a payload type of its own, so that a
// signature for one purpose is not valid for another:
//
//	application/vnd.troupe.desired.v2          application/vnd.troupe.release.v1
//	  kind story                              kind story
//	  robot r1                                id museum-welcome
//	  document 9f86...                        rev 4
//	                                          sha256 9f86...
//	                                          size 5120
//
// Each line ends with one newline. A field that does not apply is "-", such as robot for
// fleet/stop, which is for all robots. document is Digest: the SHA-256 of the document
// without its sig, in canonical JSON (RFC 8785). So it covers every field, also those that
// a later version adds; fleet id, revision and signature counter are among them.
//
// fleetd makes a key with ed25519.GenerateKey, stores it with EncodePrivate, and signs
// with a Signer when the rest of the document, including its Counter, is final. The counter
// rises with each document of the fleet, also if an old content is desired again. The
// value of a robot's --trust-key is PublicKey(role, key).String().
//
// A robot verifies with Ring.Verify, and with Ring.VerifyRelease if it trusts release keys.
// Marks detects replayed and contradictory counters.
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

// Kind is the kind of a document.
type Kind string

// The kinds: the last level of the topic, or fleet-stop.
const (
	Story      Kind = "story"
	Config     Kind = "config"
	Mode       Kind = "mode"
	Activities Kind = "activities"
	Places     Kind = "places"
	Stop       Kind = "stop"       // desired/stop: the latched stops of one robot
	FleetStop  Kind = "fleet-stop" // fleet/stop: the latched stop of all robots
)

// Subject is what the signature of a document covers. FleetID, Rev and Counter are copies
// from the document.
type Subject struct {
	Kind     Kind
	Robot    string // the robot that it is for; empty = all
	FleetID  string
	Rev      int64
	Counter  int64
	Document string // Digest of the document
}

// Digest returns the SHA-256, in hexadecimal, of a document without its signature.
// White space and the order of fields do not matter. It fails if the document is not a
// JSON object.
func Digest(document []byte) (string, error) {
	fields := map[string]jsontext.Value{}
	if err := json.Unmarshal(document, &fields); err != nil {
		return "", fmt.Errorf("compute the digest of the document: %w", err)
	}
	if fields == nil { // null
		return "", errors.New("digest of the document: it is not an object")
	}
	delete(fields, "sig")
	raw, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("compute the digest of the document: %w", err)
	}
	v := jsontext.Value(raw)
	if err := v.Canonicalize(); err != nil {
		return "", fmt.Errorf("compute the digest of the document: %w", err)
	}
	return digest(v), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Release is what the signature of a release covers: one content.
type Release struct {
	Kind   Kind
	ID     string
	Rev    int64
	SHA256 string
	Size   int64 // bytes
}

// ReleaseOf returns the release of the content that a pin names.
func ReleaseOf(kind Kind, p schema.ContentPin) Release {
	return Release{kind, p.ID, p.Rev, p.SHA256, p.Size}
}

// Text returns the signed text before the PAE. It fails if a field contains a space, a
// line break or another character that is not visible ASCII.
func (w Subject) Text() ([]byte, error) {
	if w.Document == "" {
		return nil, errors.New("there is no document to sign")
	}
	return lines("kind", string(w.Kind), "robot", w.Robot, "document", w.Document)
}

// Text returns the signed text before the PAE. It fails if a field contains a space, a
// line break or another character that is not visible ASCII.
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

// pae returns the pre-authentication encoding of DSSE version 1.
func pae(payloadType string, payload []byte) []byte {
	head := fmt.Sprintf("DSSEv1 %d %s %d ", len(payloadType), payloadType, len(payload))
	return append([]byte(head), payload...)
}

// Sign signs the document. It fails on a field that cannot be signed.
func (w Subject) Sign(key ed25519.PrivateKey) (*schema.Signature, error) {
	text, err := w.Text()
	if err != nil {
		return nil, err
	}
	return signText(key, desiredType, text), nil
}

// Sign signs the release. It fails on a field that cannot be signed.
func (r Release) Sign(key ed25519.PrivateKey) (*schema.Signature, error) {
	text, err := r.Text()
	if err != nil {
		return nil, err
	}
	return signText(key, releaseType, text), nil
}

func signText(key ed25519.PrivateKey, payloadType string, text []byte) *schema.Signature {
	public := key.Public().(ed25519.PublicKey)
	return &schema.Signature{Key: KeyID(public), Value: base64.StdEncoding.EncodeToString(ed25519.Sign(key, pae(payloadType, text)))}
}
