package body

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"troupe/robotd/driver"
	"troupe/robotd/taught"
	"troupe/schema"
	"troupe/schema/score"
)

// SetTaught are the points that people taught the robot.
func (b *State) SetTaught(points map[string]taught.Point) { b.taught = points }

// taughtOnMapInForce returns a taught point, if it lies on the map in force.
func (b *State) taughtOnMapInForce(id string) (score.Point, bool) {
	p, known := b.taught[id]
	return p.Point, known && p.MapSHA256 == b.inForce().SHA256
}

// Points lists the names that goto knows: those of the body's own map, those of the fleet's
// places, and those that people taught on the map in force.
func (b *State) Points() []string {
	own := b.driver.Points
	if b.places.newest == nil && len(b.taught) == 0 {
		return own
	}
	all := slices.Clone(own)
	if b.places.newest != nil {
		all = slices.AppendSeq(all, maps.Keys(b.places.newest.Points))
	}
	for id := range b.taught {
		if _, ok := b.taughtOnMapInForce(id); ok {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// HasPoint reports whether goto knows a point.
func (b *State) HasPoint(name string) bool { return slices.Contains(b.Points(), name) }

// taughtPoints lists the taught points that goto uses.
func (b *State) taughtPoints() (list []schema.TaughtPoint) {
	for _, id := range slices.Sorted(maps.Keys(b.taught)) {
		p, ok := b.taughtOnMapInForce(id)
		if used, _ := b.point(id); ok && used == p { // the fleet's places have no other
			list = append(list, schema.TaughtPoint{ID: id, XM: p.XM, YM: p.YM, ThetaRad: *cmp.Or(p.ThetaRad, new(float64))})
		}
	}
	return list
}

// point returns the coordinates of a point; nothing for one of the body's own map. The
// fleet's places win over taught points, and both over that map.
func (b *State) point(name string) (p score.Point, known bool) {
	if b.places.used != nil {
		p, known = b.places.used.Points[name]
	}
	if !known {
		p, known = b.taughtOnMapInForce(name)
	}
	return p, known
}

// located is an action with the coordinates of its point, or why the point cannot be used
// yet. A heading of the action wins over that of its point.
func (b *State) located(do *score.Action) (_ *score.Action, waits string) {
	to, is := do.Do.(score.Goto)
	if !is {
		return do, ""
	}
	p, known := b.point(to.Point)
	if !known && slices.Contains(b.driver.Points, to.Point) {
		return do, ""
	}
	if !known {
		return do, cmp.Or(b.waiting(to.Point), b.Elsewhere(to.Point))
	}
	to.Point, to.XM, to.YM = "", &p.XM, &p.YM
	to.ThetaRad = cmp.Or(to.ThetaRad, p.ThetaRad)
	at := *do
	at.Do = to
	return &at, ""
}

// far is after how many metres the state is published for the position alone.
const far = 1.0

// setPosition notes where the body is, and reports whether the published position is far from it.
func (b *State) setPosition(ev driver.Event) bool {
	if math.IsNaN(ev.X+ev.Y+ev.Theta) || math.IsInf(ev.X+ev.Y+ev.Theta, 0) {
		return false
	}
	theta := Rounded(ev.Theta)
	b.at = &score.Point{XM: Rounded(ev.X), YM: Rounded(ev.Y), ThetaRad: &theta}
	if was := b.reportedAt; was != nil && math.Hypot(b.at.XM-was.XM, b.at.YM-was.YM) < far {
		return false
	}
	b.reportedAt = b.at
	return true
}

// Place is where the body is, as the state has it; nil if it has not reported that.
func (b *State) Place() *schema.StatePlace {
	if b.at == nil {
		return nil
	}
	p := &schema.StatePlace{XM: b.at.XM, YM: b.at.YM, MapSHA256: b.inForce().SHA256}
	if b.at.ThetaRad != nil {
		p.ThetaRad = *b.at.ThetaRad
	}
	return p
}

// Position is where the body is on the map in force, if it has reported that.
func (b *State) Position() (taught.Point, bool) {
	if b.at == nil {
		return taught.Point{}, false
	}
	return taught.Point{Point: *b.at, MapSHA256: b.inForce().SHA256}, true
}

// Elsewhere returns why goto cannot use a point that was taught on another map; empty if it
// was not, or if goto knows a point of that name.
func (b *State) Elsewhere(point string) string {
	if _, ok := b.taught[point]; !ok || b.HasPoint(point) {
		return ""
	}
	return "point " + point + " was taught on another map: teach it again with manual/point-save or delete it with manual/point-delete"
}
