package schema

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Request is a command as its sender wrote it. An empty payload has no
// arguments, a payload that starts with { is JSON, anything else is a bare word:
// the verb's first argument.
type Request struct {
	ID    string `json:"id,omitempty"` // 1-64 of [A-Za-z0-9._:-]; without one nothing is deduplicated
	TS    Time   `json:"ts,omitzero"`  // leave it out if the clock is not the fleet's
	TTLMS int64  `json:"ttl_ms,omitzero"`
	By    string `json:"by,omitempty" jsonschema:"maxLength=256"` // the person, for the audit; this and the other texts: printable, at most MaxWord bytes
	Why   string `json:"why,omitempty" jsonschema:"maxLength=256"`
	Batch string `json:"batch,omitempty" jsonschema:"maxLength=256"` // common to the commands of one fleet request
	// Session and Seq order the commands of one sender: within a session and a
	// group of verbs a seq that is not above the last one taken is refused.
	Session string       `json:"session,omitempty" jsonschema:"maxLength=256"`
	Seq     int64        `json:"seq,omitzero"`
	If      Precondition `json:"if,omitzero"`
	Args    Args         `json:"-"`
}

// Precondition lists conditions that have to hold when the robot checks a command.
// Conditions that are left out are not checked.
type Precondition struct {
	Mode     ModeID `json:"mode,omitempty"`
	StateSeq int64  `json:"state_seq,omitzero"` // the newest state has this number
	Session  string `json:"session,omitempty"`  // the robot's connection is this one
	StoryRev int64  `json:"story_rev,omitzero"` // the active story has this revision
}

// Unmet returns a problem for the first condition that is does not meet.
func (p Precondition) Unmet(is Precondition) (Problem, bool) {
	fault := func(name, want, got string) (Problem, bool) {
		if got == "" {
			got = "none"
		}
		return Fault("/if/"+name, string(ReasonPrecondition), name+" is "+got+", asked for was "+want, "look at the robot's state and decide anew"), true
	}
	switch {
	case p.Mode != "" && p.Mode != is.Mode:
		return fault("mode", string(p.Mode), string(is.Mode))
	case p.StateSeq != 0 && p.StateSeq != is.StateSeq:
		return fault("state_seq", strconv.FormatInt(p.StateSeq, 10), strconv.FormatInt(is.StateSeq, 10))
	case p.Session != "" && p.Session != is.Session:
		return fault("session", p.Session, is.Session)
	case p.StoryRev != 0 && p.StoryRev != is.StoryRev:
		return fault("story_rev", strconv.FormatInt(p.StoryRev, 10), strconv.FormatInt(is.StoryRev, 10))
	}
	return Problem{}, false
}

// DecodeRequest reads the payload of a command topic for verb v. With problems
// the request is a refusal: only its ID, if one could be read, may be used, so
// that the answer finds its question.
func DecodeRequest(v Verb, payload []byte) (Request, []Problem) {
	trimmed := bytes.TrimSpace(payload)
	if len(trimmed) == 0 {
		var r Request
		return r, v.lacking(map[string]bool{})
	}
	if trimmed[0] == '{' {
		return v.decodeObject(payload)
	}
	return v.decodeWord(string(trimmed))
}

func (v Verb) decodeWord(word string) (Request, []Problem) {
	var r Request
	if v.Class == ClassStop {
		word = SanitizeText(word)
	}
	if len(v.Args) > 0 && v.Args[0].Type != ArgText && len(word) > MaxWord {
		return r, []Problem{Fault("", "too_long", fmt.Sprintf("a bare word has at most %d bytes", MaxWord), "send JSON: {\"args\":{...}}")}
	}
	if !Printable(word) {
		return r, []Problem{Fault("", "syntax", "the payload is neither JSON nor a printable word", "send a word such as ato, or a JSON object, without a byte order mark")}
	}
	if len(v.Args) == 0 {
		return r, []Problem{Fault("", "unknown_argument", v.ID()+" takes no argument", "send an empty payload")}
	}
	text, err := jsontext.AppendQuote(nil, word)
	if err != nil {
		return r, []Problem{Fault("", "syntax", "the word cannot be read", "")}
	}
	first := v.Args[0]
	if first.Type == ArgInteger || first.Type == ArgBoolean || first.Type == ArgNumber {
		text = []byte(word)
	}
	if p, bad := r.Args.set(first, text, "/args/"+first.Name, v.Class == ClassStop); bad {
		return r, []Problem{p}
	}
	return r, v.lacking(map[string]bool{first.Name: true})
}

func (v Verb) decodeObject(payload []byte) (Request, []Problem) {
	var r Request
	if p, bad := checkShape(payload); bad {
		return r, []Problem{p}
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(payload, &members); err != nil {
		return r, []Problem{problemOf(err)}
	}
	var c checks
	if raw, ok := members["id"]; ok {
		c.read(raw, "/id", &r.ID)
		if len(c) == 0 && !ValidRequestID(r.ID) {
			r.ID = ""
			c.add("/id", "bad_id", "the id is not 1-64 characters of A-Z a-z 0-9 . _ : -", "use a UUID")
		}
	}
	for name, raw := range members {
		switch name {
		case "id", "args":
		case "ts":
			c.read(raw, "/ts", &r.TS)
		case "ttl_ms":
			c.read(raw, "/ttl_ms", &r.TTLMS)
			if r.TTLMS < 1 || r.TTLMS > MaxTTL.Milliseconds() {
				c.add("/ttl_ms", "out_of_range", fmt.Sprintf("a time to live is 1 to %d ms", MaxTTL.Milliseconds()), "leave it out for the verb's own")
			}
		case "by":
			c.text(ArgString, raw, "/by", v.Class == ClassStop, &r.By)
		case "why":
			c.text(ArgString, raw, "/why", v.Class == ClassStop, &r.Why)
		case "batch":
			c.text(ArgString, raw, "/batch", v.Class == ClassStop, &r.Batch)
		case "session":
			c.text(ArgString, raw, "/session", v.Class == ClassStop, &r.Session)
		case "seq":
			c.read(raw, "/seq", &r.Seq)
			c.atLeast("/seq", r.Seq, 1)
		case "if":
			c.readCondition(raw, &r.If)
		default:
			if !strings.HasPrefix(name, "x_") {
				c.add("/"+name, "unknown_field", "a command has no field "+name, "fields are id, ts, ttl_ms, by, why, batch, session, seq, if, args; arguments belong into args")
			}
		}
	}
	if r.Seq != 0 && r.Session == "" {
		c.add("/session", "missing", "a seq counts within the session of its sender", "send session, or leave seq out")
	}
	c = append(c, v.decodeArgs(&r.Args, members["args"])...)
	return r, c
}

func (v Verb) decodeArgs(a *Args, raw jsontext.Value) []Problem {
	var c checks
	given := map[string]bool{}
	if raw != nil {
		var members map[string]jsontext.Value
		if raw.Kind() != '{' {
			return []Problem{Fault("/args", "bad_type", "args is not an object", "write {\"args\":{\"name\":value}}")}
		}
		c.read(raw, "/args", &members)
		for name, value := range members {
			arg, ok := v.arg(name)
			switch {
			case ok:
				given[name] = string(value) != `""` // which says nothing
				if p, bad := a.set(arg, value, "/args/"+name, v.Class == ClassStop); bad {
					c = append(c, p)
				}
			case !strings.HasPrefix(name, "x_"):
				c.add("/args/"+name, "unknown_argument", v.ID()+" has no argument "+name, v.argHint())
			}
		}
	}
	return append(c, v.lacking(given)...)
}

func (v Verb) arg(name string) (Arg, bool) {
	for _, a := range v.Args {
		if a.Name == name {
			return a, true
		}
	}
	return Arg{}, false
}

func (v Verb) lacking(given map[string]bool) []Problem {
	var c checks
	for _, a := range v.Args {
		if a.Required && !given[a.Name] {
			c.add("/args/"+a.Name, "missing", v.ID()+" needs "+a.Name, a.Purpose)
		}
	}
	return c
}

func (v Verb) argHint() string {
	if len(v.Args) == 0 {
		return "it takes none"
	}
	names := make([]string, len(v.Args))
	for i, a := range v.Args {
		names[i] = a.Name
	}
	return "it takes " + strings.Join(names, ", ")
}

// read decodes one member into a pointer, or adds the problem. A null says
// nothing, and what it would leave out may be what a sender counts upon.
func (c *checks) read(raw jsontext.Value, pointer string, into any) {
	if raw.Kind() == 'n' {
		c.add(pointer, "bad_type", "a null does not fit here", "leave it out, or say what it is")
		return
	}
	if err := json.Unmarshal(raw, into); err != nil {
		p := problemOf(err)
		p.Pointer = pointer + p.Pointer
		*c = append(*c, p)
	}
}

// readCondition decodes the field "if" strictly, because ignoring a condition would be
// worse than a refusal. So it also refuses empty conditions.
func (c *checks) readCondition(raw jsontext.Value, into *Precondition) {
	const hint = "it takes mode, state_seq, session, story_rev"
	if raw.Kind() == 'n' {
		c.add("/if", "bad_type", "a null does not fit here", "leave it out, or say what has to hold")
		return
	}
	if err := json.Unmarshal(raw, into, json.RejectUnknownMembers(true)); err != nil {
		p := problemOf(err)
		p.Pointer = "/if" + p.Pointer
		if p.Code == "unknown_field" {
			p.Hint = hint
		}
		*c = append(*c, p)
		return
	}
	var said map[string]jsontext.Value
	c.read(raw, "/if", &said)
	for name, empty := range map[string]bool{"mode": into.Mode == "", "state_seq": into.StateSeq < 1, "session": into.Session == "", "story_rev": into.StoryRev < 1} {
		if _, there := said[name]; there && empty {
			c.add("/if/"+name, "out_of_range", "the condition on "+name+" can never hold", "leave it out, or say what has to hold")
		}
	}
}

// EncodeRequest writes a request for verb v as JSON.
func EncodeRequest(v Verb, r Request) ([]byte, error) {
	type wire struct {
		Request
		Args map[string]any `json:"args,omitempty"`
	}
	return Encode(wire{r, r.Args.Values(v)})
}

// Ack is the robot's answer to a command. Every command gets a final answer, also
// malformed, late, refused and repeated ones.
type Ack struct {
	TS           Time    `json:"ts"`
	Session      string  `json:"session"`
	ID           *string `json:"id" jsonschema:"nullable"` // null if the id of the command could not be decoded
	Verb         string  `json:"verb"`
	Status       Status  `json:"status"`
	Result       Result  `json:"result,omitempty"`
	Reason       Reason  `json:"reason,omitempty"`
	Retry        Retry   `json:"retry,omitempty"`
	RetryMS      int64   `json:"retry_ms,omitzero"`
	Detail       string  `json:"detail,omitempty"`
	Pointer      string  `json:"pointer,omitempty"`
	StateSeq     int64   `json:"state_seq,omitzero"` // the effect is visible in states with this state_seq or a higher one
	Current      *Now    `json:"current,omitzero"`
	Dup          bool    `json:"dup,omitzero"`           // the repeated answer to an earlier copy of the command
	UncheckedAge bool    `json:"unchecked_age,omitzero"` // the robot could not check the age of the command
	Progress     *int    `json:"progress,omitzero"`      // 0-100, with IN_PROGRESS if known
	EtaMS        int64   `json:"eta_ms,omitzero"`        // remaining time, with IN_PROGRESS if known
	Lease        *Lease  `json:"lease,omitzero"`         // the granted control, or its present holder
	Refs         []Ref   `json:"refs,omitempty"`         // what prevents the command, or what it created; at most MaxRefs
}

// Ref refers to an object that an answer or an alert is about.
type Ref struct {
	Kind RefKind `json:"kind"`
	ID   string  `json:"id"`
}

// MaxRefs is the greatest number of references in an answer.
const MaxRefs = 8

// Lease is the control of a robot by one client. Only its holder receives its id.
type Lease struct {
	ID      string `json:"id,omitempty"`
	Holder  string `json:"holder"`
	By      string `json:"by,omitempty"` // the person
	Scope   string `json:"scope"`        // manual, or all
	UntilMS int64  `json:"until_ms"`     // in the robot's mono_ms
}

// Now is the robot's present state in an answer.
type Now struct {
	Mode   ModeID      `json:"mode"`
	Safety SafetyState `json:"safety"`
	Auto   AutoStatus  `json:"auto"`
}

// Validate reports missing or invalid fields.
func (m *Ack) Validate() []Problem {
	var c checks
	c.present("/session", m.Session != "")
	c.present("/verb", m.Verb != "")
	c.present("/status", m.Status != "")
	for i, r := range m.Refs {
		c.present(at("/refs", i, "kind"), r.Kind != "")
		c.present(at("/refs", i, "id"), r.ID != "")
	}
	return c
}
