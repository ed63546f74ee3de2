package view

import (
	"reflect"
	"testing"

	"troupe/schema"
)

// TestEqualPartsOfDocumentsAreOne compares robots with the one that came before them.
func TestEqualPartsOfDocumentsAreOne(t *testing.T) {
	caps := func(model string, verbs ...string) schema.Caps {
		return schema.Caps{Robot: schema.CapsRobot{Model: model}, Verbs: verbs, Arguments: map[string][]string{"sys/ping": {"id"}}}
	}
	for _, c := range []struct {
		name          string
		of            schema.Caps
		sameVerbs     bool
		sameArguments bool
	}{
		{"the same body", caps("a", "sys/ping", "mode/set"), true, true},
		{"a verb less", caps("a", "sys/ping"), false, true},
		{"another model", caps("b", "sys/ping", "mode/set"), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p sharedParts
			first, own := caps("a", "sys/ping", "mode/set"), c.of
			p.caps(&first)
			p.caps(&own)
			if !reflect.DeepEqual(own, c.of) {
				t.Errorf("the document became %+v", own)
			}
			if got := &own.Verbs[0] == &first.Verbs[0]; got != c.sameVerbs {
				t.Errorf("the verbs are those of the first: %v", got)
			}
			if got := reflect.ValueOf(own.Arguments).Pointer() == reflect.ValueOf(first.Arguments).Pointer(); got != c.sameArguments {
				t.Errorf("the arguments are those of the first: %v", got)
			}
		})
	}
}
