package score

import (
	"slices"
	"strings"

	"troupe/schema"
)

// Class is the resource of an action, such as the voice or the face. Two actions of one
// class on one unit cannot run at the same time unless their method is multiple.
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
}

// Field is one field of a type, in addition to those that every action has.
type Field struct {
	Name     string
	Required bool
	Min, Max float64  // limits of a number; equal = not a number
	OneOf    []string // the allowed words; empty = any
	Form     Form     // the form of a text
}

// Form is the form of a field's text.
type Form string

const (
	FormName   Form = "name"   // an id, as in the robot's catalogue
	FormColour Form = "colour" // #rrggbb
	FormPlain  Form = "plain"  // up to 64 printable characters
)

// unitField names the unit, for a robot that has several of the kind.
var unitField = Field{Name: "unit", Form: FormName}

// Table lists every type of action once, for the validator of fleetd and the executor of
// the robot.
var Table = []ActionRow{
	{Type: TypeSay, Unit: schema.UnitSpeaker, Class: ClassSpeech, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, Ends: "when spoken, or at its end",
		Fields: []Field{
			{Name: "text", Required: true},
			{Name: "voice", Form: FormPlain},
			{Name: "volume", Min: 0, Max: 1},
			{Name: "rate", Min: 0.5, Max: 2},
			unitField,
		}},
	{Type: TypeSound, Unit: schema.UnitSpeaker, Class: ClassSound, Method: MethodMultiple,
		End: true, Timeout: true, OnResume: ResumeContinue, Ends: "when played, or at its end",
		Fields: []Field{
			{Name: "sound", Required: true, Form: FormName},
			{Name: "volume", Min: 0, Max: 1},
			{Name: "loop"},
			unitField,
		}},
	{Type: TypeFace, Unit: schema.UnitFace, Class: ClassFace, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue, Ends: "at once, or at its end: then the face before it returns",
		Fields: []Field{
			{Name: "face", Required: true, Form: FormName},
			unitField,
		}},
	{Type: TypeLED, Unit: schema.UnitLED, Class: ClassLED, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue, Ends: "at once, or at its end",
		Fields: []Field{
			{Name: "led", Form: FormName},
			{Name: "colour", Form: FormColour},
			{Name: "pattern", OneOf: []string{"solid", "blink", "breathe", "rainbow"}},
			{Name: "period_ms", Min: 100, Max: 10_000},
			unitField,
		}},
	{Type: TypeScreen, Unit: schema.UnitScreen, Class: ClassScreen, Method: MethodNoSameType,
		AtOnce: true, End: true, Timeout: true, OnResume: ResumeContinue, Ends: "at once, at its end, or at a choice",
		Fields: []Field{
			{Name: "view", Form: FormName},
			{Name: "text"},
			{Name: "image", Form: FormName},
			{Name: "choices"},
			unitField,
		}},
	{Type: TypeHead, Unit: schema.UnitHead, Class: ClassHead, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, Ends: "when reached, or at its end",
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6},
			{Name: "roll_rad", Min: -1.6, Max: 1.6},
			{Name: "speed", Min: 0, Max: 1},
			unitField,
		}},
	{Type: TypeMotion, Class: ClassBody, Method: MethodNoSameType,
		Timeout: true, OnResume: ResumeRestart, Ends: "when the unit reports that it is done",
		Fields: []Field{
			{Name: "motion", Required: true, Form: FormName},
			{Name: "speed", Min: 0.1, Max: 2},
			unitField,
		}},
	{Type: TypePose, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		Timeout: true, OnResume: ResumeRestart, Ends: "when reached",
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6},
			{Name: "roll_rad", Min: -1.6, Max: 1.6},
			{Name: "height_m", Min: 0, Max: 2},
			unitField,
		}},
	{Type: TypeGoto, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeContinue, Ends: "arrived, failed, or at its end",
		Fields: []Field{
			{Name: "point", Form: FormName},
			{Name: "x_m", Min: -10_000, Max: 10_000},
			{Name: "y_m", Min: -10_000, Max: 10_000},
			{Name: "theta_rad", Min: -3.2, Max: 3.2},
			{Name: "speed_mps", Min: 0.05, Max: 3},
			unitField,
		}},
	{Type: TypeDrive, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		End: true, OnResume: ResumeSkip, Ends: "at its end, for whose last 100 ms its velocity is zero",
		Fields: []Field{
			{Name: "vx_mps", Min: -3, Max: 3},
			{Name: "vy_mps", Min: -3, Max: 3},
			{Name: "wz_radps", Min: -6.4, Max: 6.4},
			unitField,
		}},
	{Type: TypeWait, Class: ClassWait, Method: MethodMultiple,
		End: true, OnResume: ResumeContinue, Ends: "at its end"},
	{Type: TypeAct, Class: ClassGroup, Method: MethodMultiple, Ends: "when every action of that act has ended",
		Fields: []Field{
			{Name: "act", Required: true, Form: FormName},
			{Name: "with"},
		}},
	{Type: TypeGroup, Class: ClassGroup, Method: MethodMultiple, Ends: "when every action in it has ended",
		Fields: []Field{{Name: "actions"}}},
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
func (r ActionRow) Moves() bool { return r.Unit.Moves() || r.Type == TypeMotion }

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
