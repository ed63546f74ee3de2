package score

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// Action is one action of a unit, or a group of actions. StartMS is relative to the group.
// With EndMS the action has a fixed duration; with TimeoutMS it lasts until its unit
// reports that it is done, and at most that long; with neither it takes effect at once and
// is complete. In files its fields and those of Do are one object, see Wire.
type Action struct {
	ID        string   `json:"id,omitempty"`
	StartMS   int64    `json:"start_ms"`
	EndMS     *int64   `json:"end_ms,omitzero"`
	TimeoutMS *int64   `json:"timeout_ms,omitzero"`
	Method    Method   `json:"method,omitempty"`
	OnResume  OnResume `json:"on_resume,omitempty"`
	Unit      string   `json:"unit,omitempty"` // id of the unit that performs it, default the first of its kind

	Do Do `json:"-"` // what it does; nil if a file names no type

	// misplaced has the fields that a file gives and Do does not have, by their names in JSON. They
	// are read so that the validator can refuse each of them.
	misplaced map[string]any
}

// Do is what an action does: the fields of its type. Each kind of unit has some, see Kinds.
type Do interface{ Type() ActionType }

// Optional methods of a Do. check: rules for an act. fit: rules for a robot that has the unit. lack: the problem if no unit
// performs it (default: the kind of unit is missing). estimateMS: an estimate that depends on the values (default: EstimateMS
// of the row). shown: a few words for the timeline.
type (
	checker interface {
		check(c *checks, p string, x *Action, given map[string]bool)
	}
	fitter interface {
		fit(c *checks, p string, x *Action, caps schema.Caps, u schema.Unit)
	}
	lacker interface {
		lack(c *checks, p string, caps schema.Caps)
	}
	estimator interface{ estimateMS() int64 }
	shower    interface{ shown(langs []string) string }
)

// Unknown is a type of action that this release does not have. All of its fields are misplaced.
type Unknown ActionType

func (u Unknown) Type() ActionType { return ActionType(u) }

// Type returns the name of what x does; empty without one.
func (x *Action) Type() ActionType {
	if x.Do == nil {
		return ""
	}
	return x.Do.Type()
}

// Text returns what x says or shows, by language.
func (x *Action) Text() Text { return get[Text](x, "text") }

// Choices returns the answers that x offers.
func (x *Action) Choices() []Choice { return get[[]Choice](x, "choices") }

// Inner returns the actions of a group. If a file gives actions to another type, it returns these too, so that the
// validator can refuse them.
func (x *Action) Inner() []Action { return get[[]Action](x, "actions") }

// SetInner replaces the actions in x.
func (x *Action) SetInner(list []Action) { x.Set("actions", list) }

// SetNumber sets a number of x, if its type has it.
func (x *Action) SetNumber(name string, v float64) { x.Set(name, &v) }

// ReplaceTexts replaces the texts of x.
func (x *Action) ReplaceTexts(replace func(Text) Text) {
	x.Set("text", replace(x.Text()))
	choices := slices.Clone(x.Choices())
	for i := range choices {
		choices[i].Text = replace(choices[i].Text)
	}
	x.Set("choices", choices)
}

// get returns a field of x that depends on its type, whether its type has it or not.
func get[T any](x *Action, name string) T {
	if x.Do != nil {
		own := reflect.ValueOf(x.Do)
		if place, ok := placesIn[own.Type()][name]; ok {
			v, _ := own.FieldByIndex(place).Interface().(T)
			return v
		}
	}
	v, _ := x.misplaced[name].(T)
	return v
}

// Set sets a field of x that depends on its type, if x has it. It leaves copies of x as they are.
func (x *Action) Set(name string, v any) {
	if x.misplaced[name] != nil {
		x.misplaced = maps.Clone(x.misplaced)
		x.misplaced[name] = v
		return
	}
	if x.Do == nil {
		return
	}
	if place, ok := placesIn[reflect.TypeOf(x.Do)][name]; ok {
		own := reflect.New(reflect.TypeOf(x.Do)).Elem()
		own.Set(reflect.ValueOf(x.Do))
		own.FieldByIndex(place).Set(reflect.ValueOf(v))
		x.Do = own.Interface().(Do)
	}
}

// Wire is the Go type of an action as files and messages have it: one object with the fields of
// Action, and those of all types in the order of Table.
var Wire = wireType()

// placesIn has the index of each field, by its name in JSON, of the types that make an action.
var placesIn = func() map[reflect.Type]map[string][]int {
	all, types := map[reflect.Type]map[string][]int{}, []reflect.Type{Wire, reflect.TypeFor[Action]()}
	for _, row := range Table {
		types = append(types, reflect.TypeOf(row.Do))
	}
	for _, t := range types {
		all[t] = map[string][]int{}
		for _, f := range jsonFields(t) {
			all[t][nameOf(f)] = f.Index
		}
	}
	return all
}()

func wireType() reflect.Type {
	fields := []reflect.StructField{{Name: "Type", Type: reflect.TypeFor[ActionType](), Tag: `json:"type"`}}
	add := func(t reflect.Type) {
		for _, f := range jsonFields(t) {
			if !slices.ContainsFunc(fields, func(have reflect.StructField) bool { return have.Name == f.Name }) {
				fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
			}
		}
	}
	add(reflect.TypeFor[Action]())
	for _, row := range Table {
		add(reflect.TypeOf(row.Do))
	}
	return reflect.StructOf(fields)
}

// jsonFields returns the fields of a struct that JSON has, those of what it embeds among them; none of
// another type.
func jsonFields(t reflect.Type) []reflect.StructField {
	if t.Kind() != reflect.Struct {
		return nil
	}
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return nameOf(f) == "" || nameOf(f) == "-" })
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// JSONSchemaAlias returns a value of the type that describes an action in JSON Schema.
func (Action) JSONSchemaAlias() any { return reflect.Zero(Wire).Interface() }

// wire returns x as it is written.
func (x *Action) wire() any {
	w := reflect.New(Wire)
	put := func(v reflect.Value) {
		for name, from := range placesIn[v.Type()] {
			w.Elem().FieldByIndex(placesIn[Wire][name]).Set(v.FieldByIndex(from))
		}
	}
	put(reflect.ValueOf(x).Elem())
	if x.Do != nil {
		w.Elem().Field(0).SetString(string(x.Do.Type()))
		put(reflect.ValueOf(x.Do))
	}
	for name, v := range x.misplaced {
		w.Elem().FieldByIndex(placesIn[Wire][name]).Set(reflect.ValueOf(v))
	}
	return w.Interface()
}

// MarshalJSONTo writes x as one object.
func (x Action) MarshalJSONTo(e *jsontext.Encoder) error { return json.MarshalEncode(e, x.wire()) }

// MarshalJSON writes x for encoding/json.
func (x Action) MarshalJSON() ([]byte, error) { return schema.Encode(x.wire()) }

// UnmarshalJSONFrom reads x from one object, in which the type may follow the fields of the type.
func (x *Action) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	w := reflect.New(Wire)
	err := json.UnmarshalDecode(d, w.Interface())
	x.take(w.Elem())
	return err
}

// UnmarshalJSON reads x for encoding/json.
func (x *Action) UnmarshalJSON(data []byte) error {
	w := reflect.New(Wire)
	err := json.Unmarshal(data, w.Interface())
	x.take(w.Elem())
	return err
}

func (x *Action) take(w reflect.Value) {
	*x = Action{}
	common, own := reflect.ValueOf(x).Elem(), reflect.Value{}
	t := ActionType(w.Field(0).String())
	if row, ok := RowOf(t); ok {
		own = reflect.New(reflect.TypeOf(row.Do)).Elem()
	} else if t != "" {
		own = reflect.ValueOf(Unknown(t))
	}
	for name, from := range placesIn[Wire] {
		v := w.FieldByIndex(from)
		if name == "type" || v.IsZero() {
			continue
		}
		if to, ok := placesIn[common.Type()][name]; ok {
			common.FieldByIndex(to).Set(v)
		} else if to, ok := ownPlace(own, name); ok {
			own.FieldByIndex(to).Set(v)
		} else {
			if x.misplaced == nil {
				x.misplaced = map[string]any{}
			}
			x.misplaced[name] = v.Interface()
		}
	}
	if own.IsValid() {
		x.Do = own.Interface().(Do)
	}
}

// ownPlace returns the index of a field of what an action does.
func ownPlace(own reflect.Value, name string) (to []int, ok bool) {
	if own.IsValid() {
		to, ok = placesIn[own.Type()][name]
	}
	return to, ok
}
