package brain

import (
	"maps"
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
	"state.alerts.params.until":   "the alert of a certificate, whose program is robotd/renew",
	"state.alerts.params.made":    "the alert of backups, which fleetd raises",
	"state.alerts.params.days":    "the alert of backups, which fleetd raises",
	"state.alerts.params.by":      "the alert robot_stopped, which fleetd raises",
	"state.alerts.params.why":     "the alerts of rollouts and robot_stopped, which fleetd raises",
	"state.alerts.params.name":    "the alerts of rollouts, which fleetd raises",
	"state.dropped.events":        "TestEventsAreCountedWhenTheyAreTooMany",
	"state.dropped.acks":          "TestMemoryAndDiskAreBounded of robotd/request",
	"state.truncated":             "TestOversizedDocumentIsReducedByRules",
	"modes.truncated":             "TestLastReductionStepAlwaysFits of robotd/report",
	"modes.modes.params.one_of":   "a parameter of words, which no mode of this robot has",
	"heartbeat.clock.offset_ms":   "the tests of robotd/operatorlink, whose robot has another clock",
}

// documentsOfTraces are the documents whose fields the traces must set.
var documentsOfTraces = map[schema.TopicKind]reflect.Type{
	schema.TopicState: reflect.TypeFor[schema.State](), schema.TopicHeartbeat: reflect.TypeFor[schema.Heartbeat](),
	schema.TopicModes: reflect.TypeFor[schema.Modes](), schema.TopicAck: reflect.TypeFor[schema.Ack](),
}

// TestTracesSetEveryField reads what the robot publishes in all traces: a field that nothing
// sets promises its readers something that never comes.
func TestTracesSetEveryField(t *testing.T) {
	files, err := filepath.Glob("testdata/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	set := map[string]bool{}
	for _, file := range files {
		fields, played := fieldsOfTraces[file]
		if !played {
			_, fields = playTrace(t, file)
		}
		maps.Copy(set, fields)
	}
	known := map[string]bool{}
	for topic, of := range documentsOfTraces {
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

// fieldsOfTraces are the fields that the robot set in the traces that this run has played, by
// file. Tests that play traces with playTrace must not run in parallel.
var fieldsOfTraces = map[string]map[string]bool{}

// playTrace plays a trace, and returns it with what the robot does and the fields that it sets.
func playTrace(t *testing.T, file string) (text string, fields map[string]bool) {
	t.Helper()
	script, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fields = map[string]bool{}
	text = replaySending(t, string(script), func(p effect.Publish) {
		if documentsOfTraces[p.Topic] == nil {
			return
		}
		var v any
		if err := json.Unmarshal(p.Payload, &v); err != nil {
			t.Fatalf("%s: %v", p.Payload, err)
		}
		noteFields(v, string(p.Topic), fields)
	})
	fieldsOfTraces[file] = fields
	return text, fields
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
