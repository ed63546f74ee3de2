package score

import (
	"fmt"
	"iter"
	"math"
	"reflect"
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

// setFields lists the fields of x that depend on its type and are set, in the order of Wire; unit
// follows the first of them.
func (x *Action) setFields() []setField {
	var out []setField
	for i, f := range typeFields {
		if v := reflect.ValueOf(get[any](x, f)); v.IsValid() && !v.IsZero() {
			out = append(out, newSetField(f, v))
		}
		if i == 0 && x.Unit != "" {
			out = append(out, setField{name: unitField.Name, word: x.Unit})
		}
	}
	return out
}

// typeFields are the names of the fields that depend on the type, in the order of Wire.
var typeFields = func() (names []string) {
	for _, f := range jsonFields(Wire)[1+len(jsonFields(reflect.TypeFor[Action]())):] {
		names = append(names, nameOf(f))
	}
	return names
}()

func newSetField(name string, v reflect.Value) setField {
	switch v.Kind() {
	case reflect.String:
		return setField{name: name, word: v.String()}
	case reflect.Pointer:
		n := v.Elem().Float()
		return setField{name: name, number: &n}
	case reflect.Int64:
		n := float64(v.Int())
		return setField{name: name, number: &n}
	}
	return setField{name: name}
}

// Number is a number of an action, with the range that a unit takes.
type Number struct {
	Name   string
	Value  float64
	Within func(*schema.Unit) schema.Range
}

// Numbers lists the numbers that x sets, but for durations.
func (x *Action) Numbers() iter.Seq[Number] {
	return func(yield func(Number) bool) {
		row, _ := RowOf(x.Type())
		for _, name := range typeFields {
			v := get[*float64](x, name)
			if v == nil {
				continue
			}
			f, _ := row.field(name)
			within := f.Reach
			switch {
			case within != nil:
			case f.Min == f.Max: // any
				within = anywhere
			default:
				within = func(*schema.Unit) schema.Range { return schema.Range{Min: f.Min, Max: f.Max} }
			}
			if !yield(Number{name, *v, within}) {
				return
			}
		}
	}
}

var colour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

func (c *checks) fields(p string, x *Action, row ActionRow) {
	given := map[string]bool{}
	for _, w := range x.setFields() {
		given[w.name] = true
		f, ok := row.field(w.name)
		if !ok {
			c.add(at(p, w.name), CodeWrongField, string(row.Type)+" has no "+w.name, "leave it out; "+string(row.Type)+" takes "+row.takes())
			continue
		}
		c.field(at(p, w.name), f, w)
	}
	for _, f := range row.Fields {
		if f.Required && !given[f.Name] {
			c.add(at(p, f.Name), CodeMissing, string(row.Type)+" needs "+f.Name, "add "+f.Name+": "+f.Example)
		}
	}
	if d, ok := x.Do.(checker); ok {
		d.check(c, p, x, given)
	}
}

func (c *checks) field(pointer string, f Field, w setField) {
	switch {
	case w.number != nil && f.Min != f.Max && !(*w.number >= f.Min && *w.number <= f.Max):
		c.add(pointer, CodeOutOfRange, fmt.Sprintf("%v is not between %v and %v", *w.number, f.Min, f.Max), rangeHint(f, *w.number))
	case len(f.OneOf) > 0 && !slices.Contains(f.OneOf, w.word):
		c.add(pointer, CodeBadValue, fmt.Sprintf("%q is not a %s", w.word, f.Name), nearWord(w.word, f.OneOf, "write one of "+
			strings.Join(f.OneOf, ", ")))
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
