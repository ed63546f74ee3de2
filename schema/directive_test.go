package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every field that the JSON Schema of a directive requires is required by the decoder:
// without it, or with a meaningless null, the message is refused with its pointer.
func TestDirectiveWithMissingFieldIsRefused(t *testing.T) {
	tried := 0
	files, _ := filepath.Glob(corpus + "/ok/*.json")
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if !strings.HasPrefix(name, "Desired") && !slices.Contains([]string{"FleetStop", "Revoked", "VelocityFrame"}, name) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range jsonSchemaOf(t, name).Required {
			for _, how := range []string{"left out", "null"} {
				var members map[string]any
				if err := json.Unmarshal(text, &members); err != nil {
					t.Fatal(err)
				}
				if members[key] = nil; how == "left out" {
					delete(members, key)
				} else if key == "story" || key == "set" {
					continue // null withdraws it
				}
				payload, err := json.Marshal(members)
				if err != nil {
					t.Fatal(err)
				}
				tried++
				if _, ps := decoders[name](payload); !slices.ContainsFunc(ps, func(p Problem) bool { return p.Pointer == "/"+key }) {
					t.Errorf("%s with %s %s: %v", name, key, how, ps)
				}
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d messages tried", tried)
	}
}
