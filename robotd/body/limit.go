package body

import (
	"fmt"
	"math"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
)

// within is an action of a unit with its numbers within the unit's limits, or why it has
// one that is no number, or one of an axis that the unit does not have.
func (b *State) within(do *score.Action, u int, out *effect.List) (_ *score.Action, bad string) {
	if name := do.LackedAxis(&b.units[u]); name != "" {
		return nil, "the " + b.units[u].ID + " has no " + name
	}
	limited := false
	for n := range do.Numbers() {
		r := n.Within(&b.units[u])
		switch {
		case math.IsNaN(n.Value) || math.IsInf(n.Value, 0):
			return nil, fmt.Sprintf("%s is %v", n.Name, n.Value)
		case r.Holds(n.Value):
			continue
		case !limited:
			own := *do
			do, limited = &own, true
		}
		sent := min(max(n.Value, r.Min), r.Max)
		b.reportLimit(u, n.Name, n.Value, sent, out)
		do.SetNumber(n.Name, sent)
	}
	b.states[u].limited = limited
	return do, ""
}

// Velocity is a velocity within the limits of the drive. What is no number counts as 0.
func (b *State) Velocity(v driver.Velocity, out *effect.List) driver.Velocity {
	for i := range b.units {
		u := &b.units[i]
		if u.Kind != schema.UnitDrive {
			continue
		}
		limited := false
		for _, p := range []struct {
			name string
			of   *float64
			in   schema.Range
		}{{"vx_mps", &v.VX, u.Forward()}, {"wz_radps", &v.WZ, u.Turning()}} {
			was := *p.of
			if p.in.Holds(was) {
				continue
			}
			*p.of = min(max(was, p.in.Min), p.in.Max)
			if math.IsNaN(was) || math.IsInf(was, 0) {
				*p.of = 0
			}
			b.reportLimit(i, p.name, was, *p.of, out)
			limited = true
		}
		b.states[i].limited = limited
		return v
	}
	return driver.Velocity{TTL: v.TTL} // it has no drive
}

// reportLimit reports a set-point that was limited, unless one of the last command for the
// unit was.
func (b *State) reportLimit(u int, name string, wanted, sent float64, out *effect.List) {
	if id := b.units[u].ID; !b.states[u].limited {
		out.Event("set_point_limited", id, name, "", effect.Described{ID: id, Reason: schema.ReasonOutOfRange,
			Detail: fmt.Sprintf("%s is %v, beyond the limits of the %s; it got %v", name, wanted, id, sent)})
	}
}
