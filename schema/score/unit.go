package score

import (
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
)

// noUnit reports that no unit performs x, or none of the name that x gives.
func (c *checks) noUnit(p string, x *Action, caps schema.Caps) {
	row, _ := RowOf(x.Type())
	var names []string
	for _, u := range caps.Units {
		if row.performedBy(u, x) {
			names = append(names, u.ID)
		}
	}
	if len(names) == 0 {
		if l, ok := x.Do.(lacker); ok {
			l.lack(c, p, caps)
			return
		}
		c.add(at(p, "type"), CodeNoUnit, fmt.Sprintf("%s needs a %s, which this robot does not have", row.Type, row.Unit),
			"leave the action out for this robot")
		return
	}
	hint := "it has " + strings.Join(names, ", ")
	if near := schema.Closest(x.Unit, names); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	what := string(row.Unit)
	if m, ok := x.Do.(Motion); ok {
		what = "unit for " + m.Motion
	}
	c.add(at(p, "unit"), CodeNoUnit, fmt.Sprintf("this robot has no %s %q", what, x.Unit), hint)
}

// Axes is the angles and the height that an action sets.
type Axes struct {
	YawRad   *float64 `json:"yaw_rad,omitzero"`   // -3.2..3.2
	PitchRad *float64 `json:"pitch_rad,omitzero"` // -1.6..1.6
	RollRad  *float64 `json:"roll_rad,omitzero"`
	HeightM  *float64 `json:"height_m,omitzero"` // of a pose: 0..2
}

// axis is one angle or height of Axes with the range that a unit describes for it.
type axis struct {
	name, unit string
	want       *float64
	in         *schema.Range
}

func (a Axes) of(u *schema.Unit) [4]axis {
	return [4]axis{
		{"yaw_rad", "rad", a.YawRad, u.YawRad}, {"pitch_rad", "rad", a.PitchRad, u.PitchRad},
		{"roll_rad", "rad", a.RollRad, u.RollRad}, {"height_m", "m", a.HeightM, u.HeightM},
	}
}

// inWords writes the axes that are set, for people.
func (a Axes) inWords() string {
	return numbers(number{"yaw", "°", degree, a.YawRad}, number{"pitch", "°", degree, a.PitchRad},
		number{"roll", "°", degree, a.RollRad}, number{"height", " m", 1, a.HeightM})
}

func describesAxes(u *schema.Unit) bool {
	return u.YawRad != nil || u.PitchRad != nil || u.RollRad != nil || u.HeightM != nil
}

// LackedAxis returns the name of an axis that a sets and u does not have, or an empty string. A unit
// has no axis that it does not describe, unless it describes none: then nothing is known about them.
func (a Axes) LackedAxis(u *schema.Unit) string {
	for _, x := range a.of(u) {
		if x.want != nil && x.in == nil && describesAxes(u) {
			return x.name
		}
	}
	return ""
}

// LackedAxis returns the name of an axis that x sets and u does not have, or an empty string.
func (x *Action) LackedAxis(u *schema.Unit) string {
	if a, ok := x.Do.(interface{ LackedAxis(*schema.Unit) string }); ok {
		return a.LackedAxis(u)
	}
	return ""
}

// fitAxes checks angles and a height against a unit that describes at least one axis.
func (c *checks) fitAxes(p, itHas string, axes Axes, u *schema.Unit) {
	for _, a := range axes.of(u) {
		switch {
		case a.want == nil:
		case a.in == nil:
			c.add(at(p, a.name), CodeBeyondUnit, itHas+" no "+a.name, "leave it out for this robot")
		case !a.in.Holds(*a.want):
			c.add(at(p, a.name), CodeBeyondUnit,
				fmt.Sprintf("%v %s is outside this robot's %v to %v", *a.want, a.unit, a.in.Min, a.in.Max), "stay within it")
		}
	}
}

// fitText warns about a text in none of the robot's languages.
func (c *checks) fitText(p string, t Text, caps schema.Caps) {
	if len(caps.Languages) > 0 && !slices.ContainsFunc(caps.Languages, func(l string) bool { _, ok := t.find(l); return ok }) {
		c.warn(p, CodeNotSpoken, "this robot speaks "+strings.Join(caps.Languages, ", "), "add a text in one of them")
	}
}
