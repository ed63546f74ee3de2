package score

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// written returns a decoded value as its author may have written it.
func written(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "a group of fields"
	case []any:
		return "a list"
	case nil:
		return "nothing"
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(text)
	}
}

// wanted returns what belongs at a place of type t.
func wanted(t reflect.Type, pointer jsontext.Pointer) string {
	switch t.Kind() {
	case reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		if t == reflect.TypeFor[Text]() {
			return "a text by language"
		}
		return "a group of names and values"
	}
	switch t {
	case reflect.TypeFor[Action]():
		return "an action"
	case reflect.TypeFor[Step]():
		return "an act of a story"
	}
	return "a group of fields"
}

// knownFields returns what an object of a file is called and which fields it may have.
func knownFields(t reflect.Type, object any) (what string, known []string) {
	known = slices.Sorted(maps.Keys(fieldsOf(t)))
	switch t {
	case reflect.TypeFor[Act]():
		return "an act", known
	case reflect.TypeFor[Story]():
		return "a story", known
	case reflect.TypeFor[Activity]():
		return "an activity", known
	case reflect.TypeFor[Step]():
		return "an act of a story", known
	case reflect.TypeFor[Parameter]():
		return "a parameter", known
	case reflect.TypeFor[Choice]():
		return "a choice", known
	case reflect.TypeFor[Launch]():
		return "launch", known
	case reflect.TypeFor[Action]():
		if m, ok := object.(map[string]any); ok {
			if row, ok := RowOf(ActionType(fmt.Sprint(m["type"]))); ok {
				return string(row.Type), row.known()
			}
		}
		return "an action", known
	}
	return "it", known
}

// known returns the names of all fields that an action of the row may have.
func (r ActionRow) known() []string {
	names := []string{"type", "id", "start_ms", "method"}
	if r.End {
		names = append(names, "end_ms")
	}
	if r.Timeout {
		names = append(names, "timeout_ms")
	}
	if r.OnResume != "" {
		names = append(names, "on_resume")
	}
	for _, f := range r.Fields {
		names = append(names, f.Name)
	}
	return names
}

// otherNames are words that authors write for fields of other names. A word belongs to the
// first name that is a field there.
var otherNames = map[string][]string{
	"id": {"act", "story", "activity"}, "title": {"name"}, "titel": {"name"}, "titre": {"name"}, "label": {"labels"}, "lang": {"languages"},
	"language": {"languages"},
	"steps":    {"acts", "actions"}, "sequence": {"acts", "actions"}, "actions": {"acts"}, "acts": {"actions"}, "loop": {"repeat"},
	"times":   {"repeat"},
	"message": {"text"}, "say": {"text"}, "speech": {"text"}, "content": {"text"}, "en": {"text"}, "de": {"text"},
	"pan": {"yaw_rad"}, "tilt": {"pitch_rad"}, "angle": {"yaw_rad"}, "file": {"sound", "image"}, "picture": {"image"}, "options": {"choices"},
	"begin": {"start_ms"}, "at": {"start_ms"}, "delay": {"start_ms"},
	"to": {"point"}, "target": {"point"}, "condition": {"when"}, "params": {"with", "parameters"}, "args": {"with"},
	"on_error": {"on_act_error"},
}

// durationHint returns how to write a duration, which is no field: an action has the time of
// its end, or the longest time that it may take.
func durationHint(name string, known []string, value, object any) string {
	base, from, ok := cutMeasure(name)
	if !ok {
		from, _ = measureNamed("ms")
	}
	lasts, isNumber := value.(float64)
	ms, _ := measureNamed("ms")
	switch {
	case base != "duration" && base != "length" && base != "dur":
		return ""
	case !slices.Contains(known, "end_ms") && !slices.Contains(known, "timeout_ms"):
		return ""
	case !slices.Contains(known, "end_ms"):
		return "write timeout_ms: how long it takes at most"
	case !isNumber || from.kind != ms.kind:
		return "write end_ms: when it ends, from the start of the group"
	}
	start := 0.0
	if fields, ok := object.(map[string]any); ok {
		start, _ = fields["start_ms"].(float64)
	}
	return fmt.Sprintf("write end_ms: %v, the time at which it ends: start_ms and what it lasts", start+math.Round(lasts*from.factor))
}

// unknownFieldHint returns how to correct the name of a field.
func unknownFieldHint(name string, known []string, value any) string {
	if base, unit, ok := cutMeasure(name); ok {
		for _, k := range known {
			if kb, to, ok := cutMeasure(k); ok && kb == base && to.name != unit.name {
				return "write " + k + inMeasure(k, to, unit, value)
			}
		}
	}
	for _, k := range known {
		if base, to, ok := cutMeasure(k); ok && base == name {
			degrees, _ := measureNamed("deg")
			if v, isNumber := value.(float64); isNumber && to.name == "rad" && math.Abs(v) > 2*math.Pi {
				return "write " + k + inMeasure(k, to, degrees, value)
			}
			return "write " + k + ", in " + to.words
		}
	}
	if slices.Contains(known, "launch") && (name == "when" || name == "for" || name == "cooldown") {
		rest := ""
		if name == "when" {
			rest = ", cooldown: 60s"
		}
		return fmt.Sprintf("write it below launch: launch: {%s: %s%s}", name, strings.Trim(written(value), `"`), rest)
	}
	bare := name
	if base, _, ok := cutMeasure(name); ok {
		bare = base
	}
	for _, other := range otherNames[bare] {
		if text, isText := value.(string); slices.Contains(known, other) && other == "name" && isText {
			return fmt.Sprintf("write name: {en: %s}", text)
		} else if slices.Contains(known, other) {
			return "write " + other
		}
	}
	if bare == "description" || bare == "comment" || bare == "note" {
		return "write it as a comment, behind #"
	}
	if near := schema.Closest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "it has " + strings.Join(known, ", ")
}

// typeHint returns how to correct a value that does not fit t.
func typeHint(t reflect.Type, pointer jsontext.Pointer, value any) string {
	name := pointer.LastToken()
	_, unit, hasUnit := cutMeasure(name)
	text, isText := value.(string)
	number, isNumber := value.(float64)
	switch {
	case t == reflect.TypeFor[Text]():
		if isText {
			return fmt.Sprintf("texts are by language: %s: {en: %q}", name, text)
		}
		return "texts are by language: {en: Hello, de: Hallo}"
	case t == reflect.TypeFor[Step]():
		if isText && schema.ValidID(text) {
			return fmt.Sprintf("write {act: %s}", text)
		}
		return "an entry names an act: {act: welcome}"
	case t == reflect.TypeFor[Action]():
		return "an action has a type and a start: {type: face, start_ms: 0, face: smile}"
	case t == reflect.TypeFor[Launch]() && isText:
		return fmt.Sprintf("write %s: {when: %q, cooldown: 60s}", name, text)
	case (name == "for" || name == "cooldown") && isNumber:
		return fmt.Sprintf("write it with its unit: %vs", number)
	case t == reflect.TypeFor[Parameter]():
		return fmt.Sprintf("write %s: {type: string}", name)
	case t == reflect.TypeFor[Repeat]():
		if isNumber {
			return fmt.Sprintf("write %s: {times: %v}", name, number)
		}
		return nearWord(text, []string{"once", "loop"}, "write once, loop or {times: 3}")
	case t == reflect.TypeFor[ActError]():
		if isNumber {
			return fmt.Sprintf("write %s: {retry: %v}", name, number)
		}
		return nearWord(text, []string{"skip", "stop"}, "write skip, stop or {retry: 2}")
	case isText && isNumeric(text) && (t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64):
		return "write it without quotes: " + text
	case hasUnit && isText:
		if n, from, ok := quantity(text); ok {
			if v, ok := convert(n, from, unit); ok {
				return "write it as a number of " + unit.words + ": " + v
			}
		}
		return "write a number of " + unit.words + ", such as " + unit.example
	case t.Kind() == reflect.Int64 && isNumber && name != "times" && name != "retry":
		if hasUnit && unit.name == "ms" && number < 1000 {
			return fmt.Sprintf("milliseconds are whole numbers; %v seconds are %v", number, math.Round(number*1000))
		}
		return fmt.Sprintf("write a whole number, such as %v", math.Round(number))
	case t.Kind() == reflect.Int64, t.Kind() == reflect.Float64:
		return "write a number, such as 1"
	case t.Kind() == reflect.String:
		if _, is := value.(bool); is {
			return "quote it: " + truthWords
		}
		if isNumber {
			return fmt.Sprintf("quote it: %q", written(value))
		}
		return "write one text, such as " + name + ": word"
	case t.Kind() == reflect.Bool:
		return "write true or false, without quotes"
	case t.Kind() == reflect.Slice:
		return "begin each entry with -, or write [a, b]"
	}
	return "write " + name + ": and its fields below it, indented"
}

// truthWords says why a word without quotes is no text.
const truthWords = "without quotes, YAML takes y, n, yes, no, on, off, true and false for truth values"

func isNumeric(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

func nearWord(word string, known []string, otherwise string) string {
	if near := schema.Closest(word, known); word != "" && near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}
