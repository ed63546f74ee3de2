package score

import (
	"strings"

	"troupe/schema"
)

// Class is what two actions have in common that cannot share a moment: the
// voice, the face, the legs.
type Class string

const (
	ClassSpeech Class = "speech"
	ClassSound  Class = "sound"
	ClassFace   Class = "face"
	ClassLED    Class = "led"
	ClassHead   Class = "head"
	ClassBody   Class = "body"
	ClassWait   Class = "wait"
	ClassGroup  Class = "group"
)

// ActionRow is what one type of action needs, takes and does.
type ActionRow struct {
	Type   ActionType
	Unit   schema.UnitKind // kind of unit that performs it; empty = none
	Class  Class
	Method Method // without a word from the author, who may make any action exclusive

	// How it may end. With none of the three it ends when it is empty (group).
	AtOnce  bool // takes effect and is complete
	End     bool // end_ms: at a fixed time of its group's clock
	Timeout bool // timeout_ms: when its unit says done, at most so long

	OnResume OnResume // without a word from the author; empty = as the actions inside
	Fields   []Field
	Ends     string // in words, for people
}

// Field is one field that a type takes, besides those that every action has.
type Field struct {
	Name     string
	Required bool
	Min, Max float64  // bounds of a number; equal = not a number
	OneOf    []string // the only words it takes
	Form     Form     // what its text must look like
}

// Form is the shape of a field's text.
type Form string

const (
	FormName   Form = "name"   // an id, as in the robot's catalogue
	FormColour Form = "colour" // #rrggbb
	FormPlain  Form = "plain"  // up to 64 printable characters
)

// Table lists every type of action once. Validator, executor and editor read it.
var Table = []ActionRow{
	{Type: TypeSay, Unit: schema.UnitSpeaker, Class: ClassSpeech, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, Ends: "when spoken, or at its end",
		Fields: []Field{
			{Name: "text", Required: true},
			{Name: "voice", Form: FormPlain},
			{Name: "volume", Min: 0, Max: 1},
			{Name: "rate", Min: 0.5, Max: 2},
		}},
	{Type: TypeSound, Unit: schema.UnitSpeaker, Class: ClassSound, Method: MethodMultiple,
		End: true, Timeout: true, OnResume: ResumeContinue, Ends: "when played, or at its end",
		Fields: []Field{
			{Name: "sound", Required: true, Form: FormName},
			{Name: "volume", Min: 0, Max: 1},
			{Name: "loop"},
		}},
	{Type: TypeFace, Unit: schema.UnitFace, Class: ClassFace, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue, Ends: "at once, or at its end: then the face before it returns",
		Fields: []Field{{Name: "face", Required: true, Form: FormName}}},
	{Type: TypeLED, Unit: schema.UnitLED, Class: ClassLED, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue, Ends: "at once, or at its end",
		Fields: []Field{
			{Name: "led", Form: FormName},
			{Name: "colour", Form: FormColour},
			{Name: "pattern", OneOf: []string{"solid", "blink", "breathe", "rainbow"}},
			{Name: "period_ms", Min: 100, Max: 10_000},
		}},
	{Type: TypeHead, Unit: schema.UnitHead, Class: ClassHead, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, Ends: "when reached, or at its end",
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6},
			{Name: "roll_rad", Min: -1.6, Max: 1.6},
			{Name: "speed", Min: 0, Max: 1},
		}},
	{Type: TypeGoto, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeContinue, Ends: "arrived, failed, or at its end",
		Fields: []Field{
			{Name: "point", Form: FormName},
			{Name: "x_m", Min: -10_000, Max: 10_000},
			{Name: "y_m", Min: -10_000, Max: 10_000},
			{Name: "theta_rad", Min: -3.2, Max: 3.2},
			{Name: "speed_mps", Min: 0.05, Max: 3},
		}},
	{Type: TypeWait, Class: ClassWait, Method: MethodMultiple,
		End: true, OnResume: ResumeContinue, Ends: "at its end"},
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

// Shares reports whether two actions of this row may share a moment.
func (r ActionRow) Shares() bool { return r.Method == MethodMultiple }

// MethodOf returns the method that an action has: its own, else its row's.
func MethodOf(a Action) Method {
	if a.Method != "" {
		return a.Method
	}
	r, _ := RowOf(a.Type)
	return r.Method
}

// OnResumeOf returns what becomes of an interrupted action: its own word, else
// its row's; empty for groups.
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

// takes lists the fields of r for people.
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

func knownTypes() string {
	names := make([]string, len(Table))
	for i, r := range Table {
		names[i] = string(r.Type)
	}
	return strings.Join(names, ", ")
}
