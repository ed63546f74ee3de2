package score

import "troupe/schema"

// ledActions is what an led does.
var ledActions = []ActionRow{
	{Type: TypeLED, Unit: schema.UnitLED, Class: ClassLED, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue, Ends: "at once, or at end_ms", Example: `{type: led, start_ms: 0, end_ms: 6000, colour: "#20c0ff", pattern: breathe, period_ms: 2000}`,
		Fields: []Field{
			{Name: "led", Form: FormName, Doc: "one led of the unit", Default: "all", Example: `left`},
			{Name: "colour", Form: FormColour, Doc: "#rrggbb, in quotes; every pattern but rainbow needs it", Example: `"#20c0ff"`},
			{Name: "pattern", OneOf: []string{"solid", "blink", "breathe", "rainbow"}, Doc: "how it shines", Default: "solid", Example: `breathe`},
			{Name: "period_ms", Min: 100, Max: 10_000, Doc: "duration of one repetition of the pattern", Default: "as the led has it", Example: `2000`},
			unitField,
		}},
}
