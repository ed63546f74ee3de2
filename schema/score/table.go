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
var Table = []ActionRow{
	{Type: TypeSay, Unit: schema.UnitSpeaker, Class: ClassSpeech, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, Ends: "when spoken, or at end_ms", Example: `{type: say, start_ms: 500, timeout_ms: 8000, text: {en: "Welcome to ${house}.", de: "Willkommen."}}`,
		Fields: []Field{
			{Name: "text", Required: true, Doc: "what is said, by language", Example: `{en: "Welcome ${guest}", de: "Willkommen"}`},
			{Name: "voice", Form: FormPlain, Doc: "a voice of the speaker", Default: "its usual one", Example: `clara`},
			{Name: "volume", Min: 0, Max: 1, Doc: "share of the volume of the speaker", Default: "1", Example: `0.8`},
			{Name: "rate", Min: 0.5, Max: 2, Doc: "speed of speech, as a multiple of the usual", Default: "1", Example: `0.9`},
			unitField,
		}},
	{Type: TypeSound, Unit: schema.UnitSpeaker, Class: ClassSound, Method: MethodMultiple,
		End: true, Timeout: true, OnResume: ResumeContinue, Ends: "when played, or at end_ms", Example: `{type: sound, start_ms: 0, timeout_ms: 5000, sound: fanfare, volume: 0.5}`,
		Fields: []Field{
			{Name: "sound", Required: true, Form: FormName, Doc: "an asset, or a sound that the robot has", Example: `fanfare`},
			{Name: "volume", Min: 0, Max: 1, Doc: "share of the volume of the speaker", Default: "1", Example: `0.5`},
			{Name: "loop", Doc: "plays it again and again until end_ms", Default: "false", Example: `true`},
			unitField,
		}},
	{Type: TypeFace, Unit: schema.UnitFace, Class: ClassFace, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue, Ends: "at once, or at end_ms: then the face before it returns", Example: `{type: face, start_ms: 0, end_ms: 3000, face: smile}`,
		Fields: []Field{
			{Name: "face", Required: true, Form: FormName, Doc: "an asset, or a face that the robot has", Example: `smile`},
			unitField,
		}},
	{Type: TypeLED, Unit: schema.UnitLED, Class: ClassLED, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue, Ends: "at once, or at end_ms", Example: `{type: led, start_ms: 0, end_ms: 6000, colour: "#20c0ff", pattern: breathe, period_ms: 2000}`,
		Fields: []Field{
			{Name: "led", Form: FormName, Doc: "one led of the unit", Default: "all", Example: `left`},
			{Name: "colour", Form: FormColour, Doc: "#rrggbb, in quotes; every pattern but rainbow needs it", Example: `"#20c0ff"`},
			{Name: "pattern", OneOf: []string{"solid", "blink", "breathe", "rainbow"}, Doc: "how it shines", Default: "solid", Example: `breathe`},
			{Name: "period_ms", Min: 100, Max: 10_000, Doc: "duration of one repetition of the pattern", Default: "as the led has it", Example: `2000`},
			unitField,
		}},
	{Type: TypeScreen, Unit: schema.UnitScreen, Class: ClassScreen, Method: MethodNoSameType,
		AtOnce: true, End: true, Timeout: true, OnResume: ResumeContinue, Ends: "at once, at end_ms, or at a choice", Example: `{type: screen, start_ms: 0, timeout_ms: 20000, text: {en: "Again?"}, choices: [{id: again, text: {en: "Yes"}}]}`,
		Fields: []Field{
			{Name: "view", Form: FormName, Doc: "a view that the robot has", Example: `map`},
			{Name: "text", Doc: "text on the screen, by language", Example: `{en: "This way"}`},
			{Name: "image", Form: FormName, Doc: "an asset, or an image that the robot has", Example: `poster`},
			{Name: "choices", Doc: "1 to 8 answers; the action ends when a person chooses one, and needs timeout_ms", Example: `[{id: again, text: {en: Again}}, {id: stop, text: {en: Stop}}]`},
			unitField,
		}},
	{Type: TypeHead, Unit: schema.UnitHead, Class: ClassHead, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, Ends: "when reached, or at end_ms", Example: `{type: head, start_ms: 0, timeout_ms: 2000, yaw_rad: 0.4, pitch_rad: -0.1}`,
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2, Doc: "to the left", Default: "as it is", Example: `0.4`},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6, Doc: "up", Default: "as it is", Example: `-0.1`},
			{Name: "roll_rad", Min: -1.6, Max: 1.6, Doc: "to the side", Default: "as it is", Example: `0.1`},
			{Name: "speed", Min: 0, Max: 1, Doc: "share of the maximum speed of the head", Default: "1", Example: `0.5`},
			unitField,
		}},
	{Type: TypeMotion, Class: ClassBody, Method: MethodNoSameType,
		Timeout: true, OnResume: ResumeRestart, Ends: "when the unit reports that it is done", Example: `{type: motion, start_ms: 0, timeout_ms: 4000, motion: nod}`,
		Fields: []Field{
			{Name: "motion", Required: true, Form: FormName, Doc: "a motion that a unit of the robot lists", Example: `nod`},
			{Name: "speed", Min: 0.1, Max: 2, Doc: "as a multiple of the usual speed", Default: "1", Example: `1.5`},
			unitField,
		}},
	{Type: TypePose, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		Timeout: true, OnResume: ResumeRestart, Ends: "when reached", Example: `{type: pose, start_ms: 0, timeout_ms: 4000, pitch_rad: 0.1}`,
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2, Doc: "the body turns to the left", Default: "as it is", Example: `0.1`},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6, Doc: "the body leans back; less than 0: forward, as in a bow", Default: "as it is", Example: `0.1`},
			{Name: "roll_rad", Min: -1.6, Max: 1.6, Doc: "the body leans to the side", Default: "as it is", Example: `0.1`},
			{Name: "height_m", Min: 0, Max: 2, Doc: "height of the body", Default: "as it is", Example: `1.1`},
			unitField,
		}},
	{Type: TypeGoto, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeContinue, Ends: "on arrival, when it fails, or at end_ms", Example: `{type: goto, start_ms: 0, timeout_ms: 60000, point: entrance}`,
		Fields: []Field{
			{Name: "point", Form: FormName, Doc: "a named point; this, or x_m and y_m", Example: `entrance`},
			{Name: "x_m", Min: -10_000, Max: 10_000, Doc: "a place on the map, with y_m", Example: `2.5`},
			{Name: "y_m", Min: -10_000, Max: 10_000, Doc: "a place on the map, with x_m", Example: `-1`},
			{Name: "theta_rad", Min: -3.2, Max: 3.2, Doc: "heading at the end", Default: "as it arrives", Example: `1.57`},
			{Name: "speed_mps", Min: 0.05, Max: 3, Doc: "the greatest speed on the way", Default: "the robot's own", Example: `0.4`},
			unitField,
		}},
	{Type: TypeDrive, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		End: true, OnResume: ResumeSkip, Ends: "at end_ms; its velocity is zero in the last 100 ms before", Example: `{type: drive, start_ms: 0, end_ms: 2000, vx_mps: 0.2}`,
		Fields: []Field{
			{Name: "vx_mps", Min: -3, Max: 3, Doc: "forward", Default: "0", Example: `0.3`},
			{Name: "vy_mps", Min: -3, Max: 3, Doc: "to the left, for a drive that can", Default: "0", Example: `0.1`},
			{Name: "wz_radps", Min: -6.4, Max: 6.4, Doc: "turns to the left", Default: "0", Example: `0.5`},
			unitField,
		}},
	{Type: TypeWait, Class: ClassWait, Method: MethodMultiple,
		End: true, OnResume: ResumeContinue, Ends: "at end_ms", Example: `{type: wait, start_ms: 0, end_ms: 12000}`},
	{Type: TypeAct, Class: ClassGroup, Method: MethodMultiple, Ends: "when every action of that act has ended", Example: `{type: act, start_ms: 0, act: bow, with: {depth: low}}`,
		Fields: []Field{
			{Name: "act", Required: true, Form: FormName, Doc: "the act to perform", Example: `bow`},
			{Name: "with", Doc: "values of the parameters of that act; they may refer to parameters of this one", Default: "its defaults", Example: `{guest: "${guest}"}`},
		}},
	{Type: TypeGroup, Class: ClassGroup, Method: MethodMultiple, Ends: "when every action in it has ended", Example: `{type: group, start_ms: 2000, actions: [{type: face, start_ms: 0, face: smile}, {type: wait, start_ms: 0, end_ms: 3000}]}`,
		Fields: []Field{{Name: "actions", Doc: "actions whose start_ms counts from the start of the group", Example: `[{type: face, start_ms: 0, face: smile}]`}}},
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
