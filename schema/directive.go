package schema

import (
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// directive is a message that its reader acts on. A missing field has no default: a
// fleet stop without "active" releases no robot, and a desired document without "story"
// withdraws no story. Messages that only report something are read more leniently,
// because a later version may leave out a field of an earlier one.
type directive interface{ directive() }

func (*DesiredStop) directive()   {}
func (*FleetStop) directive()     {}
func (*DesiredStory) directive()  {}
func (*DesiredSet) directive()    {}
func (*DesiredConfig) directive() {}
func (*DesiredMode) directive()   {}
func (*Revoked) directive()       {}
func (*VelocityFrame) directive() {}

// missingFields returns a problem for each required field of type t that a message
// lacks. A null counts as missing unless the field is a pointer.
func missingFields(data []byte, t reflect.Type) []Problem {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return []Problem{problemOf(err)}
	}
	var c checks
	for _, m := range requiredFields(t) {
		v, ok := members[m.name]
		c.present("/"+m.name, ok && (m.nullable || v.Kind() != 'n'))
	}
	return c
}

// requiredField is a field that every message of its type has.
type requiredField struct {
	name     string
	nullable bool
}

var requiredByType sync.Map // reflect.Type -> []requiredField

func requiredFields(t reflect.Type) []requiredField {
	if known, ok := requiredByType.Load(t); ok {
		return known.([]requiredField)
	}
	var all []requiredField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(options, "omit") {
			all = append(all, requiredField{name, f.Type.Kind() == reflect.Pointer})
		}
	}
	requiredByType.Store(t, all)
	return all
}
