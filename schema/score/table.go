package score

import (
	"slices"
	"strings"

	"troupe/schema"
)

// Class is the resource of an action, such as the voice or the face. Two actions of one
// class on one unit cannot run at the same time unless their method is multiple; Competes has
// the one pair of classes that cannot either.
type Class string

const (
	ClassSpeech Class = "speech"
	ClassSound  Class = "sound"
	ClassFace   Class = "face"
	ClassLED    Class = "led"
	ClassScreen Class = "screen"
	ClassHead   Class = "head"
	ClassBody   Class = "body"
	ClassWait   Class = "wait"
	ClassGroup  Class = "group"
)

// ActionRow describes one type of action.
type ActionRow struct {
	Type   ActionType
	Unit   schema.UnitKind // kind of unit that performs it; empty = none, or for motion the unit that lists it
	Class  Class
	Method Method // default; an author may make any action exclusive

	// How it may end. Without any of the three it ends when its actions have ended (group).
	AtOnce  bool // it takes effect and is complete
	End     bool // end_ms: at a fixed time of its group's clock
	Timeout bool // timeout_ms: when its unit is done, at most after this time

	OnResume OnResume // default; empty = as for the actions inside
	Fields   []Field
	Ends     string // when it ends, for people
	Example  string // an action as YAML
}

// Field is one field of a file: of a type of action, or of an object in Objects.
type Field struct {
	Name     string
	Required bool
	Min, Max float64  // limits of a number; equal = not a number, or any
	OneOf    []string // the allowed words; empty = any
	Form     Form     // the form of a text

	Doc     string // what it says, for authors
	Default string // what holds if it is left out; empty if that is clear from Doc
	Example string // a value as YAML
}

// Form is the form of a field's text.
type Form string

const (
	FormName     Form = "name"     // an id, as in the robot's catalogue
	FormColour   Form = "colour"   // #rrggbb
	FormPlain    Form = "plain"    // up to 64 printable characters
	FormDuration Form = "duration" // such as 3s or 2m
)

// unitField names the unit, for a robot that has several of the kind.
var unitField = Field{Name: "unit", Form: FormName, Doc: "the unit that performs it, by its id in caps", Default: "the first that can", Example: "head-2"}

// Table lists every type of action once, for the validator of fleetd and the executor of
// the robot.
var Table = slices.Concat(
	speakerActions, faceActions, ledActions, screenActions, headActions, motionActions, driveActions, groupActions,
)

// RowOf returns the row of t.
func RowOf(t ActionType) (ActionRow, bool) {
	for _, r := range Table {
		if r.Type == t {
			return r, true
		}
	}
	return ActionRow{}, false
}

// Shares reports whether two actions of this row may run at the same time.
func (r ActionRow) Shares() bool { return r.Method == MethodMultiple }

// Moves reports whether an action of this row moves the robot or a part of it.
func (r ActionRow) Moves() bool { return r.Unit.Moves() || r.Type == TypeMotion }

// Competes reports whether actions of two rows cannot run at the same time on one unit: they are
// of one class, or one turns the head while the other is a motion, which a head may perform.
func (r ActionRow) Competes(with ActionRow) bool {
	motion := r.Type == TypeMotion || with.Type == TypeMotion
	return r.Class == with.Class || motion && r.Moves() && with.Moves()
}

// NeedsUnit reports whether a unit performs actions of this row.
func (r ActionRow) NeedsUnit() bool { return r.Unit != "" || r.Type == TypeMotion }

// performedBy reports whether u performs x, which is an action of this row.
func (r ActionRow) performedBy(u schema.Unit, x *Action) bool {
	if r.Type == TypeMotion {
		return slices.Contains(u.Motions, x.Motion)
	}
	return r.Unit != "" && u.Kind == r.Unit
}

// Performer returns the one of units that performs x: the one that x names, or else the
// first that can.
func (x *Action) Performer(units []schema.Unit) (schema.Unit, bool) {
	row, _ := RowOf(x.Type)
	for _, u := range units {
		if (x.Unit == "" || x.Unit == u.ID) && row.performedBy(u, x) {
			return u, true
		}
	}
	return schema.Unit{}, false
}

// Types lists the types of actions.
func Types() []string {
	names := make([]string, len(Table))
	for i, r := range Table {
		names[i] = string(r.Type)
	}
	return names
}

// MethodOf returns the method of an action: its own, or else that of its row.
func MethodOf(a Action) Method {
	if a.Method != "" {
		return a.Method
	}
	r, _ := RowOf(a.Type)
	return r.Method
}

// OnResumeOf returns what happens with an interrupted action: its own value, or else that
// of its row; empty for groups.
func OnResumeOf(a Action) OnResume {
	if a.OnResume != "" {
		return a.OnResume
	}
	r, _ := RowOf(a.Type)
	return r.OnResume
}

func (r ActionRow) field(name string) (Field, bool) {
	for _, f := range r.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// takes returns the names of the fields of r, for people.
func (r ActionRow) takes() string {
	if len(r.Fields) == 0 {
		return "none of its own"
	}
	names := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

func knownTypes() string { return strings.Join(Types(), ", ") }
