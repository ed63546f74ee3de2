package verb

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"troupe/schema"
)

// Args are the arguments of one verb: a struct of this package, comparable, the
// zero value of a field meaning that the argument was left out.
type Args interface{ arguments() }

// sealed is embedded in every struct of arguments.
type sealed struct{}

func (sealed) arguments() {}

// Type is the form of one argument.
type Type string

// The types, with the Go type of the field.
const (
	TypeString  Type = "string"  // string: at most schema.MaxShortText bytes
	TypeBoolean Type = "boolean" // bool
	TypeInteger Type = "integer" // int64: 1 to 2^53
	TypeNumber  Type = "number"  // Number
	TypeText    Type = "text"    // Text: at most schema.MaxText characters
	TypeUUID    Type = "uuid"    // UUID
	TypeObject  Type = "object"  // Values
	TypeArray   Type = "array"   // Objects
	TypeAny     Type = "any"     // Any
)

// Bound says how long an argument of this type may be, for people; empty for
// those that are not texts.
func (t Type) Bound() string {
	switch t {
	case TypeString, TypeAny:
		return schema.ShortTextBound.String()
	case TypeText:
		return schema.TextBound.String()
	}
	return ""
}

// Arg describes one argument of a verb.
type Arg struct {
	Name     string
	Type     Type
	Required bool
	Secret   bool // a reader could use it: it is sent, and never shown or kept
	Purpose  string
}

// Types of fields beside string, bool and int64.
type (
	// Text is a text of at most schema.MaxText characters, such as what a robot says.
	Text string
	// UUID is written in lower case.
	UUID string
	// Number is a number that may be left out; zero is a given value.
	Number struct {
		Value float64
		Given bool
	}
	// Values are texts by name, as canonical JSON.
	Values string
	// Objects is a list of objects, as canonical JSON.
	Objects string
	// Any is any JSON value, as its sender wrote it.
	Any string
)

// Pointer returns nil for a number that was left out.
func (n Number) Pointer() *float64 {
	if !n.Given {
		return nil
	}
	return &n.Value
}

var types = map[reflect.Type]Type{
	reflect.TypeFor[string]():        TypeString,
	reflect.TypeFor[schema.ModeID](): TypeString,
	reflect.TypeFor[bool]():          TypeBoolean,
	reflect.TypeFor[int64]():         TypeInteger,
	reflect.TypeFor[Number]():        TypeNumber,
	reflect.TypeFor[Text]():          TypeText,
	reflect.TypeFor[UUID]():          TypeUUID,
	reflect.TypeFor[Values]():        TypeObject,
	reflect.TypeFor[Objects]():       TypeArray,
	reflect.TypeFor[Any]():           TypeAny,
}

// shape is what reflection finds in a struct of arguments.
type shape struct {
	of     reflect.Type
	args   []Arg
	fields []int // index of each argument's field
}

// takes completes a row with the struct of its arguments. The tags of a field give the
// argument's name (json) and purpose (doc), and say if it is required or secret (verb). A payload that
// is a bare word is the value of the first field.
func takes[T Args](v Verb) Verb {
	t := reflect.TypeFor[T]()
	s := &shape{of: t}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			continue
		}
		kind, ok := types[f.Type]
		if !ok {
			panic(fmt.Sprintf("%v.%s: an argument cannot be a %v", t, f.Name, f.Type))
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		is := strings.Split(f.Tag.Get("verb"), ",")
		s.args = append(s.args, Arg{Name: name, Type: kind, Required: slices.Contains(is, "required"), Secret: slices.Contains(is, "secret"),
			Purpose: f.Tag.Get("doc")})
		s.fields = append(s.fields, i)
	}
	v.shape = s
	return v
}

// arguments is the struct of v's arguments.
func (v Verb) arguments() reflect.Type {
	if v.shape == nil {
		return reflect.TypeFor[None]()
	}
	return v.shape.of
}

// Args lists the arguments of v.
func (v Verb) Args() []Arg {
	if v.shape == nil {
		return nil
	}
	return v.shape.args
}

// Takes reports whether v has an argument of that name.
func (v Verb) Takes(name string) bool {
	_, ok := v.argument(name)
	return ok
}

func (v Verb) argument(name string) (int, bool) {
	for i, a := range v.Args() {
		if a.Name == name {
			return i, true
		}
	}
	return 0, false
}
