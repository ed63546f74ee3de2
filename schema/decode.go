package schema

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth bounds the nesting of every payload.
const MaxDepth = 16

// maxInt is the largest integer that every JSON reader keeps exactly.
const maxInt = 1 << 53

// Decode reads one message of type T. Fields that T does not know are ignored,
// as the reader of a document must; everything else that is malformed is
// returned as problems, and then the value must not be used.
func Decode[T any](data []byte) (T, []Problem) { return decode[T](data, false, MaxDepth) }

// DecodeStrict is Decode, but an unknown field is a problem too.
func DecodeStrict[T any](data []byte) (T, []Problem) { return decode[T](data, true, MaxDepth) }

// DecodeStrictWithin is DecodeStrict for files whose nesting has a bound of its
// own.
func DecodeStrictWithin[T any](data []byte, depth int) (T, []Problem) {
	return decode[T](data, true, depth)
}

// DecodeStrictInto reads one message into v, as DecodeStrictWithin does, for a
// caller who knows the type only at run time. It does not call Validate.
func DecodeStrictInto(data []byte, v any, depth int) []Problem { return into(data, v, true, depth) }

func into(data []byte, v any, strict bool, depth int) []Problem {
	if p, bad := shapeWithin(data, depth); bad {
		return []Problem{p}
	}
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(strict)); err != nil {
		return []Problem{problemOf(err)}
	}
	return nil
}

func decode[T any](data []byte, strict bool, depth int) (T, []Problem) {
	var v T
	if ps := into(data, &v, strict, depth); len(ps) > 0 {
		return v, ps
	}
	if _, ok := any(&v).(obeyed); ok {
		if ps := unsaid(data, reflect.TypeFor[T]()); len(ps) > 0 {
			return v, ps
		}
	}
	if m, ok := any(&v).(interface{ Validate() []Problem }); ok {
		if ps := m.Validate(); len(Errors(ps)) > 0 {
			return v, ps
		}
	}
	return v, nil
}

// Encode writes a message. It fails only on a value that the type cannot carry,
// which is a fault of ours.
func Encode(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b, nil
}

// shape checks what holds for every payload before any type is looked at: one
// object, not too deep, no duplicate keys, integers that survive every reader.
func shape(data []byte) (Problem, bool) { return shapeWithin(data, MaxDepth) }

func shapeWithin(data []byte, depth int) (Problem, bool) {
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 {
		return Fault("", "empty", "the payload is empty", "send a JSON object"), true
	} else if first[0] != '{' {
		return Fault("", "not_object", "the payload is not a JSON object", "start it with { and end it with }"), true
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return problemOf(err), true
		}
		if dec.StackDepth() > depth {
			return Fault(string(dec.StackPointer()), "too_deep", fmt.Sprintf("nested deeper than %d levels", depth), "flatten it"), true
		}
		if tok.Kind() == '0' {
			if s := tok.String(); !strings.ContainsAny(s, ".eE") {
				if n, err := strconv.ParseInt(s, 10, 64); err != nil || n > maxInt || n < -maxInt {
					return Fault(string(dec.StackPointer()), "number_range", s+" is beyond 2^53", "write it as a string"), true
				}
			}
		}
		if dec.StackDepth() == 0 {
			break
		}
	}
	if rest := bytes.TrimSpace(data[dec.InputOffset():]); len(rest) > 0 {
		return Fault("", "trailing_data", fmt.Sprintf("%d bytes follow the object", len(rest)), "send one object only"), true
	}
	return Problem{}, false
}

// problemOf turns a decoder's error into a problem that names the place.
func problemOf(err error) Problem {
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		code, hint := "syntax", "send one well-formed JSON object"
		if errors.Is(err, jsontext.ErrDuplicateName) {
			code, hint = "duplicate_key", "write each key once"
		}
		return Fault(string(syn.JSONPointer), code, fmt.Sprintf("%v at byte %d", reason(syn.Err), syn.ByteOffset), hint)
	}
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return Fault(string(sem.JSONPointer), "unknown_field", "unknown field", "remove it or correct its spelling")
		case sem.Err != nil:
			return Fault(string(sem.JSONPointer), "bad_value", reason(sem.Err), "")
		case sem.JSONKind != 0:
			return Fault(string(sem.JSONPointer), "bad_type", fmt.Sprintf("a %s does not fit here", kindWord(sem.JSONKind)), "")
		}
		return Fault(string(sem.JSONPointer), "bad_value", "the value does not fit here", "")
	}
	return Fault("", "syntax", reason(err), "send one well-formed JSON object")
}

// reason strips the decoder's own prefix, which means nothing to a sender.
func reason(err error) string {
	if err == nil {
		return "malformed"
	}
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "jsontext: "), "json: ")
}

func kindWord(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return k.String()
}
