package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/effect"
	"troupe/schema"
)

// TestAnswerFitsItsTopic quotes the longest list there is.
func TestAnswerFitsItsTopic(t *testing.T) {
	id := "k1"
	a := schema.Ack{Session: "s", ID: &id, Verb: "mode/set", Status: schema.StatusRejected, Detail: strings.Repeat("ä\n", 5000)}
	payload := within(schema.TopicAck, &a)
	if _, problems := schema.DecodeStrict[schema.Ack](payload); len(problems) > 0 || len(payload) > schema.TopicOf(schema.TopicAck).MaxBytes {
		t.Errorf("%d bytes, %v", len(payload), problems)
	}
}

// TestLastReductionStepAlwaysFits fills documents with everything that is not
// the robot's own: texts without end in lists without end.
func TestLastReductionStepAlwaysFits(t *testing.T) {
	for _, k := range []schema.TopicKind{
		schema.TopicState, schema.TopicModes, schema.TopicCaps, schema.TopicReportedStory, schema.TopicReportedPlaces,
		schema.TopicReportedMode, schema.TopicReportedConfig, schema.TopicAck, schema.TopicEvent,
	} {
		doc := monstrous(k)
		before := len(effect.Encode(doc))
		payload := within(k, doc)
		if most := schema.TopicOf(k).MaxBytes; before <= most || len(payload) > most {
			t.Errorf("%s: %d bytes of %d, from %d: %.500s", k, len(payload), most, before, payload)
		}
		if d, ok := doc.(*schema.State); ok && (d.Safety.State == "" || d.Mode.Active == "" || d.Auto.Status == "" || !d.Truncated ||
			len(d.Safety.Latches) != 30) {
			t.Errorf("a bare state says %+v", d)
		}
	}
}

// Commands without an id mean the first unit of a kind.
func TestReducedCapsKeepTheFirstUnits(t *testing.T) {
	d := &schema.Caps{Units: make([]schema.Unit, 100)}
	for i := range d.Units {
		d.Units[i].ID = fmt.Sprint("u", i)
	}
	if shrinkCaps(d, 0); len(d.Units) != 64 || d.Units[0].ID != "u0" {
		t.Errorf("%d units are left, the first is %s", len(d.Units), d.Units[0].ID)
	}
}

func monstrous(k schema.TopicKind) any {
	switch k {
	case schema.TopicState:
		return filled[schema.State]()
	case schema.TopicModes:
		return filled[schema.Modes]()
	case schema.TopicCaps:
		return filled[schema.Caps]()
	case schema.TopicReportedStory:
		return filled[schema.ReportedStory]()
	case schema.TopicReportedPlaces:
		return filled[schema.ReportedSet]()
	case schema.TopicReportedMode:
		return filled[schema.ReportedMode]()
	case schema.TopicReportedConfig:
		return filled[schema.ReportedConfig]()
	case schema.TopicAck:
		return filled[schema.Ack]()
	}
	return filled[schema.Event]()
}

// own are fields whose values the robot makes itself, or checks.
var own = []string{"Session", "Boot", "Client", "Holder", "Name", "Role", "Kind", "Fetching", "ActsDigest", "SHA256", "Verbs", "Arguments",
	"Notes", "Protocol", "Scope", "RestartNeeded", "EffectiveActs", "Pruned"}

func filled[T any]() *T {
	v := new(T)
	fill(reflect.ValueOf(v).Elem(), "")
	return v
}

func fill(v reflect.Value, field string) {
	mine := slices.Contains(own, field)
	long := strings.Repeat(`"`, 3000)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if name == "ID" && v.Type() != reflect.TypeFor[schema.StopLatch]() {
				name = "Name" // checked
			}
			fill(v.Field(i), name)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), field)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[jsontext.Value]() {
			v.SetBytes([]byte(`"` + strings.Repeat("x", 3000) + `"`))
			return
		}
		n := 30
		if mine || field == "Modes" {
			n = 4
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), field)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, field)
		key := long
		if mine {
			key = "o"
		}
		for i := range 20 {
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint(key, i)), e)
		}
	case reflect.String:
		switch named := v.Type() != reflect.TypeFor[string](); {
		case named, mine:
			v.SetString(strings.Repeat("o", 36))
		default:
			v.SetString(long)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(1 << 50)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.0 / 3)
	}
}
