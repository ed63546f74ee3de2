package verb

import (
	"testing"
)

var seeds = []string{"", "ato", "{}", "{{{", `{"id":"k1","args":{"mode":"ato","restart":true}}`, `{"ts":"2026-01-01T00:00:00Z","ttl_ms":5}`, `{"args":{"echo":[1,{"a":null}]}}`, `{"id":"00","args":{"mode":""}}`, `{"args":{"actions":[{"type":"face","start_ms":1.50e3}],"with":{"b":"\u0041","a":""}}}`, "\x00", "7"}

// FuzzDecode feeds arbitrary payloads to every verb: what is accepted is written
// and read again as the same request.
func FuzzDecode(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, v := range All {
			r, ps := Decode(v, payload)
			if len(ps) != 0 {
				continue
			}
			b, err := Encode(v, r)
			if err != nil {
				t.Fatalf("%s: %q was read as %+v, which cannot be written: %v", v.ID(), payload, r, err)
			}
			if r2, ps := Decode(v, b); len(ps) != 0 || r2 != r {
				t.Fatalf("%s: %q\n%+v\nwritten %s\n%+v %v", v.ID(), payload, r, b, r2, ps)
			}
		}
	})
}

func TestEveryExampleIsAccepted(t *testing.T) {
	for _, v := range All {
		if len(v.Examples) == 0 {
			t.Errorf("%s has no example", v.ID())
		}
		for _, payload := range v.Examples {
			if _, ps := Decode(v, []byte(payload)); len(ps) > 0 {
				t.Errorf("%s %q: %v", v.ID(), payload, ps)
			}
		}
	}
}
