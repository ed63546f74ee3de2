package body

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
)

// places are the fleet's points, which goto knows beside those of the body's own map, and
// what calibration found. The coordinates of points are those of one map. If new places name
// another map than the loaded one, the old points stay in use until a calibration has loaded the
// new map. No map changes at another moment: a robot that moves would lose its
// way, and one at rest may have been carried elsewhere.
type places struct {
	newest     *score.Places // as desired; nil = none
	used       *score.Places // in force
	loaded     driver.Map    // by the last calibration that succeeded
	calibrated bool          // a calibration has succeeded
	failed     []schema.CalibrationCheck
	dirty      bool // the alert of a map that waits has to be looked at
}

// mapOf names the map of a set of places.
func mapOf(p *score.Places) driver.Map {
	if p == nil || p.Map == nil {
		return driver.Map{}
	}
	return driver.Map{Name: p.Map.Name, SHA256: p.Map.SHA256}
}

// SetPlaces are the fleet's places from now on; nil = none.
func (b *State) SetPlaces(p *score.Places) {
	b.places.newest, b.places.dirty = p, true
	switch {
	case mapOf(p).SHA256 == b.places.loaded.SHA256:
		b.places.used = p
	case p == nil: // what was withdrawn is not used any more
		b.places.used = nil
	}
}

// Map is the map that the next calibration has to load.
func (b *State) Map() driver.Map { return mapOf(b.places.newest) }

// inForce is the map on which the body's coordinates lie. Before the first calibration that
// is the one that it will load: until then nothing moves by coordinates.
func (b *State) inForce() driver.Map {
	if !b.places.calibrated {
		return b.Map()
	}
	return b.places.loaded
}

// pendingAlert is raised while a map waits for calibration.
const pendingAlert = "map_pending"

// updateMapAlert raises or clears the alert of a map that waits for calibration. At boot it waits
// for the calibration that runs by itself.
func (b *State) updateMapAlert(calibration schema.ModeID, out *effect.List) {
	if !b.places.dirty {
		return
	}
	b.places.dirty = false
	if b.places.calibrated && b.Map().SHA256 != b.places.loaded.SHA256 {
		out.Raise(pendingAlert, schema.AlertInfo, "map", fmt.Sprintf("the robot uses %s; %s is loaded by the next calibration",
			named(b.places.loaded), named(b.Map())), "send mode/set "+string(calibration)+" when nobody is near")
		return
	}
	out.Clear(pendingAlert, "map")
}

// Calibrated takes the end of a calibration. It fails it if the body speaks none of the
// configured languages.
func (b *State) Calibrated(ev *event.Calibrated, languages []string) (pointsChanged bool) {
	p := &b.places
	p.failed = nil
	fail := func(name string, why schema.Reason, detail string) {
		p.failed = append(p.failed, schema.CalibrationCheck{Name: name, Reason: why, Detail: schema.SanitizeText(detail)})
		if ev.Reason == "" {
			ev.Reason, ev.Detail = why, detail
		}
	}
	if ev.Result.Reason != "" {
		fail("map", ev.Result.Reason, ev.Result.Detail)
	}
	for _, u := range ev.Units {
		if u.Reason != "" {
			fail("units", u.Reason, u.Unit+": "+u.Detail)
		}
	}
	if s := b.driver.Languages; len(s) > 0 && !slices.ContainsFunc(languages, func(l string) bool {
		return slices.Contains(s, base(l)) || slices.Contains(s, l)
	}) {
		fail("languages", schema.ReasonOutOfRange, fmt.Sprintf("the body speaks %s, and none of %s; set languages", strings.Join(s, ", "),
			strings.Join(languages, ", ")))
	}
	if ev.Reason != "" {
		return false
	}
	if p.loaded.SHA256 != ev.Map.SHA256 {
		b.at = nil // it lay on the map before
	}
	pointsChanged = len(b.taught) > 0 && b.inForce().SHA256 != ev.Map.SHA256
	p.calibrated, p.loaded = true, ev.Map
	if ev.Units != nil { // every body reports its units and with them its points; only a test leaves both out
		pointsChanged = pointsChanged || !slices.Equal(b.driver.Points, ev.Result.Points)
		b.driver.Points = ev.Result.Points
	}
	b.SetPlaces(p.newest)
	return pointsChanged
}

// base is the language of a tag without its region.
func base(tag string) string {
	l, _, _ := strings.Cut(tag, "-")
	return l
}

// CalibrationChecks returns the parts of the configuration that calibration puts in force and checks.
func (b *State) CalibrationChecks(languages []string) []schema.CalibrationCheck {
	ids := make([]string, len(b.units))
	for i, u := range b.units {
		ids[i] = u.ID
	}
	all := []schema.CalibrationCheck{
		{Name: "map", Value: named(b.places.loaded)},
		{Name: "units", Value: strings.Join(ids, " ")},
		{Name: "homing", Value: cmp.Or(strings.Join(b.driver.Homing, " "), "none")},
		{Name: "languages", Value: strings.Join(languages, " ")},
	}
	if b.Map().SHA256 != b.places.loaded.SHA256 {
		all[0].Pending = named(b.Map())
	}
	for i := range all {
		for _, f := range b.places.failed {
			if f.Name == all[i].Name {
				all[i].Reason, all[i].Detail = f.Reason, f.Detail
			}
		}
	}
	return all
}

// named is a map for people.
func named(m driver.Map) string {
	if m.SHA256 == "" {
		return "the body's own map"
	}
	return m.Name + " (sha256 " + m.SHA256[:min(len(m.SHA256), 12)] + ")"
}

// waiting returns why a point cannot be used before the next calibration; empty if it can, or
// if goto does not know it at all.
func (b *State) waiting(point string) string {
	n := b.places.newest
	if n == nil || n == b.places.used {
		return ""
	}
	if _, ok := n.Points[point]; ok {
		return "point " + point + " lies on " + named(b.Map()) + ", which waits for calibration"
	}
	return ""
}
