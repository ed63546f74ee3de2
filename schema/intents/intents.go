// Package intents has the table of what a robot does about intents: the value of its setting
// intents. fleetd checks it before it is published, and robotd before it applies.
package intents

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// The names of the settings.
const (
	TableSetting      = "intents"
	ConfidenceSetting = "intent_confidence"
)

// DefaultConfidence is the confidence below which an intent is not acted on.
const DefaultConfidence = 0.5

// MaxRows bounds the table.
const MaxRows = 64

// Row says what a robot does about an intent. Of the rows that fit, the one that names the
// intent and the emotion counts, then the one that names the intent, then the one that names
// the emotion, then the default row, which names neither.
type Row struct {
	Intent  string `json:"intent,omitempty"`  // left out = every intent
	Emotion string `json:"emotion,omitempty"` // in which the robot answers; left out = every emotion

	// At most one of these.
	Act       string        `json:"act,omitempty"` // of the robot's story, or a taught one
	Activity  string        `json:"activity,omitempty"`
	Interrupt string        `json:"interrupt,omitempty"` // a handler
	Mode      schema.ModeID `json:"mode,omitempty"`

	// With are values of the act's parameters. ${slot} stands for a slot of the intent, and
	// a value whose slots are missing is left out.
	With  map[string]string `json:"with,omitempty"`
	Clear bool              `json:"clear,omitzero"` // the act replaces those that were requested before

	ResultingEmotion string `json:"resulting_emotion,omitempty"` // of the robot, whether or not it can do the rest; left out = unchanged
}

// Reaction returns what the row does; nil = it only changes the emotion.
func (r *Row) Reaction() *schema.Reaction {
	if does := (schema.Reaction{Act: r.Act, Activity: r.Activity, Interrupt: r.Interrupt, Mode: r.Mode}); does != (schema.Reaction{}) {
		return &does
	}
	return nil
}

var slot = regexp.MustCompile(`\$\{([^}]*)\}`)

// Values are those of With for an intent with these slots.
func (r *Row) Values(slots map[string]string) map[string]string {
	values := map[string]string{}
	for name, text := range r.With {
		missing := false
		value := slot.ReplaceAllStringFunc(text, func(ref string) string {
			v, ok := slots[ref[2:len(ref)-1]]
			missing = missing || !ok
			return v
		})
		if !missing {
			values[name] = value
		}
	}
	return values
}

// Match returns the row for an intent in an emotion, which may be empty; nil = none.
func Match(table []Row, intent, emotion string) *Row {
	var best *Row
	weight := func(r *Row) (w int) {
		if r.Intent != "" {
			w += 2
		}
		if r.Emotion != "" {
			w++
		}
		return w
	}
	for i := range table {
		r := &table[i]
		fits := (r.Intent == "" || r.Intent == intent) && (r.Emotion == "" || r.Emotion == emotion)
		if fits && (best == nil || weight(r) > weight(best)) {
			best = r
		}
	}
	return best
}

// Parse reads the value of the setting. Pointers of problems refer to it.
func Parse(value jsontext.Value) ([]Row, []schema.Problem) {
	type list struct {
		Rows []Row `json:"rows"`
	}
	l, problems := schema.DecodeStrict[list](slices.Concat([]byte(`{"rows":`), value, []byte(`}`)))
	for i := range problems {
		problems[i].Pointer = strings.TrimPrefix(problems[i].Pointer, "/rows")
	}
	if len(problems) == 0 && (string(value) == "null" || len(l.Rows) > MaxRows) {
		problems = append(problems, schema.NewProblem("", "bad_value", fmt.Sprintf("want a list of at most %d rows", MaxRows), ""))
	}
	if len(problems) > 0 {
		return nil, problems
	}
	for i := range l.Rows {
		problems = append(problems, l.Rows[i].problems(fmt.Sprintf("/%d", i), l.Rows[:i])...)
	}
	return l.Rows, problems
}

func (r *Row) problems(at string, before []Row) (found []schema.Problem) {
	add := func(pointer, detail, hint string) {
		found = append(found, schema.NewProblem(at+pointer, "bad_value", detail, hint))
	}
	for _, n := range []struct{ field, name string }{{"/intent", r.Intent}, {"/emotion", r.Emotion},
		{"/resulting_emotion", r.ResultingEmotion}} {
		if n.name != "" && !schema.ValidIntentName(n.name) {
			add(n.field, fmt.Sprintf("%q is not a name", n.name), fmt.Sprintf("1 to %d printable bytes without spaces", schema.MaxIntentName))
		}
	}
	does := 0
	for _, n := range []struct{ field, id string }{{"/act", r.Act}, {"/activity", r.Activity}, {"/interrupt", r.Interrupt},
		{"/mode", string(r.Mode)}} {
		if n.id == "" {
			continue
		}
		does++
		if !schema.ValidID(n.id) {
			add(n.field, fmt.Sprintf("%q is not a name", n.id), "a-z, 0-9 and hyphens, at most 63")
		}
	}
	switch {
	case does > 1:
		add("", fmt.Sprintf("the row has %d of act, activity, interrupt and mode", does), "at most one; another intent needs another row")
	case does == 0 && r.ResultingEmotion == "":
		add("", "the row does nothing", "name an act, an activity, an interrupt, a mode or a resulting_emotion")
	}
	if r.Act == "" && (len(r.With) > 0 || r.Clear) {
		add("", "with and clear are for an act, and the row has none", "leave them out")
	}
	for _, name := range slices.Sorted(maps.Keys(r.With)) {
		for _, ref := range slot.FindAllStringSubmatch(r.With[name], -1) {
			if !schema.ValidIntentName(ref[1]) {
				add("/with/"+name, fmt.Sprintf("%q is not the name of a slot", ref[1]), "such as ${guest}")
			}
		}
	}
	if slices.ContainsFunc(before, func(o Row) bool { return o.Intent == r.Intent && o.Emotion == r.Emotion }) {
		add("", "another row has the same intent and emotion", "leave one of the two out")
	}
	return found
}

// CheckSetting returns what is wrong with the value of a setting; nothing if it is not the
// table. Pointers refer to the value.
func CheckSetting(name string, value jsontext.Value) (problems []schema.Problem) {
	if name == TableSetting {
		_, problems = Parse(value)
	}
	return problems
}
