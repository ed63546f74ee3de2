package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
)

// Limits of single actions.
const (
	MaxChoices = 8
	MinDriveMS = 200
	MaxDriveMS = 10_000

	// DriveRestMS is the last part of a drive action, in which its velocity is zero, so that
	// the robot is at rest or braking when the next action begins.
	DriveRestMS = 100
)

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

// drive checks the velocities of a drive action and how long it lasts.
func (c *checks) drive(p string, x *Action, given map[string]bool) {
	if !given["vx_mps"] && !given["vy_mps"] && !given["wz_radps"] {
		c.add(p, CodeMissing, "drive has no velocity", "add vx_mps, vy_mps or wz_radps")
	}
	if x.EndMS != nil && x.TimeoutMS == nil {
		if n := *x.EndMS - x.StartMS; n < MinDriveMS || n > MaxDriveMS {
			c.add(at(p, "end_ms"), CodeOutOfRange, fmt.Sprintf("it drives for %d ms, which is not between %d and %d", n, MinDriveMS, MaxDriveMS), "go to a point for a longer way")
		}
	}
}

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

// noMotion reports a motion that no unit lists.
func (c *checks) noMotion(p string, x *Action, caps schema.Caps) {
	var known []string
	for _, u := range caps.Units {
		known = append(known, u.Motions...)
	}
	if len(known) == 0 {
		c.add(at(p, "type"), CodeNoUnit, "this robot has no motions", "leave the action out for this robot")
		return
	}
	slices.Sort(known)
	c.catalogue(at(p, "motion"), "motion", x.Motion, slices.Compact(known), caps)
}

// fitPose checks a pose against the drive. A pose needs a range; without one for any axis
// the drive takes no poses.
func (c *checks) fitPose(p string, x *Action, u schema.Unit) {
	if !describesAxes(&u) {
		c.add(at(p, "type"), CodeNoUnit, "this robot takes no poses", "leave the action out for this robot")
		return
	}
	c.fitAxes(p, "the poses of this robot have", x, &u)
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

// fitDrive checks velocities against the drive, which may not state its limits.
func (c *checks) fitDrive(p string, x *Action, u schema.Unit) {
	within := func(name, unit string, v *float64, most float64) {
		if v != nil && (*v > most || *v < -most) {
			c.add(at(p, name), CodeBeyondUnit, fmt.Sprintf("%v %s is outside this robot's %v to %v", *v, unit, -most, most), "stay within it")
		}
	}
	if u.MaxSpeedMPS > 0 {
		within("vx_mps", "m/s", x.VXMPS, u.MaxSpeedMPS)
	}
	if x.VYMPS != nil && *x.VYMPS != 0 && u.MaxSideMPS == 0 {
		c.add(at(p, "vy_mps"), CodeBeyondUnit, "this robot does not drive sideways", "leave vy_mps out, and turn first")
	} else {
		within("vy_mps", "m/s", x.VYMPS, u.MaxSideMPS)
	}
	if u.MaxTurnRadPS > 0 {
		within("wz_radps", "rad/s", x.WZRadPS, u.MaxTurnRadPS)
	}
}

// fitText warns about a text in none of the robot's languages.
func (c *checks) fitText(p string, t Text, caps schema.Caps) {
	if len(caps.Languages) > 0 && !slices.ContainsFunc(caps.Languages, func(l string) bool { _, ok := t.find(l); return ok }) {
		c.warn(p, CodeNotSpoken, "this robot speaks "+strings.Join(caps.Languages, ", "), "add a text in one of them")
	}
}
