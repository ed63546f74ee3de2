package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Envelope is what a command carries beside the arguments of its verb.
type Envelope struct {
	ID      string       `json:"id,omitempty" doc:"1-64 of A-Z a-z 0-9 . _ : -; without one nothing is deduplicated"`
	TS      Time         `json:"ts,omitzero" doc:"when it was sent, by the fleet's clock; leave it out if your clock may differ"`
	TTLMS   int64        `json:"ttl_ms,omitzero" doc:"how old it may be when it is carried out"`
	By      string       `json:"by,omitempty" jsonschema:"maxLength=256" doc:"the person, for the audit; control belongs to the client and this person together"`
	Why     string       `json:"why,omitempty" jsonschema:"maxLength=256" doc:"the reason, for the audit"`
	Batch   string       `json:"batch,omitempty" jsonschema:"maxLength=256" doc:"common to the commands of one request to fleetd"`
	Session string       `json:"session,omitempty" jsonschema:"maxLength=256" doc:"the sender's connection, within which seq rises"`
	Seq     int64        `json:"seq,omitzero" doc:"a command whose seq is not above the last one taken of its session and group of verbs is refused"`
	If      Precondition `json:"if,omitzero" doc:"what must still hold when the robot decides"`
}

// MaxTTL bounds how long a command may wait.
const MaxTTL = time.Hour

// DecodeEnvelope reads a command that is a JSON object. It passes the arguments to args,
// or nil if there are none, unless the payload is not an object. Texts of a stop are
// shortened instead of refused. If there are problems, the caller may use only the ID,
// which is empty if it could not be read, so that the answer can name the command. Problems
// are in a fixed order, because the robot answers with the first one.
func DecodeEnvelope(payload []byte, stop bool, args func(jsontext.Value) []Problem) (Envelope, []Problem) {
	var e Envelope
	if p, bad := checkShape(payload); bad {
		return e, []Problem{p}
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(payload, &members); err != nil {
		return e, []Problem{problemOf(err)}
	}
	var c checks
	if raw, ok := members["id"]; ok {
		c.read(raw, "/id", &e.ID)
		if len(c) == 0 && !ValidRequestID(e.ID) {
			e.ID = ""
			c.add("/id", "bad_id", "the id is not 1-64 characters of A-Z a-z 0-9 . _ : -", "use a UUID")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch raw := members[name]; name {
		case "id", "args":
		case "ts":
			c.read(raw, "/ts", &e.TS)
		case "ttl_ms":
			c.read(raw, "/ttl_ms", &e.TTLMS)
			if e.TTLMS < 1 || e.TTLMS > MaxTTL.Milliseconds() {
				c.add("/ttl_ms", "out_of_range", fmt.Sprintf("a time to live is 1 to %d ms", MaxTTL.Milliseconds()), "leave it out for the verb's own")
			}
		case "by":
			c.word(raw, "/by", stop, &e.By)
		case "why":
			c.word(raw, "/why", stop, &e.Why)
		case "batch":
			c.word(raw, "/batch", stop, &e.Batch)
		case "session":
			c.word(raw, "/session", stop, &e.Session)
		case "seq":
			c.read(raw, "/seq", &e.Seq)
			c.atLeast("/seq", e.Seq, 1)
		case "if":
			c.readCondition(raw, &e.If)
		default:
			if !strings.HasPrefix(name, "x_") {
				c.add("/"+name, "unknown_field", "a command has no field "+name,
					"fields are id, ts, ttl_ms, by, why, batch, session, seq, if, args; arguments belong into args")
			}
		}
	}
	if e.Seq != 0 && e.Session == "" {
		c.add("/session", "missing", "a seq counts within the session of its sender", "send session, or leave seq out")
	}
	return e, append(c, args(members["args"])...)
}

func (c *checks) word(raw jsontext.Value, pointer string, stop bool, into *string) {
	text, problems := ReadText(raw, pointer, ShortTextBound, stop)
	*into = text
	*c = append(*c, problems...)
}

// Bound is how long a text may be.
type Bound struct {
	Most int
	// Characters counts characters of Unicode, otherwise bytes of UTF-8.
	Characters bool
}

// The bounds of texts within a command.
var (
	ShortTextBound = Bound{Most: MaxShortText}              // names, codes and short remarks
	TextBound      = Bound{Most: MaxText, Characters: true} // what a robot says
)

// String returns the bound for people, such as "256 bytes".
func (b Bound) String() string {
	if b.Characters {
		return fmt.Sprintf("%d characters", b.Most)
	}
	return fmt.Sprintf("%d bytes", b.Most)
}

// Check reports a text that is longer than the bound.
func (b Bound) Check(pointer, s string) []Problem {
	size := len(s)
	if b.Characters {
		size = utf8.RuneCountInString(s)
	}
	if size > b.Most {
		return []Problem{NewProblem(pointer, "too_long", "at most "+b.String(), "")}
	}
	return nil
}

// ReadText decodes a JSON string that has to be printable and within a bound. A
// text of a stop is shortened and made printable instead: a stop is obeyed
// whatever is written beside it.
func ReadText(raw jsontext.Value, pointer string, bound Bound, stop bool) (string, []Problem) {
	var s string
	problems := ReadMember(raw, pointer, &s)
	if stop {
		return SanitizeText(s), problems
	}
	problems = append(problems, bound.Check(pointer, s)...)
	if at := strings.IndexFunc(s, unprintable); at >= 0 {
		problems = append(problems, NewProblem(pointer, "unprintable", fmt.Sprintf("%+q cannot be shown in a line", []rune(s[at:])[0]),
			"leave it out"))
	}
	return s, problems
}

// ReadMember decodes one member of a command into a pointer. A null is refused:
// it contains no value, and its sender may rely on one.
func ReadMember(raw jsontext.Value, pointer string, into any) []Problem {
	var c checks
	c.read(raw, pointer, into)
	return c
}

// ReadArray decodes a JSON array of objects, without looking into them.
func ReadArray(raw jsontext.Value, pointer, hint string) []Problem {
	var list []jsontext.Value
	problems := ReadMember(raw, pointer, &list)
	for i, v := range list {
		if v.Kind() != '{' {
			problems = append(problems, NewProblem(fmt.Sprintf("%s/%d", pointer, i), "bad_type", kindWord(v.Kind())+" does not fit here", hint))
		}
	}
	return problems
}

// Canonical returns raw as canonical JSON (RFC 8785), so that equal values have
// equal texts.
func Canonical(raw jsontext.Value) (jsontext.Value, []Problem) {
	own := raw.Clone()
	if err := own.Canonicalize(); err != nil {
		return nil, []Problem{problemOf(err)}
	}
	return own, nil
}
