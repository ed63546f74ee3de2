package body

import (
	"fmt"
	"math"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
)

// setPoint is a number of an action with its limits for a unit.
type setPoint struct {
	name string
	of   func(*score.Action) **float64
	in   func(*schema.Unit) schema.Range
}

// setPoints lists the numbers of actions that reach a driver.
var setPoints = []setPoint{
	{"yaw_rad", func(a *score.Action) **float64 { return &a.YawRad }, func(u *schema.Unit) schema.Range { return stated(u.YawRad) }},
	{"pitch_rad", func(a *score.Action) **float64 { return &a.PitchRad }, func(u *schema.Unit) schema.Range { return stated(u.PitchRad) }},
	{"roll_rad", func(a *score.Action) **float64 { return &a.RollRad }, func(u *schema.Unit) schema.Range { return stated(u.RollRad) }},
	{"height_m", func(a *score.Action) **float64 { return &a.HeightM }, func(u *schema.Unit) schema.Range { return stated(u.HeightM) }},
	{"speed", func(a *score.Action) **float64 { return &a.Speed }, func(*schema.Unit) schema.Range { return schema.Range{Max: 2} }},
	{"volume", func(a *score.Action) **float64 { return &a.Volume }, func(*schema.Unit) schema.Range { return schema.Range{Max: 1} }},
	{"rate", func(a *score.Action) **float64 { return &a.Rate }, func(*schema.Unit) schema.Range { return schema.Range{Min: 0.5, Max: 2} }},
	{"x_m", func(a *score.Action) **float64 { return &a.XM }, anywhere},
	{"y_m", func(a *score.Action) **float64 { return &a.YM }, anywhere},
	{"theta_rad", func(a *score.Action) **float64 { return &a.ThetaRad }, anywhere},
	{"speed_mps", func(a *score.Action) **float64 { return &a.SpeedMPS }, forward},
	{"vx_mps", func(a *score.Action) **float64 { return &a.VXMPS }, forward},
	{"vy_mps", func(a *score.Action) **float64 { return &a.VYMPS }, func(u *schema.Unit) schema.Range { return upTo(u.MaxSideMPS) }},
	{"wz_radps", func(a *score.Action) **float64 { return &a.WZRadPS }, turning},
}

func stated(r *schema.Range) schema.Range {
	if r == nil {
		return anywhere(nil)
	}
	return *r
}

func anywhere(*schema.Unit) schema.Range {
	return schema.Range{Min: -math.MaxFloat64, Max: math.MaxFloat64}
}

func forward(u *schema.Unit) schema.Range {
	mps, _ := u.Speeds()
	return upTo(mps)
}

func turning(u *schema.Unit) schema.Range {
	_, radps := u.Speeds()
	return upTo(radps)
}

func upTo(most float64) schema.Range { return schema.Range{Min: -most, Max: most} }

// within is an action of a unit with its numbers within the unit's limits, or why it has
// one that is no number, or one of an axis that the unit does not have.
func (b *State) within(do *score.Action, u int, out *effect.List) (_ *score.Action, bad string) {
	if name := do.LackedAxis(&b.units[u]); name != "" {
		return nil, "the " + b.units[u].ID + " has no " + name
	}
	limited := false
	for _, p := range setPoints {
		v := *p.of(do)
		if v == nil {
			continue
		}
		r := p.in(&b.units[u])
		switch {
		case math.IsNaN(*v) || math.IsInf(*v, 0):
			return nil, fmt.Sprintf("%s is %v", p.name, *v)
		case r.Holds(*v):
			continue
		case !limited:
			own := *do
			do, limited = &own, true
		}
		sent := min(max(*v, r.Min), r.Max)
		b.reportLimit(u, p.name, *v, sent, out)
		*p.of(do) = &sent
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
		}{{"vx_mps", &v.VX, forward(u)}, {"wz_radps", &v.WZ, turning(u)}} {
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
		out.Event("set_point_limited", id, name, "", effect.Described{ID: id, Reason: schema.ReasonOutOfRange, Detail: fmt.Sprintf("%s is %v, beyond the limits of the %s; it got %v", name, wanted, id, sent)})
	}
}
