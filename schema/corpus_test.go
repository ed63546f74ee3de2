package schema

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// decoders contains a decoder for each message, by its name in the topic table.
var decoders = map[string]func([]byte) (any, []Problem){
	"Presence":       decoder[Presence](),
	"Heartbeat":      decoder[Heartbeat](),
	"State":          decoder[State](),
	"Modes":          decoder[Modes](),
	"Caps":           decoder[Caps](),
	"Acts":           decoder[Acts](),
	"ReportedStory":  decoder[ReportedStory](),
	"Event":          decoder[Event](),
	"Intent":         decoder[Intent](),
	"Ack":            decoder[Ack](),
	"DesiredStory":   decoder[DesiredStory](),
	"FleetHeartbeat": decoder[FleetHeartbeat](),
	"Notice":         decoder[Notice](),
	"DesiredConfig":  decoder[DesiredConfig](),
	"ReportedConfig": decoder[ReportedConfig](),
	"DesiredMode":    decoder[DesiredMode](),
	"ReportedMode":   decoder[ReportedMode](),
	"DesiredSet":     decoder[DesiredSet](),
	"ReportedSet":    decoder[ReportedSet](),
	"DesiredStop":    decoder[DesiredStop](),
	"FleetStop":      decoder[FleetStop](),
	"StopRequest":    decoder[StopRequest](),
	"Revoked":        decoder[Revoked](),
	"VelocityFrame":  decoder[VelocityFrame](),
	"Telemetry":      decoder[Telemetry](),
	"SimInput":       func(b []byte) (any, []Problem) { return DecodeSimInput("touch", b) },
}

func decoder[T any]() func([]byte) (any, []Problem) {
	return func(b []byte) (any, []Problem) {
		v, ps := Decode[T](b)
		return v, ps
	}
}

const corpus = "../testdata/messages"

// The first line of a bad message is "# Type code pointer", the rest its bytes.
func TestBadMessagesAreRefusedAtPointer(t *testing.T) {
	files, _ := filepath.Glob(corpus + "/bad/*.txt")
	if len(files) < 20 {
		t.Fatalf("only %d bad messages in %s", len(files), corpus)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		head, payload, _ := bytes.Cut(text, []byte("\n"))
		want := strings.Split(strings.TrimPrefix(string(head), "# "), " ")
		_, ps := decoders[want[0]](payload)
		if !slices.ContainsFunc(ps, func(p Problem) bool { return p.Code == want[1] && p.Pointer == want[2] && p.Detail != "" }) {
			t.Errorf("%s: want %s at %q, got %q", filepath.Base(f), want[1], want[2], ps)
		}
	}
}

// Good messages were recorded from running programs. Each must decode, conform to its JSON
// Schema, and survive encoding and decoding.
func TestGoodMessagesConformToJSONSchema(t *testing.T) {
	files, _ := filepath.Glob(corpus + "/ok/*.json")
	covered := map[string]bool{}
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), ".")
		covered[name] = true
		payload, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		v, ps := decoders[name](payload)
		if len(ps) != 0 {
			t.Errorf("%s: %v", f, ps)
			continue
		}
		again, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		for what, b := range map[string][]byte{"as taken": payload, "written again": again} {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if err := jsonSchemaOf(t, name).Validate(doc); err != nil {
				t.Errorf("%s %s: %v", f, what, err)
			}
		}
		if v2, _ := decoders[name](again); !equalJSON(t, v, v2) {
			t.Errorf("%s: reading what was written gives another value", f)
		}
	}
	for name := range decoders {
		if !covered[name] {
			t.Errorf("no good example of %s in %s/ok", name, corpus)
		}
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	x, err := Encode(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

func jsonSchemaOf(t *testing.T, message string) *jsonschema.Schema {
	name := strings.ToLower(message) + ".schema.json"
	text, err := JSONSchemas.ReadFile("json/" + name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
