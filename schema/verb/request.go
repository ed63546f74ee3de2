package verb

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// Request is a command as its sender wrote it.
type Request struct {
	schema.Envelope
	Args Args
}

// maxInteger is the largest integer that every JSON reader keeps exactly.
const maxInteger = 1 << 53

// Decode reads the payload of a command topic for verb v. An empty payload has no
// arguments, a payload that starts with { is JSON, anything else is a bare word: the verb's
// first argument. If Decode returns problems, the caller may use only the ID, and the latch
// of a stop, if they could be read; of a verb that this release does not know, only the ID.
func Decode(v Verb, payload []byte) (Request, []schema.Problem) {
	var (
		r     Request
		found []schema.Problem
	)
	args := reflect.New(v.arguments()).Elem()
	switch trimmed := bytes.TrimSpace(payload); {
	case len(trimmed) == 0:
		found = v.missing(nil)
	case trimmed[0] == '{':
		r.Envelope, found = schema.DecodeEnvelope(payload, v.Class == ClassStop, func(raw jsontext.Value) []schema.Problem {
			return v.decodeArgs(args, raw)
		})
	default:
		found = v.decodeWord(args, string(trimmed))
	}
	r.Args = args.Interface().(Args) // takes allows only structs that implement it
	return r, found
}

func (v Verb) decodeWord(args reflect.Value, word string) []schema.Problem {
	known := v.Args()
	if v.Class == ClassStop {
		word = schema.SanitizeText(word)
	}
	if len(known) > 0 && known[0].Type != TypeText && len(word) > schema.MaxShortText {
		return []schema.Problem{schema.NewProblem("", "too_long", fmt.Sprintf("a bare word has at most %d bytes", schema.MaxShortText),
			"send JSON: {\"args\":{...}}")}
	}
	if !schema.Printable(word) {
		return []schema.Problem{schema.NewProblem("", "syntax", "the payload is neither JSON nor a printable word",
			"send a word such as ato, or a JSON object, without a byte order mark")}
	}
	if len(known) == 0 {
		return []schema.Problem{schema.NewProblem("", "unknown_argument", v.ID()+" takes no argument", "send an empty payload")}
	}
	text, err := jsontext.AppendQuote(nil, word)
	if err != nil {
		return []schema.Problem{schema.NewProblem("", "syntax", "the word cannot be read", "")}
	}
	if t := known[0].Type; t == TypeInteger || t == TypeBoolean || t == TypeNumber {
		text = []byte(word)
	}
	if found := v.set(args, 0, text, "/args/"+known[0].Name); len(found) > 0 {
		return found[:1]
	}
	return v.missing(map[string]bool{known[0].Name: true})
}

func (v Verb) decodeArgs(args reflect.Value, raw jsontext.Value) []schema.Problem {
	given := map[string]bool{}
	var found []schema.Problem
	if raw != nil {
		if raw.Kind() != '{' {
			return []schema.Problem{schema.NewProblem("/args", "bad_type", "args is not an object", "write {\"args\":{\"name\":value}}")}
		}
		var members map[string]jsontext.Value
		found = schema.ReadMember(raw, "/args", &members)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			value := members[name]
			i, ok := v.argument(name)
			switch {
			case ok:
				given[name] = string(value) != `""` // an empty text counts as missing
				if ps := v.set(args, i, value, "/args/"+name); len(ps) > 0 {
					found = append(found, ps[0])
				}
			case !strings.HasPrefix(name, "x_"):
				found = append(found, schema.NewProblem("/args/"+name, "unknown_argument", v.ID()+" has no argument "+name, v.hint()))
			}
		}
	}
	return append(found, v.missing(given)...)
}

func (v Verb) missing(given map[string]bool) []schema.Problem {
	var found []schema.Problem
	for _, a := range v.Args() {
		if a.Required && !given[a.Name] {
			found = append(found, schema.NewProblem("/args/"+a.Name, "missing", v.ID()+" needs "+a.Name, a.Purpose))
		}
	}
	return found
}

func (v Verb) hint() string {
	if len(v.Args()) == 0 {
		return "it takes none"
	}
	var names []string
	for _, a := range v.Args() {
		names = append(names, a.Name)
	}
	return "it takes " + strings.Join(names, ", ")
}

// set stores one argument in its field.
func (v Verb) set(args reflect.Value, i int, raw jsontext.Value, pointer string) []schema.Problem {
	arg, stop := v.shape.args[i], v.Class == ClassStop
	switch f := args.Field(v.shape.fields[i]).Addr().Interface().(type) {
	case *Number:
		f.Given = true
		found := schema.ReadMember(raw, pointer, &f.Value)
		if math.Abs(f.Value) > maxInteger {
			found = append(found, schema.NewProblem(pointer, "out_of_range", fmt.Sprintf("%v lies beyond 2^53", f.Value), arg.Purpose))
		}
		return found
	case *bool:
		return schema.ReadMember(raw, pointer, f)
	case *int64:
		found := schema.ReadMember(raw, pointer, f)
		if len(found) == 0 && (*f < 1 || *f > maxInteger) {
			found = append(found, schema.NewProblem(pointer, "out_of_range", fmt.Sprintf("%d is not between 1 and 2^53", *f), arg.Purpose))
		}
		return found
	case *Values:
		return readValues(raw, pointer, f)
	case *Objects:
		found := schema.ReadArray(raw, pointer, arg.Purpose)
		text, ps := schema.Canonical(raw)
		*f = Objects(text)
		return append(found, ps...)
	case *Any:
		*f = Any(raw)
		return schema.ShortTextBound.Check(pointer, string(raw))
	default:
		return readText(args.Field(v.shape.fields[i]), arg.Type, raw, pointer, stop)
	}
}

// readText stores a string, whatever its Go type.
func readText(field reflect.Value, t Type, raw jsontext.Value, pointer string, stop bool) []schema.Problem {
	bound := schema.ShortTextBound
	if t == TypeText {
		bound = schema.TextBound
	}
	text, found := schema.ReadText(raw, pointer, bound, stop)
	field.SetString(text)
	if t == TypeUUID && len(found) == 0 && !schema.ValidUUID(text) {
		found = append(found, schema.NewProblem(pointer, "bad_id", fmt.Sprintf("%q is not a UUID in lower case", text),
			"write it as b108326f-f261-4a6b-ad48-fee8efb991ba"))
	}
	return found
}

func readValues(raw jsontext.Value, pointer string, into *Values) []schema.Problem {
	var texts map[string]jsontext.Value
	found := schema.ReadMember(raw, pointer, &texts)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		at := string(jsontext.Pointer(pointer).AppendToken(name))
		var text string
		found = append(found, schema.ReadMember(texts[name], at, &text)...)
		found = append(found, schema.TextBound.Check(at, text)...)
	}
	text, ps := schema.Canonical(raw)
	*into = Values(text)
	return append(found, ps...)
}

// Texts returns the values by name. Decode has checked them.
func (v Values) Texts() map[string]string {
	if v == "" {
		return nil
	}
	var texts map[string]string
	if err := json.Unmarshal([]byte(v), &texts); err != nil {
		return nil
	}
	return texts
}

// Encode writes a request for verb v as JSON. The arguments have to be those of v.
func Encode(v Verb, r Request) ([]byte, error) {
	if r.Args != nil && reflect.TypeOf(r.Args) != v.arguments() {
		return nil, fmt.Errorf("encode %s: its arguments are %v, not %T", v.ID(), v.arguments(), r.Args)
	}
	type wire struct {
		schema.Envelope
		Args map[string]any `json:"args,omitempty"`
	}
	return schema.Encode(wire{r.Envelope, v.Given(r.Args)})
}

// Given returns the arguments that were given, by name, as plain values. Only an argument of
// TypeAny stays as it was written.
func (v Verb) Given(args Args) map[string]any {
	out := map[string]any{}
	if args == nil {
		return out
	}
	s := reflect.ValueOf(args)
	for i, a := range v.Args() {
		field := s.Field(v.shape.fields[i])
		if field.IsZero() {
			continue
		}
		switch f := field.Interface().(type) {
		case Number:
			out[a.Name] = f.Value
		case Any:
			out[a.Name] = jsontext.Value(f)
		case Values:
			out[a.Name] = plain(string(f))
		case Objects:
			out[a.Name] = plain(string(f))
		case bool, int64:
			out[a.Name] = f
		default:
			out[a.Name] = field.String()
		}
	}
	return out
}

// WithoutSecrets is Given without the secret arguments: what people may read of a command.
func (v Verb) WithoutSecrets(args Args) map[string]any {
	out := v.Given(args)
	for _, a := range v.Args() {
		if a.Secret {
			delete(out, a.Name)
		}
	}
	return out
}

func plain(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return jsontext.Value(text)
	}
	return v
}

// Reason returns why the sender wants it: why of the envelope, else the argument of that name.
func (r Request) Reason() string {
	if f := reflect.ValueOf(r.Args).FieldByName("Why"); r.Why == "" && f.IsValid() {
		return f.String()
	}
	return r.Why
}

// FirstArgument returns the first argument as text, for one-line displays.
func (v Verb) FirstArgument(args Args) string {
	if args == nil || len(v.Args()) == 0 {
		return ""
	}
	field := reflect.ValueOf(args).Field(v.shape.fields[0])
	switch f := field.Interface().(type) {
	case Number:
		if f.Given {
			return strconv.FormatFloat(f.Value, 'g', -1, 64)
		}
	case int64:
		if f != 0 {
			return strconv.FormatInt(f, 10)
		}
	case bool, Values, Objects, Any:
	default:
		return field.String()
	}
	return ""
}
