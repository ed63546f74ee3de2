package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
)

// noUnit reports that no unit performs x, or none of the name that x gives.
func (c *checks) noUnit(p string, x *Action, caps schema.Caps) {
	row, _ := RowOf(x.Type)
	var names []string
	for _, u := range caps.Units {
		if row.performedBy(u, x) {
			names = append(names, u.ID)
		}
	}
	switch {
	case len(names) > 0:
	case x.Type == TypeMotion:
		c.noMotion(p, x, caps)
		return
	default:
		c.add(at(p, "type"), CodeNoUnit, fmt.Sprintf("%s needs a %s, which this robot does not have", x.Type, row.Unit), "leave the action out for this robot")
		return
	}
	hint := "it has " + strings.Join(names, ", ")
	if near := schema.Closest(x.Unit, names); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	what := cmp.Or(string(row.Unit), "unit for "+x.Motion)
	c.add(at(p, "unit"), CodeNoUnit, fmt.Sprintf("this robot has no %s %q", what, x.Unit), hint)
}

// axis is an angle or a height that an action may set, and how far a unit goes.
type axis struct {
	name, unit string
	want       *float64
	in         *schema.Range
}

func (x *Action) axes(u *schema.Unit) [4]axis {
	return [4]axis{
		{"yaw_rad", "rad", x.YawRad, u.YawRad}, {"pitch_rad", "rad", x.PitchRad, u.PitchRad},
		{"roll_rad", "rad", x.RollRad, u.RollRad}, {"height_m", "m", x.HeightM, u.HeightM},
	}
}

func describesAxes(u *schema.Unit) bool {
	return u.YawRad != nil || u.PitchRad != nil || u.RollRad != nil || u.HeightM != nil
}

// LackedAxis returns the name of an axis that x sets and u does not have, or an empty string. A unit
// has no axis that it does not describe, unless it describes none: then nothing is known about them.
func (x *Action) LackedAxis(u *schema.Unit) string {
	for _, a := range x.axes(u) {
		if a.want != nil && a.in == nil && describesAxes(u) {
			return a.name
		}
	}
	return ""
}

// fitAxes checks angles and a height against a unit that describes at least one axis.
func (c *checks) fitAxes(p, itHas string, x *Action, u *schema.Unit) {
	for _, a := range x.axes(u) {
		switch {
		case a.want == nil:
		case a.in == nil:
			c.add(at(p, a.name), CodeBeyondUnit, itHas+" no "+a.name, "leave it out for this robot")
		case !a.in.Holds(*a.want):
			c.add(at(p, a.name), CodeBeyondUnit, fmt.Sprintf("%v %s is outside this robot's %v to %v", *a.want, a.unit, a.in.Min, a.in.Max), "stay within it")
		}
	}
}

// fitText warns about a text in none of the robot's languages.
func (c *checks) fitText(p string, t Text, caps schema.Caps) {
	if len(caps.Languages) > 0 && !slices.ContainsFunc(caps.Languages, func(l string) bool { _, ok := t.find(l); return ok }) {
		c.warn(p, CodeNotSpoken, "this robot speaks "+strings.Join(caps.Languages, ", "), "add a text in one of them")
	}
}
