package score

import (
	"math"
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

// Kind is what units of one kind perform.
type Kind struct {
	Unit    schema.UnitKind // empty: actions that no unit performs, or the unit that lists them
	Actions []ActionRow

	// Rest brings a unit to rest at a soft stop, in an act of the name RestAct; nil if it needs nothing.
	Rest    func(u *schema.Unit) Do
	RestAct string
	// Gentle returns an action that the unit carries out and hardly anybody notices. Impossible lists actions that it must
	// refuse. The driver check (robotd driver check) and drivertest send both.
	Gentle     func(u *schema.Unit) Action
	Impossible func(u *schema.Unit) []Action
}

// gentleMS is the time limit of these actions. speech is refused by every unit that cannot speak.
var (
	gentleMS = int64(5000)
	speech   = Action{TimeoutMS: &gentleMS, Do: Say{Text: Text{"en": "one"}}}
)

// zeroIf returns 0 for an axis that a unit has.
func zeroIf(r *schema.Range) *float64 {
	if r == nil {
		return nil
	}
	return new(float64)
}

// KindOf returns the kind of a unit; one without actions if its units perform none.
func KindOf(unit schema.UnitKind) Kind {
	for _, k := range Kinds {
		if k.Unit == unit && unit != "" {
			return k
		}
	}
	return Kind{Unit: unit}
}

// ActionRow describes one type of action.
type ActionRow struct {
	Type   ActionType      // that of Do
	Unit   schema.UnitKind // that of its kind
	Do     Do              // without values
	Class  Class
	Method Method // default; an author may make any action exclusive

	// How it may end. Without any of the three it ends when its actions have ended (group).
	AtOnce  bool // it takes effect and is complete
	End     bool // end_ms: at a fixed time of its group's clock
	Timeout bool // timeout_ms: when its unit is done, at most after this time

	OnResume OnResume // default; empty = as for the actions inside
	Listed   bool     // the unit that lists it performs it, whatever its kind, and moves
	Drives   bool     // the robot may be elsewhere when it ends
	RestMS   int64    // its last part, in which it brings its unit to rest

	// Estimates of what ends when its unit is done; for display and warnings.
	EstimateMS int64
	OpenEnd    bool  // it takes as long as its file, or waits for a person: no unit is late with it
	UsualMS    int64 // timeout_ms that a hint names; 0 = 5000

	Fields  []Field
	Ends    string // when it ends, for people
	Example string // an action as YAML
	// Begin has fields of a new action, as members of an object in TypeScript: deploy/contract writes them for the
	// console's editor. text: {} is an empty text. Its author fills in the rest.
	Begin string
}

// Field is one field of a file: of a type of action, or of an object in Objects.
type Field struct {
	Name     string
	Required bool
	Min, Max float64   // limits of a number; equal = not a number, or any
	OneOf    []string  // the allowed words; empty = any
	Form     Form      // the form of a text
	File     AssetKind // the value names an asset of this kind, or a built-in one of the unit; empty = no asset
	// Names returns the unit's catalogue of allowed values; an empty one allows any. MayLack: robots of earlier releases do
	// not send this catalogue, so fleetd draws nothing from an empty one.
	Names   func(*schema.Unit) []string
	MayLack bool
	// Reach returns the range of this number that a unit can carry out; robotd limits set-points to it. nil = Min to Max.
	Reach func(*schema.Unit) schema.Range

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
var unitField = Field{Name: "unit", Form: FormName, Doc: "the unit that performs it, by its id in caps",
	Default: "the first that can", Example: "head-2"}

// Kinds lists every kind of unit that performs actions, and what no unit of a certain kind performs.
var Kinds = []Kind{speaker, face, led, screen, head, listed, drive, noUnit}

// Table lists every type of action once, for the validator of fleetd and the executor of
// the robot.
var Table = rowsOf(Kinds)

func rowsOf(kinds []Kind) (table []ActionRow) {
	for _, k := range kinds {
		for _, row := range k.Actions {
			row.Unit, row.Type = k.Unit, row.Do.Type()
			table = append(table, row)
		}
	}
	return table
}

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
func (r ActionRow) Moves() bool { return r.Unit.Moves() || r.Listed }

// Competes reports whether actions of two rows cannot run at the same time on one unit: they are
// of one class, or one turns the head while the other is a motion, which a head may perform.
func (r ActionRow) Competes(with ActionRow) bool {
	return r.Class == with.Class || (r.Listed || with.Listed) && r.Moves() && with.Moves()
}

// NeedsUnit reports whether a unit performs actions of this row.
func (r ActionRow) NeedsUnit() bool { return r.Unit != "" || r.Listed }

// performedBy reports whether u performs x, which is an action of this row.
func (r ActionRow) performedBy(u schema.Unit, x *Action) bool {
	if m, ok := x.Do.(Motion); ok {
		return slices.Contains(u.Motions, m.Motion)
	}
	return r.Unit != "" && u.Kind == r.Unit
}

// Performer returns the one of units that performs x: the one that x names, or else the
// first that can.
func (x *Action) Performer(units []schema.Unit) (schema.Unit, bool) {
	row, _ := RowOf(x.Type())
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
	r, _ := RowOf(a.Type())
	return r.Method
}

// OnResumeOf returns what happens with an interrupted action: its own value, or else that
// of its row; empty for groups.
func OnResumeOf(a Action) OnResume {
	if a.OnResume != "" {
		return a.OnResume
	}
	r, _ := RowOf(a.Type())
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

// anywhere is the reach of a number that the unit itself judges.
func anywhere(*schema.Unit) schema.Range {
	return schema.Range{Min: -math.MaxFloat64, Max: math.MaxFloat64}
}

func stated(r *schema.Range) schema.Range {
	if r == nil {
		return anywhere(nil)
	}
	return *r
}

func yawOf(u *schema.Unit) schema.Range    { return stated(u.YawRad) }
func pitchOf(u *schema.Unit) schema.Range  { return stated(u.PitchRad) }
func rollOf(u *schema.Unit) schema.Range   { return stated(u.RollRad) }
func heightOf(u *schema.Unit) schema.Range { return stated(u.HeightM) }

// upToTwice is the reach of a speed as a share or multiple of the unit's own.
func upToTwice(*schema.Unit) schema.Range { return schema.Range{Max: 2} }
