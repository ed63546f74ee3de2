package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

// What isPlain lets pass without checkShape breaks none of its rules.
func TestPlainPayloadThatDecodesHasItsShape(t *testing.T) {
	const deepest = MaxDepth - 1 // within the object of the payload
	values := []string{
		`"a"`, `"\"{["`, `"\\"`, "12", "123456789012345", "9007199254740993", "-1.5e3", "null", "[]", `{"a":{"b":[]}}`, `{"a":1,"a":2}`,
		strings.Repeat("[", deepest) + strings.Repeat("]", deepest), strings.Repeat("[", deepest+1) + strings.Repeat("]", deepest+1),
	}
	broken := []string{"{", "}", "[", "]", ",", ":", `"`, "1", " "}
	plain := 0
	check := func(t rapid.TB, payload string) {
		p, bad := checkShape([]byte(payload))
		for _, into := range []any{&struct{}{}, &map[string]any{}, &State{}} {
			if !isPlain([]byte(payload), MaxDepth) || json.Unmarshal([]byte(payload), into) != nil {
				continue
			}
			plain++
			if bad {
				t.Fatalf("%s is decoded into %T, although %v", payload, into, p)
			}
		}
	}
	for _, value := range values {
		check(t, `{"a":`+value+`}`)
	}
	rapid.Check(t, func(t *rapid.T) {
		pick := func(some ...string) string { return rapid.SampledFrom(some).Draw(t, "text") }
		payload := "{"
		for n := range rapid.IntRange(0, 4).Draw(t, "members") {
			key := fmt.Sprintf(`"k%d":`, n)
			payload += pick(key, key, key, key, `"a":`, "") + pick(values...) + pick("", "", "", "", pick(broken...)) + pick(",", ",", ",", ",", "")
		}
		check(t, payload+`"z":0}`)
	})
	if plain == 0 {
		t.Error("no payload was plain")
	}
}
