package score

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// decodeAll decodes strictly as DecodeStrict does, and goes on behind each value that does
// not fit. The problems are all of those; the value has the rest.
func decodeAll[T any](text []byte) (T, []schema.Problem) {
	var found []schema.Problem
	var tree any
	for {
		v, problems := schema.DecodeStrictWithin[T](text, maxNesting)
		if len(problems) == 0 {
			return v, found
		}
		p := problems[0]
		if !passable(p) || len(found) == MaxProblems || tree == nil && json.Unmarshal(text, &tree) != nil {
			return *new(T), append(found, problems...)
		}
		value, ok := remove(tree, p.Pointer)
		if !ok {
			return *new(T), append(found, problems...)
		}
		found = append(found, explain(p, reflect.TypeFor[T](), tree, value))
		rest, err := json.Marshal(tree)
		if err != nil {
			return *new(T), found
		}
		text = rest
	}
}

// remove removes the value at a pointer from decoded JSON and returns it. An entry of a
// list becomes null, so that the others keep their places.
func remove(tree any, pointer string) (value any, ok bool) {
	p := jsontext.Pointer(pointer)
	if p == "" {
		return nil, false
	}
	name := p.LastToken()
	switch parent := valueAt(tree, p.Parent()).(type) {
	case map[string]any:
		value, ok = parent[name]
		delete(parent, name)
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(parent) && parent[i] != nil {
			value, ok = parent[i], true
			parent[i] = nil
		}
	}
	return value, ok
}

func valueAt(tree any, pointer jsontext.Pointer) any {
	for token := range pointer.Tokens() {
		switch parent := tree.(type) {
		case map[string]any:
			tree = parent[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(parent) {
				return nil
			}
			tree = parent[i]
		default:
			return nil
		}
	}
	return tree
}

// typeAt returns the Go type at a pointer within t, nil if there is none.
func typeAt(t reflect.Type, pointer jsontext.Pointer) reflect.Type {
	for token := range pointer.Tokens() {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Map, reflect.Slice:
			t = t.Elem()
		case reflect.Struct:
			f, ok := fieldsOf(t)[token]
			if !ok {
				return nil
			}
			t = f
		default:
			return nil
		}
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// fieldsOf returns the JSON fields of a struct with their types.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			all[name] = t.Field(i).Type
		}
	}
	return all
}

// explain puts a problem of the decoder into the words of an author. value is what does
// not fit.
func explain(p schema.Problem, root reflect.Type, tree, value any) schema.Problem {
	pointer := jsontext.Pointer(p.Pointer)
	if p.Code == "unknown_field" {
		what, known := "it", []string{}
		if t := typeAt(root, pointer.Parent()); t != nil && t.Kind() == reflect.Struct {
			what, known = knownFields(t, valueAt(tree, pointer.Parent()))
		}
		name := pointer.LastToken()
		p.Detail = what + " has no field " + name
		if p.Hint = durationHint(name, known, value, valueAt(tree, pointer.Parent())); p.Hint == "" {
			p.Hint = unknownFieldHint(name, known, value)
		}
		return p
	}
	t := typeAt(root, pointer)
	if t == nil {
		return p
	}
	if p.Code == "bad_type" || t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64 {
		p.Code, p.Detail = "bad_type", fmt.Sprintf("%s is not %s", written(value), wanted(t, pointer))
	}
	p.Hint = typeHint(t, pointer, value)
	return p
}

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
	"id": {"act", "story", "activity"}, "title": {"name"}, "label": {"labels"}, "lang": {"languages"}, "language": {"languages"},
	"steps": {"acts", "actions"}, "sequence": {"acts", "actions"}, "actions": {"acts"}, "acts": {"actions"}, "loop": {"repeat"}, "times": {"repeat"},
	"message": {"text"}, "say": {"text"}, "speech": {"text"}, "content": {"text"}, "en": {"text"}, "de": {"text"},
	"pan": {"yaw_rad"}, "tilt": {"pitch_rad"}, "angle": {"yaw_rad"}, "file": {"sound", "image"}, "picture": {"image"}, "options": {"choices"},
	"begin": {"start_ms"}, "at": {"start_ms"}, "delay": {"start_ms"},
	"to": {"point"}, "target": {"point"}, "condition": {"when"}, "params": {"with", "parameters"}, "args": {"with"}, "on_error": {"on_act_error"},
}

// durationHint returns how to write a duration, which is no field: an action has the time of
// its end, or the longest time that it may take.
func durationHint(name string, known []string, value, object any) string {
	base, from, ok := cutUnit(name)
	if !ok {
		from, _ = unitNamed("ms")
	}
	lasts, isNumber := value.(float64)
	ms, _ := unitNamed("ms")
	switch {
	case base != "duration" && base != "length" && base != "dur":
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
	if base, unit, ok := cutUnit(name); ok {
		for _, k := range known {
			if kb, to, ok := cutUnit(k); ok && kb == base && to.name != unit.name {
				return "write " + k + inUnit(k, to, unit, value)
			}
		}
	}
	for _, k := range known {
		if base, to, ok := cutUnit(k); ok && base == name {
			return "write " + k + ", in " + to.words
		}
	}
	if slices.Contains(known, "launch") && (name == "when" || name == "for" || name == "cooldown") {
		return fmt.Sprintf("write it below launch: launch: {%s: %s}", name, strings.Trim(written(value), `"`))
	}
	bare := name
	if base, _, ok := cutUnit(name); ok {
		bare = base
	}
	for _, other := range otherNames[bare] {
		if slices.Contains(known, other) {
			return "write " + other
		}
	}
	if bare == "description" || bare == "comment" || bare == "note" {
		return "write it as a comment, behind #"
	}
	if near := Closest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "it has " + strings.Join(known, ", ")
}

// typeHint returns how to correct a value that does not fit t.
func typeHint(t reflect.Type, pointer jsontext.Pointer, value any) string {
	name := pointer.LastToken()
	_, unit, hasUnit := cutUnit(name)
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
		return fmt.Sprintf("write %s: {when: %q}", name, text)
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
			return "quote it: without quotes, YAML takes yes, no, on, off, true and false for truth values"
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

func isNumeric(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

func nearWord(word string, known []string, otherwise string) string {
	if near := Closest(word, known); word != "" && near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// unit is a unit of quantities in files, or one that authors write in place of it.
type unit struct {
	name    string // as the end of a field's name
	words   string
	kind    string  // units of one kind can be converted
	factor  float64 // to the first unit of its kind
	example string
}

var units = []unit{
	{"ms", "milliseconds", "time", 1, "1500"},
	{"s", "seconds", "time", 1000, ""},
	{"sec", "seconds", "time", 1000, ""},
	{"min", "minutes", "time", 60_000, ""},
	{"rad", "radians", "angle", 1, "0.4"},
	{"deg", "degrees", "angle", math.Pi / 180, ""},
	{"°", "degrees", "angle", math.Pi / 180, ""},
	{"m", "metres", "length", 1, "1.5"},
	{"cm", "centimetres", "length", 0.01, ""},
	{"mm", "millimetres", "length", 0.001, ""},
	{"mps", "metres per second", "speed", 1, "0.5"},
	{"m/s", "metres per second", "speed", 1, ""},
	{"kmh", "kilometres per hour", "speed", 1 / 3.6, ""},
	{"km/h", "kilometres per hour", "speed", 1 / 3.6, ""},
	{"radps", "radians per second", "turn", 1, "0.5"},
	{"degps", "degrees per second", "turn", math.Pi / 180, ""},
}

func unitNamed(name string) (unit, bool) {
	i := slices.IndexFunc(units, func(u unit) bool { return u.name == name })
	if i < 0 {
		return unit{}, false
	}
	return units[i], true
}

// cutUnit splits the name of a field into what it says and its unit.
func cutUnit(name string) (base string, u unit, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i <= 0 {
		return name, unit{}, false
	}
	u, ok = unitNamed(name[i+1:])
	return name[:i], u, ok
}

var quantityForm = regexp.MustCompile(`^\s*([-+]?[0-9.]+)\s*([a-zA-Z°/]+)\s*$`)

// quantity splits a text such as 30deg or "1.5 s".
func quantity(text string) (float64, unit, bool) {
	m := quantityForm.FindStringSubmatch(text)
	if m == nil {
		return 0, unit{}, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	name := strings.ToLower(m[2])
	if cut, ok := strings.CutSuffix(name, "rees"); ok {
		name = cut // degrees
	}
	u, ok := unitNamed(name)
	return n, u, ok && err == nil
}

// convert converts a quantity and returns it with as many digits as an author writes.
func convert(n float64, from, to unit) (string, bool) {
	if from.kind != to.kind {
		return "", false
	}
	v := n * from.factor / to.factor
	if to.name == "ms" {
		v = math.Round(v)
	} else {
		v = math.Round(v*1000) / 1000
	}
	return strconv.FormatFloat(v, 'f', -1, 64), true
}

// inUnit completes a hint with the value of a field in its own unit.
func inUnit(field string, to, from unit, value any) string {
	n, ok := value.(float64)
	v, can := convert(n, from, to)
	if !ok || !can {
		return ", in " + to.words
	}
	return fmt.Sprintf(": %s (%v %s are %s %s)", v, n, from.words, v, to.words)
}
