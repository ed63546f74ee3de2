package schema

import (
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// obeyed is a message by which somebody goes. What it must carry is never guessed
// at: a fleet's stop that does not say whether it is active releases nobody, a
// desired state that does not speak of a story withdraws none. Messages that only tell
// something are read more kindly, for a later writer may leave out what an
// earlier one had.
type obeyed interface{ obeyed() }

func (*DesiredStop) obeyed()   {}
func (*FleetStop) obeyed()     {}
func (*DesiredStory) obeyed()  {}
func (*DesiredSet) obeyed()    {}
func (*DesiredConfig) obeyed() {}
func (*DesiredMode) obeyed()   {}
func (*Revoked) obeyed()       {}
func (*VelocityFrame) obeyed() {}

// unsaid finds the members that a message of type t must carry and does not. Null
// is no value but where it has a meaning of its own.
func unsaid(data []byte, t reflect.Type) []Problem {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return []Problem{problemOf(err)}
	}
	var c checks
	for _, m := range mustCarry(t) {
		v, ok := members[m.name]
		c.said("/"+m.name, ok && (m.nullable || v.Kind() != 'n'))
	}
	return c
}

// member is a field of a message that every one carries.
type member struct {
	name     string
	nullable bool
}

var carried sync.Map // reflect.Type -> []member

func mustCarry(t reflect.Type) []member {
	if known, ok := carried.Load(t); ok {
		return known.([]member)
	}
	var all []member
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(options, "omit") {
			all = append(all, member{name, f.Type.Kind() == reflect.Pointer})
		}
	}
	carried.Store(t, all)
	return all
}
