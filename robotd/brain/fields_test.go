package brain

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"troupe/robotd/effect"
	"troupe/schema"
)

// notInTraces are fields that no trace sets, and what does.
var notInTraces = map[string]string{
	"ack.unchecked_age":           "TestCommandAgeIsMeasuredByFleetTime",
	"ack.eta_ms":                  "TestReplayReportsItsRemainingTime",
	"state.safety.latches.client": "a document of fleetd, from which the robot copies its latches",
	"state.life.stack":            "the traces of robotd/life",
	"state.recording.by":          "the field by of manual/act-record",
	"state.dropped.events":        "TestEventsAreCountedWhenTheyAreTooMany",
	"state.dropped.acks":          "TestMemoryAndDiskAreBounded of robotd/request",
	"state.truncated":             "TestOversizedDocumentIsReducedByRules",
	"modes.truncated":             "TestLastReductionStepAlwaysFits of robotd/report",
	"modes.modes.params.one_of":   "a parameter of words, which no mode of this robot has",
	"heartbeat.clock.offset_ms":   "the tests of robotd/heartbeat, whose robot has another clock",
}

// TestTracesSetEveryField reads what the robot publishes in all traces: a field that nothing
// sets promises its readers something that never comes.
func TestTracesSetEveryField(t *testing.T) {
	t.Parallel()
	documents := map[schema.TopicKind]reflect.Type{
		schema.TopicState: reflect.TypeFor[schema.State](), schema.TopicHeartbeat: reflect.TypeFor[schema.Heartbeat](),
		schema.TopicModes: reflect.TypeFor[schema.Modes](), schema.TopicAck: reflect.TypeFor[schema.Ack](),
	}
	files, err := filepath.Glob("testdata/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	set := map[string]bool{}
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		replaySending(t, string(script), func(p effect.Publish) {
			if documents[p.Topic] == nil {
				return
			}
			var v any
			if err := json.Unmarshal(p.Payload, &v); err != nil {
				t.Fatalf("%s: %v", p.Payload, err)
			}
			noteFields(v, string(p.Topic), set)
		})
	}
	known := map[string]bool{}
	for topic, of := range documents {
		for _, path := range fieldsOf(of, string(topic)) {
			if by := notInTraces[path]; set[path] == (by != "") {
				t.Errorf("%s: set by a trace %v, and otherwise by %q", path, set[path], by)
			}
			known[path] = true
		}
	}
	for path := range notInTraces {
		if !known[path] {
			t.Errorf("%s is no field", path)
		}
	}
}

// noteFields notes the fields below v that have a value other than zero.
func noteFields(v any, path string, set map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			noteFields(below, path+"."+name, set)
		}
	case []any:
		for _, below := range v {
			noteFields(below, path, set)
		}
	case nil:
		return
	default:
		if reflect.ValueOf(v).IsZero() {
			return
		}
	}
	set[path] = true
}

// fieldsOf lists the paths of all fields of a message.
func fieldsOf(of reflect.Type, path string) (paths []string) {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice}, of.Kind()) {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.NumField() == 0 {
		return nil
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case f.Anonymous && name == "":
			paths = append(paths, fieldsOf(f.Type, path)...)
		default:
			paths = append(append(paths, path+"."+name), fieldsOf(f.Type, path+"."+name)...)
		}
	}
	return paths
}
