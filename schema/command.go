package schema

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Args are the arguments of every verb in one comparable value; a verb fills
// those that its row names and leaves the rest zero.
type Args struct {
	Mode        ModeID
	Restart     bool
	Why         string
	SeenMonoMS  int64 // 0 = not said
	Token       string
	Handler     string
	Interrupter string
	ID          string
	Authority   string
	Echo        string // JSON text
}

// Request is a command as its sender wrote it. An empty payload has no
// arguments, a payload that starts with { is JSON, anything else is a bare word:
// the verb's first argument.
type Request struct {
	ID    string `json:"id,omitempty"` // 1-64 of [A-Za-z0-9._:-]; without one nothing is deduplicated
	TS    Time   `json:"ts,omitzero"`  // leave it out if the clock is not the fleet's
	TTLMS int64  `json:"ttl_ms,omitzero"`
	By    string `json:"by,omitempty"` // the person, for the audit
	Why   string `json:"why,omitempty"`
	Batch string `json:"batch,omitempty"` // common to the commands of one fleet request
	Args  Args   `json:"-"`
}

// MaxWord bounds a bare word and every string argument, in bytes.
const MaxWord = 256

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
	if len(word) > MaxWord {
		return r, []Problem{Fault("", "too_long", fmt.Sprintf("a bare word has at most %d bytes", MaxWord), "send JSON: {\"args\":{...}}")}
	}
	if !utf8.ValidString(word) || strings.IndexFunc(word, unicode.IsControl) >= 0 {
		return r, []Problem{Fault("", "syntax", "the payload is neither JSON nor a printable word", "send a word such as ato, or a JSON object")}
	}
	if len(v.Args) == 0 {
		return r, []Problem{Fault("", "unknown_argument", v.ID()+" takes no argument", "send an empty payload")}
	}
	text, err := jsontext.AppendQuote(nil, word)
	if err != nil {
		return r, []Problem{Fault("", "syntax", "the word cannot be read", "")}
	}
	first := v.Args[0]
	if first.Type == ArgInteger || first.Type == ArgBoolean {
		text = []byte(word)
	}
	if p, bad := r.Args.set(first, text, "/args/"+first.Name); bad {
		return r, []Problem{p}
	}
	return r, v.lacking(map[string]bool{first.Name: true})
}

func (v Verb) decodeObject(payload []byte) (Request, []Problem) {
	var r Request
	if p, bad := shape(payload); bad {
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
			c.read(raw, "/by", &r.By)
		case "why":
			c.read(raw, "/why", &r.Why)
		case "batch":
			c.read(raw, "/batch", &r.Batch)
		default:
			if !strings.HasPrefix(name, "x_") {
				c.add("/"+name, "unknown_field", "a command has no field "+name, "fields are id, ts, ttl_ms, by, why, batch, args; arguments belong into args")
			}
		}
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
				given[name] = true
				if p, bad := a.set(arg, value, "/args/"+name); bad {
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

// read decodes one member into a pointer, or adds the problem.
func (c *checks) read(raw jsontext.Value, pointer string, into any) {
	if err := json.Unmarshal(raw, into); err != nil {
		p := problemOf(err)
		p.Pointer = pointer + p.Pointer
		*c = append(*c, p)
	}
}

// set stores one argument; the names are those of the verb table.
func (a *Args) set(arg Arg, raw jsontext.Value, pointer string) (Problem, bool) {
	var c checks
	switch arg.Type {
	case ArgBoolean:
		var v bool
		c.read(raw, pointer, &v)
		a.Restart = v
	case ArgInteger:
		var v int64
		c.read(raw, pointer, &v)
		if len(c) == 0 && (v < 1 || v > maxInt) {
			c.add(pointer, "out_of_range", fmt.Sprintf("%d is not between 1 and 2^53", v), arg.Purpose)
		}
		a.SeenMonoMS = v
	case ArgAny:
		if len(raw) > MaxWord {
			c.add(pointer, "too_long", fmt.Sprintf("at most %d bytes", MaxWord), "")
		}
		a.Echo = string(raw)
	case ArgString:
		var v string
		c.read(raw, pointer, &v)
		if len(v) > MaxWord {
			c.add(pointer, "too_long", fmt.Sprintf("at most %d bytes", MaxWord), "")
		}
		a.setString(arg.Name, v)
	}
	if len(c) > 0 {
		return c[0], true
	}
	return Problem{}, false
}

func (a *Args) setString(name, v string) {
	switch name {
	case "mode":
		a.Mode = ModeID(v)
	case "why":
		a.Why = v
	case "token":
		a.Token = v
	case "handler":
		a.Handler = v
	case "interrupter":
		a.Interrupter = v
	case "id":
		a.ID = v
	case "authority":
		a.Authority = v
	}
}

// Values returns the arguments that v takes and a carries, by name, as a sender
// would write them.
func (a Args) Values(v Verb) map[string]any {
	out := map[string]any{}
	for _, arg := range v.Args {
		switch arg.Type {
		case ArgBoolean:
			if a.Restart {
				out[arg.Name] = true
			}
		case ArgInteger:
			if a.SeenMonoMS != 0 {
				out[arg.Name] = a.SeenMonoMS
			}
		case ArgAny:
			if a.Echo != "" {
				out[arg.Name] = jsontext.Value(a.Echo)
			}
		case ArgString:
			if s := a.text(arg.Name); s != "" {
				out[arg.Name] = s
			}
		}
	}
	return out
}

// Word returns the first argument as text, for one-line displays.
func (a Args) Word(v Verb) string {
	if len(v.Args) == 0 {
		return ""
	}
	if v.Args[0].Type == ArgAny {
		return a.Echo
	}
	return a.text(v.Args[0].Name)
}

func (a Args) text(name string) string {
	switch name {
	case "mode":
		return string(a.Mode)
	case "why":
		return a.Why
	case "token":
		return a.Token
	case "handler":
		return a.Handler
	case "interrupter":
		return a.Interrupter
	case "id":
		return a.ID
	case "authority":
		return a.Authority
	}
	return ""
}

// EncodeRequest writes a request for verb v as JSON.
func EncodeRequest(v Verb, r Request) ([]byte, error) {
	type wire struct {
		Request
		Args map[string]any `json:"args,omitempty"`
	}
	return Encode(wire{r, r.Args.Values(v)})
}

// Ack is the robot's answer. Every command gets a final one, also the
// malformed, the late, the refused and the repeated.
type Ack struct {
	TS           Time    `json:"ts"`
	Session      string  `json:"session"`
	ID           *string `json:"id" jsonschema:"nullable"` // null when the question's id could not be read
	Verb         string  `json:"verb"`
	Status       Status  `json:"status"`
	Result       Result  `json:"result,omitempty"`
	Reason       Reason  `json:"reason,omitempty"`
	Retry        Retry   `json:"retry,omitempty"`
	RetryMS      int64   `json:"retry_ms,omitzero"`
	Detail       string  `json:"detail,omitempty"`
	Pointer      string  `json:"pointer,omitempty"`
	StateSeq     int64   `json:"state_seq,omitzero"` // the effect is visible in a state of this number or above
	Current      *Now    `json:"current,omitzero"`
	Dup          bool    `json:"dup,omitzero"`           // the answer to an earlier copy, sent again
	UncheckedAge bool    `json:"unchecked_age,omitzero"` // the robot could not judge how old the command was
}

// Now is where the robot stands, as an answer tells it.
type Now struct {
	Mode   ModeID      `json:"mode"`
	Safety SafetyState `json:"safety"`
	Auto   AutoStatus  `json:"auto"`
}

// Validate reports what an answer must carry and does not.
func (m *Ack) Validate() []Problem {
	var c checks
	c.said("/session", m.Session != "")
	c.said("/verb", m.Verb != "")
	c.said("/status", m.Status != "")
	return c
}
