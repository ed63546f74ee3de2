package main

import (
	"reflect"
	"strings"
	"testing"

	"troupe/schema"
)

// The page and the JSON Schemas say of each field what it is: nobody has to read Go for it.
func TestEveryFieldOfMessagesIsDescribed(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var check func(of reflect.Type)
	check = func(of reflect.Type) {
		if seen[of] || of == reflect.TypeFor[schema.Time]() || of.PkgPath() != reflect.TypeFor[schema.State]().PkgPath() ||
			of.Kind() != reflect.Struct {
			return
		}
		seen[of] = true
		for f := range fieldsOf(of) {
			if f.doc == "" {
				t.Errorf("%s.%s has no doc tag", of, f.field.Name)
			}
			check(element(f.field.Type))
		}
	}
	for name, value := range messages {
		if name != "SimInput" { // the table of inputs describes these
			check(reflect.TypeOf(value))
		}
	}
	if len(seen) < 60 {
		t.Errorf("only %d types", len(seen))
	}
	for _, want := range []string{"| `safety.latches[].id` | yes |", "| `units[].kind` | yes |", "its fields are those of"} {
		if !strings.Contains(messageReference(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
