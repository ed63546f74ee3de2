package score

import (
	"slices"

	"troupe/schema"
)

// listed has the motions: a unit of any kind performs those that its caps list.
var listed = Kind{Actions: []ActionRow{
	{Do: Motion{}, Class: ClassBody, Method: MethodNoSameType,
		Timeout: true, OnResume: ResumeRestart, EstimateMS: 3000, Listed: true,
		Ends:    "when the unit reports that it is done",
		Example: `{type: motion, start_ms: 0, timeout_ms: 4000, motion: nod}`,
		Begin:   "timeout_ms: 4000, motion: ''",
		Fields: []Field{
			{Name: "motion", Required: true, Form: FormName, Doc: "a motion that a unit of the robot lists", Example: `nod`},
			{Name: "speed", Min: 0.1, Max: 2, Reach: upToTwice, Doc: "as a multiple of the usual speed", Default: "1", Example: `1.5`},
			unitField,
		}},
}}

// Motion performs a motion of the unit that lists it.
type Motion struct {
	Speed  *float64 `json:"speed,omitzero"` // 0.1..2 of the usual
	Motion string   `json:"motion,omitempty"`
}

func (Motion) Type() ActionType { return TypeMotion }

func (m Motion) shown([]string) string { return m.Motion }

func (m Motion) lack(c *checks, p string, caps schema.Caps) {
	var known []string
	for _, u := range caps.Units {
		known = append(known, u.Motions...)
	}
	if len(known) == 0 {
		c.add(at(p, "type"), CodeNoUnit, "this robot has no motions", "leave the action out for this robot")
		return
	}
	slices.Sort(known)
	c.catalogue(at(p, "motion"), "motion", m.Motion, slices.Compact(known), caps)
}
