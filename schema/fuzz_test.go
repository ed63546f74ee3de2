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
