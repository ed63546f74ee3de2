package body

import (
	"cmp"
	"slices"

	"troupe/schema/score"
)

// Points lists the names that goto knows: those of the body's own map and those
// of the fleet's places.
func (b *State) Points() []string {
	own := b.driver.Points
	if b.places == nil {
		return own
	}
	all := slices.Clone(own)
	for name := range b.places.Points {
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// located is an action with the coordinates of its point. The fleet's
// places win over the body's own map; a heading of the action wins over that of
// its point.
func (b *State) located(do *score.Action) *score.Action {
	if b.places == nil || do.Point == "" {
		return do
	}
	p, ok := b.places.Points[do.Point]
	if !ok {
		return do
	}
	at := *do
	at.Point, at.XM, at.YM = "", &p.XM, &p.YM
	at.ThetaRad = cmp.Or(do.ThetaRad, p.ThetaRad)
	return &at
}
