package score

import (
	"fmt"
	"slices"

	"troupe/schema"
)

// MaxChoices is the greatest number of answers of one screen.
const MaxChoices = 8

// screenActions is what a screen does.
var screenActions = []ActionRow{
	{Type: TypeScreen, Unit: schema.UnitScreen, Class: ClassScreen, Method: MethodNoSameType,
		AtOnce: true, End: true, Timeout: true, OnResume: ResumeContinue, Ends: "at once, at end_ms, or at a choice", Example: `{type: screen, start_ms: 0, timeout_ms: 20000, text: {en: "Again?"}, choices: [{id: again, text: {en: "Yes"}}]}`,
		Fields: []Field{
			{Name: "view", Form: FormName, Doc: "a view that the robot has", Example: `map`},
			{Name: "text", Doc: "text on the screen, by language", Example: `{en: "This way"}`},
			{Name: "image", Form: FormName, Doc: "an asset, or an image that the robot has", Example: `poster`},
			{Name: "choices", Doc: "1 to 8 answers; the action ends when a person chooses one, and needs timeout_ms", Example: `[{id: again, text: {en: Again}}, {id: stop, text: {en: Stop}}]`},
			unitField,
		}},
}

// screen checks what a screen shows, and that something ends it.
func (c *checks) screen(p string, x *Action, given map[string]bool) {
	var shown []string
	for _, name := range []string{"view", "text", "image"} {
		if given[name] {
			shown = append(shown, name)
		}
	}
	switch {
	case len(shown) > 1:
		c.add(at(p, shown[1]), CodeWrongField, shown[0]+" and "+shown[1]+" exclude each other", "one screen shows a view, a text or an image")
	case len(shown) == 0 && !given["choices"]:
		c.add(p, CodeMissing, "the screen shows nothing", "add view, text or image, or choices")
	}
	if given["text"] && len(x.Text) == 0 {
		c.add(at(p, "text"), CodeMissing, "there is no text", "write it by language, such as text: {en: Hello}")
	}
	c.texts(at(p, "text"), x.Text, MaxText)
	if !given["choices"] {
		if x.TimeoutMS != nil {
			c.add(at(p, "timeout_ms"), CodeWrongEnd, "only a choice ends a screen before its time", "use end_ms, or add choices")
		}
		return
	}
	if x.TimeoutMS == nil {
		field, hint := "timeout_ms", "add timeout_ms: 15000"
		if x.EndMS != nil {
			field, hint = "end_ms", "rename end_ms to timeout_ms, how long it waits at most"
		}
		c.add(at(p, field), CodeNeedsEnd, "a screen with choices does not say how long it waits for one", hint)
	}
	if n := len(x.Choices); n == 0 || n > MaxChoices {
		c.add(at(p, "choices"), CodeOutOfRange, fmt.Sprintf("%d choices are not between 1 and %d", n, MaxChoices), "write them as [{id: again, text: {en: Again}}]")
	}
	for i, choice := range x.Choices {
		q := at(p, "choices", i)
		c.id(at(q, "id"), choice.ID)
		if slices.ContainsFunc(x.Choices[:i], func(o Choice) bool { return o.ID == choice.ID }) {
			c.add(at(q, "id"), CodeDuplicateID, "there are two choices "+choice.ID, "give one of them another id")
		}
		if len(choice.Text) == 0 {
			c.add(at(q, "text"), CodeMissing, "the choice has no text", "add text: {en: Again}")
		}
		c.texts(at(q, "text"), choice.Text, MaxPlain)
	}
}
