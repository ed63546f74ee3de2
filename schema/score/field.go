package score

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"troupe/schema"
)

// setField is one field that is set in an action; number is nil for words and lists.
type setField struct {
	name   string
	word   string
	number *float64
}

// setFields lists the fields of x that depend on its type and are set, in a fixed order.
func (x *Action) setFields() []setField {
	var out []setField
	word := func(name, v string) {
		if v != "" {
			out = append(out, setField{name: name, word: v})
		}
	}
	number := func(name string, v *float64) {
		if v != nil {
			out = append(out, setField{name: name, number: v})
		}
	}
	if x.Text != nil {
		out = append(out, setField{name: "text"})
	}
	word("unit", x.Unit)
	word("voice", x.Voice)
	number("volume", x.Volume)
	number("rate", x.Rate)
	word("sound", x.Sound)
	if x.Loop {
		out = append(out, setField{name: "loop"})
	}
	word("face", x.Face)
	word("led", x.LED)
	word("colour", x.Colour)
	word("pattern", x.Pattern)
	if x.PeriodMS != 0 {
		v := float64(x.PeriodMS)
		number("period_ms", &v)
	}
	word("view", x.View)
	word("image", x.Image)
	if x.Choices != nil {
		out = append(out, setField{name: "choices"})
	}
	number("yaw_rad", x.YawRad)
	number("pitch_rad", x.PitchRad)
	number("roll_rad", x.RollRad)
	number("height_m", x.HeightM)
	number("speed", x.Speed)
	word("motion", x.Motion)
	word("point", x.Point)
	number("x_m", x.XM)
	number("y_m", x.YM)
	number("theta_rad", x.ThetaRad)
	number("speed_mps", x.SpeedMPS)
	number("vx_mps", x.VXMPS)
	number("vy_mps", x.VYMPS)
	number("wz_radps", x.WZRadPS)
	word("act", x.Act)
	if x.With != nil {
		out = append(out, setField{name: "with"})
	}
	if x.Actions != nil {
		out = append(out, setField{name: "actions"})
	}
	return out
}

var colour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

func (c *checks) fields(p string, x *Action, row ActionRow) {
	given := map[string]bool{}
	for _, w := range x.setFields() {
		given[w.name] = true
		f, ok := row.field(w.name)
		if !ok {
			c.add(at(p, w.name), CodeWrongField, string(x.Type)+" has no "+w.name, "leave it out; "+string(x.Type)+" takes "+row.takes())
			continue
		}
		c.field(at(p, w.name), f, w)
	}
	for _, f := range row.Fields {
		if f.Required && !given[f.Name] {
			c.add(at(p, f.Name), CodeMissing, string(x.Type)+" needs "+f.Name, "add "+f.Name+": "+f.Example)
		}
	}
	switch x.Type {
	case TypeSay:
		if given["text"] && len(x.Text) == 0 {
			c.add(at(p, "text"), CodeMissing, "there is no text", "write it by language, such as text: {en: Hello}")
		}
		c.texts(at(p, "text"), x.Text, MaxText)
	case TypeSound:
		if x.Loop && x.EndMS == nil {
			field, hint := "end_ms", fmt.Sprintf("add end_ms: %d, the time at which it ends", x.StartMS+5000)
			if x.TimeoutMS != nil {
				field, hint = "timeout_ms", fmt.Sprintf("rename timeout_ms to end_ms, the time at which it ends: %d", x.StartMS+*x.TimeoutMS)
			}
			c.add(at(p, field), CodeNeedsEnd, "a sound that loops never ends by itself", hint)
		}
	case TypeLED:
		if !given["colour"] && x.Pattern != "rainbow" {
			c.add(at(p, "colour"), CodeMissing, "the led has no colour", `add colour: "#20c0ff", in quotes; or pattern: rainbow`)
		}
	case TypeHead:
		if !given["yaw_rad"] && !given["pitch_rad"] && !given["roll_rad"] {
			c.add(p, CodeMissing, "the head has no angle", "add yaw_rad, pitch_rad or roll_rad")
		}
	case TypeGoto:
		switch place := given["x_m"] && given["y_m"]; {
		case given["point"] && (given["x_m"] || given["y_m"]):
			c.add(at(p, "point"), CodeWrongField, "goto has a point and coordinates, which are two places to go to", fmt.Sprintf("keep point: %s and leave x_m and y_m out, or keep x_m with y_m and leave point out", x.Point))
		case !given["point"] && !place:
			c.add(p, CodeMissing, "goto does not say where", "add point, or x_m with y_m")
		}
	case TypeScreen:
		c.screen(p, x, given)
	case TypePose:
		if !given["yaw_rad"] && !given["pitch_rad"] && !given["roll_rad"] && !given["height_m"] {
			c.add(p, CodeMissing, "the pose has no angle and no height", "add yaw_rad, pitch_rad, roll_rad or height_m")
		}
	case TypeDrive:
		c.drive(p, x, given)
	case TypeGroup:
		if len(x.Actions) == 0 {
			c.warn(p, CodeEmptyGroup, "the group is empty", "remove it")
		}
	}
}

func (c *checks) field(pointer string, f Field, w setField) {
	switch {
	case w.number != nil && f.Min != f.Max && !(*w.number >= f.Min && *w.number <= f.Max):
		c.add(pointer, CodeOutOfRange, fmt.Sprintf("%v is not between %v and %v", *w.number, f.Min, f.Max), rangeHint(f, *w.number))
	case len(f.OneOf) > 0 && !slices.Contains(f.OneOf, w.word):
		c.add(pointer, CodeBadValue, fmt.Sprintf("%q is not a %s", w.word, f.Name), nearWord(w.word, f.OneOf, "write one of "+strings.Join(f.OneOf, ", ")))
	case f.Form == FormName && !schema.ValidID(w.word):
		c.add(pointer, CodeBadID, fmt.Sprintf("%q is not a name", w.word), idHint(w.word))
	case f.Form == FormColour && !colour.MatchString(w.word):
		c.add(pointer, CodeBadValue, fmt.Sprintf("%q is not a colour", w.word), colourHint(w.word))
	case f.Form == FormPlain:
		c.text(pointer, w.word, MaxPlain)
	}
}

// rangeHint returns how to correct a number outside the limits of its field, which is often
// one in another unit.
func rangeHint(f Field, v float64) string {
	within := fmt.Sprintf("choose a value from %v to %v", f.Min, f.Max)
	_, unit, _ := cutMeasure(f.Name)
	degrees, _ := measureNamed("deg")
	perSecond, _ := measureNamed("degps")
	percent := math.Round(v*10) / 1000
	switch {
	case unit.name == "rad" && math.Abs(v) <= 360:
		r, _ := convert(v, degrees, unit)
		return fmt.Sprintf("%s is in radians: %v degrees are %s", f.Name, v, r)
	case unit.name == "radps" && math.Abs(v) <= 720:
		r, _ := convert(v, perSecond, unit)
		return fmt.Sprintf("%s is in radians per second: %v degrees are %s", f.Name, v, r)
	case unit.name == "" && f.Max <= 2 && v > f.Max && percent >= f.Min && percent <= f.Max:
		return fmt.Sprintf("%s; %v %% is %v", within, v, percent)
	}
	return within
}

func colourHint(word string) string {
	if colour.MatchString("#" + word) {
		return fmt.Sprintf("write %q", "#"+word)
	}
	return `write six hexadecimal digits after #, in quotes, such as "#20c0ff"`
}
