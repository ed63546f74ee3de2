package score

// groupActions are performed by no unit.
var groupActions = []ActionRow{
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
