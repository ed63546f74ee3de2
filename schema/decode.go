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

// MaxDepth is the greatest nesting depth of a payload.
const MaxDepth = 16

// maxInt bounds the integers of a payload: a reader that makes each number a float64, as many do,
// represents all integers up to it exactly.
const maxInt = 1 << 53

// Decode decodes and validates one message of type T. It ignores unknown fields, as
// readers of documents must. If it returns problems, the value must not be used.
func Decode[T any](data []byte) (T, []Problem) { return decode[T](data, false, MaxDepth) }

// DecodeStrict is like Decode, but an unknown field is a problem too.
func DecodeStrict[T any](data []byte) (T, []Problem) { return decode[T](data, true, MaxDepth) }

// DecodeStrictWithin is like DecodeStrict, with another limit of the nesting depth.
func DecodeStrictWithin[T any](data []byte, depth int) (T, []Problem) {
	return decode[T](data, true, depth)
}

// DecodeStrictInto is like DecodeStrictWithin for a type that is known only at run time.
// It does not call Validate.
func DecodeStrictInto(data []byte, v any, depth int) []Problem {
	return decodeInto(data, v, true, depth)
}

func decodeInto(data []byte, v any, strict bool, depth int) []Problem {
	plain := isPlain(data, depth)
	var err error
	if plain {
		err = json.Unmarshal(data, v, json.RejectUnknownMembers(strict))
	}
	if !plain || err != nil {
		if p, bad := checkShapeWithin(data, depth); bad {
			return []Problem{p}
		}
	}
	if !plain {
		err = json.Unmarshal(data, v, json.RejectUnknownMembers(strict))
	}
	if semantic := (*json.SemanticError)(nil); errors.As(err, &semantic) && semantic.JSONKind == '0' {
		if whole, changed := withWholeNumbers(data); changed {
			reflect.ValueOf(v).Elem().SetZero()
			err = json.Unmarshal(whole, v, json.RejectUnknownMembers(strict))
		}
	}
	if err != nil {
		return []Problem{problemOf(err)}
	}
	return nil
}

func decode[T any](data []byte, strict bool, depth int) (T, []Problem) {
	var v T
	if ps := decodeInto(data, &v, strict, depth); len(ps) > 0 {
		return v, ps
	}
	if _, ok := any(&v).(directive); ok {
		if ps := missingFields(data, reflect.TypeFor[T]()); len(ps) > 0 {
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

// Encode encodes a message. It fails only on values that JSON cannot represent, which is
// a bug of the caller.
func Encode(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b, nil
}

// isPlain reports whether data breaks no rule of checkShape if it can be decoded at all: it is an object, nested at most
// to depth, and has no integer of so many digits that it may be beyond maxInt. Token by token the check takes as long as the decoding.
func isPlain(data []byte, depth int) bool {
	first := bytes.TrimLeft(data, " \t\r\n")
	if len(first) == 0 || first[0] != '{' {
		return false
	}
	const maxDigits = 15
	nested, digits := 0, 0
	for i := 0; i < len(data); i++ {
		c := data[i]
		if '0' <= c && c <= '9' {
			if digits++; digits > maxDigits {
				return false
			}
			continue
		}
		digits = 0
		switch c {
		case '{', '[':
			if nested++; nested > depth {
				return false
			}
		case '}', ']':
			nested--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return true
}

// checkShape checks the rules for every payload, independent of its type: one object,
// limited depth, no duplicate keys, integers within 2^53.
func checkShape(data []byte) (Problem, bool) { return checkShapeWithin(data, MaxDepth) }

func checkShapeWithin(data []byte, depth int) (Problem, bool) {
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 {
		return NewProblem("", "empty", "the payload is empty", "send a JSON object"), true
	} else if first[0] != '{' {
		return NewProblem("", "not_object", "the payload is not a JSON object", "start it with { and end it with }"), true
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return problemOf(err), true
		}
		if dec.StackDepth() > depth {
			return NewProblem(string(dec.StackPointer()), "too_deep", fmt.Sprintf("nested deeper than %d levels", depth), "flatten it"), true
		}
		if tok.Kind() == '0' {
			if s := tok.String(); !strings.ContainsAny(s, ".eE") {
				if n, err := strconv.ParseInt(s, 10, 64); err != nil || n > maxInt || n < -maxInt {
					return NewProblem(string(dec.StackPointer()), "number_range", s+" is beyond 2^53", "send a smaller number"), true
				}
			}
		}
		if dec.StackDepth() == 0 {
			break
		}
	}
	if rest := bytes.TrimSpace(data[dec.InputOffset():]); len(rest) > 0 {
		return NewProblem("", "trailing_data", fmt.Sprintf("%d bytes follow the object", len(rest)), "send one object only"), true
	}
	return Problem{}, false
}

// problemOf turns an error of the decoder into a problem with its position.
func problemOf(err error) Problem {
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		code, hint := "syntax", "send one well-formed JSON object"
		if errors.Is(err, jsontext.ErrDuplicateName) {
			code, hint = "duplicate_key", "write each key once"
		}
		return NewProblem(string(syn.JSONPointer), code, fmt.Sprintf("%v at byte %d", reason(syn.Err), syn.ByteOffset), hint)
	}
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return NewProblem(string(sem.JSONPointer), "unknown_field", "unknown field", "remove it or correct its spelling")
		case errors.Is(sem.Err, strconv.ErrSyntax) && sem.JSONKind == '0': // 1.5 for an integer
			return NewProblem(string(sem.JSONPointer), "bad_type", "a number does not fit here", "write "+wanted(sem.GoType))
		case sem.Err != nil:
			return NewProblem(string(sem.JSONPointer), "bad_value", reason(sem.Err), "")
		case sem.JSONKind != 0:
			return NewProblem(string(sem.JSONPointer), "bad_type", kindWord(sem.JSONKind)+" does not fit here", "write "+wanted(sem.GoType))
		}
		return NewProblem(string(sem.JSONPointer), "bad_value", "the value does not fit here", "")
	}
	return NewProblem("", "syntax", reason(err), "send one well-formed JSON object")
}

// reason removes the decoder's prefix, which means nothing to the sender.
func reason(err error) string {
	if err == nil {
		return "malformed"
	}
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "jsontext: "), "json: ")
}

func kindWord(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "a null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return k.String()
}

// wanted returns which JSON fits a type that another kind of JSON did not fit.
func wanted(t reflect.Type) string {
	if t == nil {
		return "another kind of value"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map:
		return "an object"
	case reflect.Struct:
		return "an object" + withRequired(t)
	}
	return "another kind of value"
}

// withRequired names the fields that an object of type t always has.
func withRequired(t reflect.Type) string {
	var names []string
	for _, f := range requiredFields(t) {
		names = append(names, f.name)
	}
	if len(names) == 0 {
		return ""
	}
	return " with " + strings.Join(names, " and ")
}
