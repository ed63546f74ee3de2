package score

// noUnit has the types of actions that need no unit: wait, act and group.
var noUnit = Kind{Actions: []ActionRow{
	{Do: Wait{}, Class: ClassWait, Method: MethodMultiple,
		End: true, OnResume: ResumeContinue,
		Ends:    "at end_ms",
		Example: `{type: wait, start_ms: 0, end_ms: 12000}`,
		Begin:   "end_ms: 2000"},
	{Do: PerformAct{}, Class: ClassGroup, Method: MethodMultiple,
		Ends:    "when every action of that act has ended",
		Example: `{type: act, start_ms: 0, act: bow, with: {depth: low}}`,
		Begin:   "act: ''",
		Fields: []Field{
			{Name: "act", Required: true, Form: FormName, Doc: "the act to perform", Example: `bow`},
			{Name: "with", Doc: "values of the parameters of that act; they may refer to parameters of this one", Default: "its defaults",
				Example: `{guest: "${guest}"}`},
		}},
	{Do: Group{}, Class: ClassGroup, Method: MethodMultiple,
		Ends:    "when every action in it has ended",
		Example: `{type: group, start_ms: 2000, actions: [{type: face, start_ms: 0, face: smile}, {type: wait, start_ms: 0, end_ms: 3000}]}`,
		Begin:   "actions: []",
		Fields: []Field{{Name: "actions", Doc: "actions whose start_ms counts from the start of the group",
			Example: `[{type: face, start_ms: 0, face: smile}]`}}},
}}

// Wait lasts, and does nothing.
type Wait struct{}

func (Wait) Type() ActionType { return TypeWait }

// PerformAct performs an act of the library.
type PerformAct struct {
	Act  string            `json:"act,omitempty"`
	With map[string]string `json:"with,omitempty"` // values of its parameters, which may refer to those of the act around it
}

func (PerformAct) Type() ActionType { return TypeAct }

// Group performs actions beside each other.
type Group struct {
	Actions []Action `json:"actions,omitempty"`
}

func (Group) Type() ActionType { return TypeGroup }

func (g Group) check(c *checks, p string, _ *Action, _ map[string]bool) {
	if len(g.Actions) == 0 {
		c.warn(p, CodeEmptyGroup, "the group is empty", "remove it")
	}
}
