package score

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"troupe/schema"
)

// MaxChoices is the greatest number of answers of one screen.
const MaxChoices = 8

// screen is what a screen shows.
var screen = Kind{Unit: schema.UnitScreen, Actions: []ActionRow{
	{Do: Screen{}, Class: ClassScreen, Method: MethodNoSameType,
		AtOnce: true, End: true, Timeout: true, OnResume: ResumeContinue, EstimateMS: 10_000, OpenEnd: true,
		Ends:    "at once, at end_ms, or at a choice",
		Example: `{type: screen, start_ms: 0, timeout_ms: 20000, text: {en: "Again?"}, choices: [{id: again, text: {en: "Yes"}}]}`,
		Begin:   "end_ms: 3000, text: {}",
		Fields: []Field{
			{Name: "view", Form: FormName, Names: func(u *schema.Unit) []string { return u.Views },
				Doc: "a view that the robot has", Example: `map`},
			{Name: "text", Doc: "text on the screen, by language", Example: `{en: "This way"}`},
			{Name: "image", Form: FormName, File: AssetFace, MayLack: true, Names: func(u *schema.Unit) []string { return u.Images },
				Doc: "an asset, or an image that the robot has", Example: `poster`},
			{Name: "choices", Doc: "1 to 8 answers; the action ends when a person chooses one, and needs timeout_ms",
				Example: `[{id: again, text: {en: Again}}, {id: stop, text: {en: Stop}}]`},
			unitField,
		}},
},
	Gentle: func(u *schema.Unit) Action {
		if len(u.Views) > 0 {
			return Action{Do: Screen{View: u.Views[0]}}
		}
		return Action{Do: Screen{Text: Text{"en": "one"}}}
	},
	Impossible: func(u *schema.Unit) (all []Action) {
		if len(u.Views) > 0 {
			all = append(all, Action{Do: Screen{View: "no-such-view"}})
		}
		return all
	},
}

// Screen shows a view, a text or an image.
type Screen struct {
	Text    Text     `json:"text,omitempty"`
	View    string   `json:"view,omitempty"`    // a view of the robot's catalogue,
	Image   string   `json:"image,omitempty"`   // or an asset
	Choices []Choice `json:"choices,omitempty"` // it ends when a person chooses
}

func (Screen) Type() ActionType { return TypeScreen }

func (s Screen) shown(langs []string) string {
	text := cmp.Or(s.View, s.Image)
	if s.Text != nil {
		text = strconv.Quote(s.Text.In(langs...))
	}
	var choices []string
	for _, c := range s.Choices {
		choices = append(choices, c.Text.In(langs...))
	}
	if len(choices) > 0 {
		text = strings.TrimSpace(text + " [" + strings.Join(choices, "] [") + "]")
	}
	return text
}

// check checks what a screen shows, and that something ends it.
func (s Screen) check(c *checks, p string, x *Action, given map[string]bool) {
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
	if given["text"] && len(s.Text) == 0 {
		c.add(at(p, "text"), CodeMissing, "there is no text", "write it by language, such as text: {en: Hello}")
	}
	c.texts(at(p, "text"), s.Text, MaxText)
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
	if n := len(s.Choices); n == 0 || n > MaxChoices {
		c.add(at(p, "choices"), CodeOutOfRange, fmt.Sprintf("%d choices are not between 1 and %d", n, MaxChoices),
			"write them as [{id: again, text: {en: Again}}]")
	}
	for i, choice := range s.Choices {
		q := at(p, "choices", i)
		c.id(at(q, "id"), choice.ID)
		if slices.ContainsFunc(s.Choices[:i], func(o Choice) bool { return o.ID == choice.ID }) {
			c.add(at(q, "id"), CodeDuplicateID, "there are two choices "+choice.ID, "give one of them another id")
		}
		if len(choice.Text) == 0 {
			c.add(at(q, "text"), CodeMissing, "the choice has no text", "add text: {en: Again}")
		}
		c.texts(at(q, "text"), choice.Text, MaxPlain)
	}
}

func (s Screen) fit(c *checks, p string, x *Action, caps schema.Caps, _ schema.Unit) {
	x.texts(p, func(pointer string, t Text) { c.fitText(pointer, t, caps) })
}
