package cli

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"troupe/fleetd/api"
)

// A table or a sentence names fields and methods of the answer, which the compiler does not check.
func TestRowsShowWhatTheirAnswersHave(t *testing.T) {
	shown := 0
	for _, o := range api.Operations() {
		answer, has := o.Out.FieldByName("Body")
		if o.Columns == "" && !strings.Contains(o.Done, "{.") {
			continue
		}
		if shown++; !has {
			t.Errorf("%s has no answer to show", o.ID)
			continue
		}
		v := reflect.New(answer.Type).Elem()
		for f := range v.Type().Fields() {
			if f.Type.Kind() == reflect.Slice {
				v.FieldByIndex(f.Index).Set(reflect.MakeSlice(f.Type, 1, 1))
			}
		}
		if o.Columns != "" {
			columnsTable(io.Discard, o.Row, v)
		}
		r := rowRequest{operation: o}
		if text := r.sentence(v); strings.ContainsAny(text, "{}") {
			t.Errorf("%s says %q", o.ID, text)
		}
	}
	if shown < 10 {
		t.Errorf("only %d rows show their answers", shown)
	}
}
