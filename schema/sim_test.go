package schema

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestExampleOfEachSimInputIsDecoded(t *testing.T) {
	for _, row := range SimInputs {
		in, ps := DecodeSimInput(row.Name, []byte(row.Example))
		if len(ps) > 0 {
			t.Errorf("%s %s: %v", row.Name, row.Example, ps)
			continue
		}
		if again, err := Encode(in); err != nil || !bytes.Equal(again, []byte(row.Example)) {
			t.Errorf("%s %s: encoded as %s, %v", row.Name, row.Example, again, err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(row.Example)))
		if err != nil {
			t.Fatal(err)
		}
		if err := jsonSchemaOf(t, "SimInput").Validate(doc); err != nil {
			t.Errorf("%s %s: %v", row.Name, row.Example, err)
		}
		if len(row.Fields) == 0 || row.Purpose == "" {
			t.Errorf("%s is not described", row.Name)
		}
	}
}

func TestWrongSimInputIsRefusedAtPointer(t *testing.T) {
	for _, c := range []struct{ name, payload, code, pointer string }{
		{"dance", `{}`, "unknown_name", ""},
		{"battery", ``, "empty", ""},
		{"battery", `0.15`, "not_object", ""},
		{"battery", `{}`, "missing", "/level"},
		{"battery", `{"level":null}`, "missing", "/level"},
		{"battery", `{"level":15}`, "out_of_range", "/level"},
		{"battery", `{"level":0.1,"charging":true}`, "unknown_field", "/charging"},
		{"touch", `{"area":"the head","on":true}`, "bad_id", "/area"},
		{"touch", `{"area":"head","on":"yes"}`, "bad_type", "/on"},
		{"break", `{"unit":"head","what":""}`, "bad_text", "/what"},
		{"fail-next", `{"unit":"head","reason":"mood"}`, "bad_value", "/reason"},
	} {
		_, ps := DecodeSimInput(c.name, []byte(c.payload))
		if len(ps) != 1 || ps[0].Code != c.code || ps[0].Pointer != c.pointer {
			t.Errorf("%s %s: got %v, want %s at %q", c.name, c.payload, ps, c.code, c.pointer)
		}
	}
}
