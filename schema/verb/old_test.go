package verb

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"troupe/schema"
)

// same fails where the decoder of this package and the former one differ.
func same(t interface {
	Helper()
	Fatalf(string, ...any)
}, payload []byte) {
	t.Helper()
	for i, v := range All {
		o := schema.Verbs[i]
		if v.ID() != o.ID() {
			t.Fatalf("row %d is %s, was %s", i, v.ID(), o.ID())
		}
		got, gp := Decode(v, payload)
		want, wp := schema.DecodeRequest(o, payload)
		// The former one did not say how long a UUID may be.
		if was := strings.ReplaceAll(sorted(wp), `Detail:"at most "`, `Detail:"at most 256 bytes"`); sorted(gp) != was {
			t.Fatalf("%s %q: problems\n%s\nwere\n%s", v.ID(), payload, sorted(gp), was)
		}
		if len(gp) > 0 {
			if stop, ok := got.Args.(Stop); ok && stop.Latch != want.Args.Latch || got.ID != want.ID {
				t.Fatalf("%s %q: id and latch %q %q, were %q %q", v.ID(), payload, got.ID, stop.Latch, want.ID, want.Args.Latch)
			}
			continue
		}
		if a, b := fmt.Sprint(v.Given(got.Args)), fmt.Sprint(want.Args.Values(o)); a != b || v.Word(got.Args) != want.Args.Word(o) {
			t.Fatalf("%s %q: arguments %s, were %s", v.ID(), payload, a, b)
		}
		a, aerr := Encode(v, got)
		b, berr := schema.EncodeRequest(o, want)
		if aerr != nil || berr != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s %q: written\n%s %v\nwas\n%s %v", v.ID(), payload, a, aerr, b, berr)
		}
	}
}

func sorted(ps []schema.Problem) string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%#v", p))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func FuzzSameAsFormerDecoder(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { same(t, payload) })
}

// TestSameAsFormerDecoder draws payloads that come near those of each verb.
func TestSameAsFormerDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(All).Draw(t, "verb")
		value := rapid.SampledFrom([]string{`""`, `"a"`, `"ato"`, `1`, `0`, `-1`, `1.5`, `1e400`, `9007199254740993`, `true`, `null`, `{}`, `{"a":"b"}`, `{"a":1}`, `[]`, `[{}]`, `[1]`, `"\u0000"`, `"b108326f-f261-4a6b-ad48-fee8efb991ba"`,
			`"` + strings.Repeat("x", 300) + `"`, `"` + strings.Repeat("ö", 2100) + `"`, `[{"type":"face","start_ms":1.50e3}]`, `[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]`})
		members := func(names []string) string {
			var out []string
			for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, func(s string) string { return s }).Draw(t, "names") {
				out = append(out, fmt.Sprintf("%q:%s", n, value.Draw(t, n)))
			}
			return "{" + strings.Join(out, ",") + "}"
		}
		names := []string{"nonsense", "x_free"}
		for _, a := range v.Args() {
			names = append(names, a.Name)
		}
		args := members(names)
		outer := members([]string{"id", "ts", "ttl_ms", "by", "why", "batch", "session", "seq", "if", "x_own", "wrong"})
		payload := strings.TrimSuffix(outer, "}")
		if payload != "{" {
			payload += ","
		}
		same(t, []byte(payload+`"args":`+args+"}"))
		same(t, []byte(value.Draw(t, "word")))
	})
}
