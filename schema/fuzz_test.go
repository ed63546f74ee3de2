package schema

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzDecode feeds arbitrary bytes to every message decoder: none may panic,
// and an accepted message survives encoding and decoding.
func FuzzDecode(f *testing.F) {
	files, _ := filepath.Glob(corpus + "/*/*")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if filepath.Ext(name) == ".txt" {
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for name, decode := range decoders {
			v, ps := decode(payload)
			if len(ps) != 0 {
				continue
			}
			b, err := Encode(v)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			v2, ps := decode(b)
			if len(ps) != 0 {
				t.Fatalf("%s: %s was encoded as %s, which is refused: %v", name, payload, b, ps)
			}
			if b2, err := Encode(v2); err != nil || !bytes.Equal(b, b2) {
				t.Fatalf("%s: two encodings\n%s\n%s (%v)", name, b, b2, err)
			}
		}
	})
}

// FuzzDecodeRequest feeds arbitrary payloads to every verb.
func FuzzDecodeRequest(f *testing.F) {
	for _, seed := range []string{"", "ato", "{}", "{{{", `{"id":"k1","args":{"mode":"ato","restart":true}}`, `{"ts":"2026-01-01T00:00:00Z","ttl_ms":5}`, `{"args":{"echo":[1,{"a":null}]}}`, `{"id":"00","args":{"mode":""}}`, `{"args":{"actions":[{"type":"face","start_ms":1.50e3}],"with":{"b":"\u0041","a":""}}}`, "\x00", "7"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, v := range Verbs {
			r, ps := DecodeRequest(v, payload)
			if len(ps) != 0 {
				continue
			}
			b, err := EncodeRequest(v, r)
			if err != nil {
				t.Fatalf("%s: %q was decoded as %+v, which cannot be encoded: %v", v.ID(), payload, r, err)
			}
			if r2, ps := DecodeRequest(v, b); len(ps) != 0 || r2 != r {
				t.Fatalf("%s: %q\n%+v\nwritten %s\n%+v %v", v.ID(), payload, r, b, r2, ps)
			}
		}
	})
}

// FuzzMatch checks that a matched topic is rebuilt from its parameters.
func FuzzMatch(f *testing.F) {
	f.Add("troupe/v1/robots/r1/cmd/op1/mode/set")
	f.Add("troupe/v1/blobs/")
	f.Add("//+/#")
	f.Fuzz(func(t *testing.T, topic string) {
		row, p, ok := DefaultNamespace.Match(topic)
		if !ok {
			return
		}
		var fill []string
		for _, v := range []string{p.RID, p.CID, p.Group, p.Verb, p.SHA256} {
			if v != "" {
				fill = append(fill, v)
			}
		}
		if again := DefaultNamespace.Topic(row.Kind, fill...); again != topic {
			t.Fatalf("%q matches %s and is rebuilt as %q", topic, row.Kind, again)
		}
	})
}
