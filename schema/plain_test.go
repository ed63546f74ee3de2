package schema

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

// What isPlain lets pass without checkShape breaks none of its rules.
func TestPlainPayloadThatDecodesHasItsShape(t *testing.T) {
	pieces := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"b"`, `"a":`, `"a":1,`, `"\"{[":0`, `"\\"`, "12", "123456789012345", "9007199254740993", "-1.5e3", "null", "true", " ", `{"a":{"b":[]}}`, strings.Repeat(`{"a":`, 17) + "0" + strings.Repeat("}", 17)}
	var plain, shaped int
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		b.WriteString("{")
		for n := range rapid.IntRange(0, 4).Draw(t, "members") {
			b.WriteString(rapid.SampledFrom([]string{fmt.Sprintf(`"k%d":`, n), `"a":`, ""}).Draw(t, "key"))
			for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "pieces") {
				b.WriteString(rapid.SampledFrom(pieces).Draw(t, "piece"))
			}
			b.WriteString(rapid.SampledFrom([]string{",", ",", ",", "", " "}).Draw(t, "separator"))
		}
		b.WriteString(`"z":0}`)
		payload := b.Bytes()
		p, bad := checkShape(payload)
		if !bad {
			shaped++
		}
		for _, into := range []any{&struct{}{}, &map[string]any{}, &State{}} {
			if isPlain(payload, MaxDepth) && json.Unmarshal(payload, into) == nil {
				plain++
				if bad {
					t.Fatalf("%s is decoded into %T, although %v", payload, into, p)
				}
			}
		}
	})
	if plain == 0 || shaped == 0 {
		t.Errorf("%d payloads were plain, %d had their shape", plain, shaped)
	}
}
