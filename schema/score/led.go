package score

import (
	"strings"

	"troupe/schema"
)

// led is what an led does.
var led = Kind{Unit: schema.UnitLED, Actions: []ActionRow{
	{Do: LED{}, Class: ClassLED, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue,
		Ends:    "at once, or at end_ms",
		Example: `{type: led, start_ms: 0, end_ms: 6000, colour: "#20c0ff", pattern: breathe, period_ms: 2000}`,
		Begin:   "end_ms: 3000, colour: '#20c0ff'",
		Fields: []Field{
			{Name: "led", Form: FormName, Doc: "one led of the unit", Default: "all", Example: `left`},
			{Name: "colour", Form: FormColour, Doc: "#rrggbb, in quotes; every pattern but rainbow needs it", Example: `"#20c0ff"`},
			{Name: "pattern", OneOf: []string{"solid", "blink", "breathe", "rainbow"}, Doc: "how it shines", Default: "solid", Example: `breathe`},
			{Name: "period_ms", Min: 100, Max: 10_000,
				Doc: "duration of one repetition of the pattern", Default: "as the led has it", Example: `2000`},
			unitField,
		}},
},
	Gentle: func(*schema.Unit) Action { return Action{Do: LED{Colour: "#102030"}} },
}

// LED lights a led.
type LED struct {
	LED      string `json:"led,omitempty"`     // one led, default all
	Colour   string `json:"colour,omitempty"`  // #rrggbb
	Pattern  string `json:"pattern,omitempty"` // solid, blink, breathe, rainbow
	PeriodMS int64  `json:"period_ms,omitzero"`
}

func (LED) Type() ActionType { return TypeLED }

func (l LED) shown([]string) string {
	return strings.TrimSpace(strings.Join([]string{l.LED, l.Colour, l.Pattern}, " "))
}

func (l LED) check(c *checks, p string, _ *Action, given map[string]bool) {
	if !given["colour"] && l.Pattern != "rainbow" {
		c.add(at(p, "colour"), CodeMissing, "the led has no colour", `add colour: "#20c0ff", in quotes; or pattern: rainbow`)
	}
}
