package score

import "reflect"

// Object is one kind of group of fields in the files of authors.
type Object struct {
	Name   string // as JSON Schemas and the reference call it
	File   bool   // a file contains one
	Doc    string
	Fields []Field
	Type   reflect.Type
}

// Objects lists what the files of authors are made of, for the reference and for editors.
// The fields of an action beside these are those of its row in Table.
var Objects = []Object{
	{Name: "act", File: true, Type: reflect.TypeFor[Act](), Doc: "A named group of actions with a timeline.", Fields: []Field{
		{Name: "act", Required: true, Form: FormName, Doc: "the id of the act", Example: "welcome"},
		nameField, labelsField,
		{Name: "parameters", Doc: "placeholders ${name} in its texts, for which a story gives values", Example: `{guest: {type: string, default: "dear guest"}}`},
		{Name: "method", OneOf: []string{"multiple", "exclusive"}, Doc: "exclusive: while another act performs it, nothing else of that act runs",
			Default: "multiple", Example: "exclusive"},
		{Name: "actions", Required: true,
			Doc:     "what it does, in any order; at most 500 with those in groups, which nest at most 8 deep, and one hour",
			Example: "[{type: face, start_ms: 0, face: smile}]"},
	}},
	{Name: "parameter", Type: reflect.TypeFor[Parameter](), Doc: "A parameter of an act, under its name.", Fields: []Field{
		{Name: "type", Required: true, OneOf: []string{"string"}, Doc: "the only type", Example: "string"},
		{Name: "default", Doc: "the value if a story gives none; at most 1000 characters", Default: "empty", Example: "dear guest"},
	}},
	{Name: "action", Type: reflect.TypeFor[Action](), Doc: "The fields of every type of action. An action ends at end_ms, or when its unit " +
		"is done, at the latest after timeout_ms; which of them it takes depends on its type.", Fields: []Field{
		{Name: "type", Required: true, OneOf: Types(), Doc: "what it does", Example: "face"},
		{Name: "id", Form: FormName, Doc: "the name by which events refer to it; unique in the act", Default: "its place in the list",
			Example: "greeting"},
		{Name: "start_ms", Max: MaxActMS, Doc: "its start, from the start of the group", Default: "0", Example: "500"},
		{Name: "end_ms", Min: 1, Max: MaxActMS, Doc: "its end, from the start of the group; after start_ms", Example: "3000"},
		{Name: "timeout_ms", Min: 1, Max: MaxActMS, Doc: "how long it takes at most, from its own start", Example: "8000"},
		{Name: "method", OneOf: []string{"multiple", "no_same_type", "exclusive"}, Doc: "exclusive: it runs alone, and the clock of its group " +
			"stands while it lasts. It waits for earlier actions that end when their units are done; it is an error if one certainly still runs " +
			"at its start. Left out, it is that of its type: multiple runs beside everything; no_same_type does not run beside its own kind on " +
			"the same unit, and motion, pose, goto and drive are one kind; a head and a motion of the same head take turns, too",
			Default: "that of its type", Example: "exclusive"},
		{Name: "on_resume", OneOf: resumes, Doc: "what it does after an interruption", Default: "that of its type", Example: "restart"},
	}},
	{Name: "choice", Type: reflect.TypeFor[Choice](), Doc: "One answer that a screen offers.", Fields: []Field{
		{Name: "id", Required: true, Form: FormName, Doc: "the name by which rules refer to it; unique on the screen", Example: "again"},
		{Name: "text", Required: true, Form: FormPlain, Doc: "what people read, by language; at most 64 characters each",
			Example: "{en: Again, de: Nochmal}"},
	}},
	{Name: "story", File: true, Type: reflect.TypeFor[Story](), Doc: "An ordered list of acts that a robot performs in ato.",
		Fields: append([]Field{
			{Name: "story", Required: true, Form: FormName, Doc: "the id of the story", Example: "museum-morning"},
			{Name: "shutdown", Form: FormName, Doc: "the act that the robot performs at a soft stop, before it stops; without goto and drive",
				Default: "none", Example: "goodbye"},
		}, actListFields...)},
	{Name: "step", Type: reflect.TypeFor[Step](), Doc: "One act of a story or an activity.", Fields: []Field{
		{Name: "act", Required: true, Form: FormName, Doc: "the id of the act", Example: "welcome"},
		{Name: "with", Doc: "values of its parameters", Default: "their defaults", Example: "{guest: Ada}"},
		{Name: "on_resume", OneOf: resumes, Doc: "what all of its actions do after an interruption", Default: "as each action says",
			Example: "restart"},
		{Name: "finish_before_pause", Doc: "a pause begins when the act has ended", Default: "false", Example: "true"},
	}},
	{Name: "activity", File: true, Type: reflect.TypeFor[Activity](), Doc: "Acts that autonomous life performs when a condition holds.",
		Fields: append([]Field{
			{Name: "activity", Required: true, Form: FormName, Doc: "the id of the activity", Example: "greet-visitor"},
			{Name: "nature", Required: true, OneOf: []string{"solitary", "interactive"},
				Doc: "whether it involves people; an interactive one interrupts a solitary one, never the other way round", Example: "interactive"},
			{Name: "launch", Doc: "when it starts by itself", Default: "only on request", Example: "{when: people > 0, for: 3s, cooldown: 1m}"},
			{Name: "permissions", Doc: "circumstances in which it may start, that otherwise forbid it: while_charging, while_moving (the robot " +
				"drives), in_safeguard (a safeguard such as pushed or lifted is active, and life/safeguard lets life ignore it; what does not move " +
				"is performed)", Default: "none", Example: "{while_charging: true}"},
		}, actListFields...)},
	{Name: "launch", Type: reflect.TypeFor[Launch](), Doc: "When an activity starts by itself.", Fields: []Field{
		{Name: "when", Doc: "a condition, see Conditions", Default: "it starts only on request", Example: "people > 0 && battery > 0.3"},
		{Name: "for", Form: FormDuration, Doc: "how long the condition has to be true; at most a day", Default: "it starts at once",
			Example: "3s"},
		{Name: "cooldown", Form: FormDuration, Doc: "how long it does not start again; at most a day", Default: "none", Example: "1m"},
	}},
}

var resumes = []string{"continue", "restart", "skip"}

var (
	nameField = Field{Name: "name", Form: FormPlain, Doc: "what people see, by language; at most 64 characters each", Default: "its id",
		Example: "{en: Welcome, de: Willkommen}"}
	labelsField = Field{Name: "labels", Doc: "words of your own for searching", Default: "none", Example: "{site: museum}"}
)

// actListFields is what stories and activities have in common.
var actListFields = []Field{
	{Name: "name", Required: true, Form: FormPlain, Doc: "what people see, by language; at most 64 characters each",
		Example: "{en: Museum morning}"},
	labelsField,
	{Name: "languages", Doc: "BCP 47 tags, the first is the default", Default: "those of its texts", Example: "[en, de]"},
	{Name: "repeat", Required: true, Doc: "how often its acts are performed: once, loop, or {times: 1 to 10000}", Example: "loop"},
	{Name: "on_act_error", Doc: "what follows when an act fails: skip, stop, or {retry: 1 to 10} and then skip", Default: "skip",
		Example: "{retry: 2}"},
	{Name: "acts", Required: true, Doc: "the acts in their order; at most 200", Example: "[{act: welcome, with: {guest: Ada}}]"},
}

// Measure returns the unit of measure of a number in words; empty if it has none.
func (f Field) Measure() string {
	if _, u, ok := cutMeasure(f.Name); ok {
		return u.words
	}
	return ""
}
