package score

import (
	"slices"

	"troupe/schema"
)

// motionActions is what the unit does that lists a motion.
var motionActions = []ActionRow{
	{Type: TypeMotion, Class: ClassBody, Method: MethodNoSameType,
		Timeout: true, OnResume: ResumeRestart, Ends: "when the unit reports that it is done", Example: `{type: motion, start_ms: 0, timeout_ms: 4000, motion: nod}`,
		Fields: []Field{
			{Name: "motion", Required: true, Form: FormName, Doc: "a motion that a unit of the robot lists", Example: `nod`},
			{Name: "speed", Min: 0.1, Max: 2, Doc: "as a multiple of the usual speed", Default: "1", Example: `1.5`},
			unitField,
		}},
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
