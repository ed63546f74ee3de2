package brain

import (
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// drive hands the units what this step came to: first what they are told by the
// safety core, then what acts want of them.
func (t *step) drive() {
	if o := driver.Order(safety.Orders(t.safety.At, t.body.movers)); o != t.ordered {
		t.ordered = o
		t.do(effect.Order{Order: o})
	}
	t.carry()
}

// toUnit is the last gate before the body. The executor starts nothing that the
// gate forbids; that it holds here too does not depend on that.
func (t *step) toUnit(o *act.Out) {
	if o.Kind == act.Stop {
		t.do(effect.Stop{Key: o.Key, Unit: o.Unit})
		return
	}
	i := slices.IndexFunc(t.body.units, func(u schema.Unit) bool { return u.ID == o.Unit })
	class := safety.Shows
	switch k := t.body.units[i].Kind; {
	case k.Moves():
		class = safety.Moves
	case k == schema.UnitSpeaker:
		class = safety.Sounds
	}
	if shut := safety.Gate(t.safety.At, class, safety.Act); shut != "" {
		t.lanes.Done(o.Key, shut, shut.Describe().Text, t.now.Mono)
		return
	}
	if class == safety.Sounds {
		o.Do = t.body.atVolume(o.Do)
	}
	t.do(effect.Start{Command: driver.Command{Key: o.Key, Unit: o.Unit, Do: t.located(o.Do), Text: o.Text, From: o.From, Holds: o.Holds, Asset: t.assetOf(o.Do)}})
}

// assetOf finds the file that an action names, among those of the story that is
// performed, or else of the one that shall be.
func (t *step) assetOf(do *score.Action) string {
	for _, p := range []*program{t.playing, t.accepted} {
		if p == nil {
			continue
		}
		for _, a := range p.Content.Assets {
			if a.Kind == score.AssetSound && a.Name == do.Sound || a.Kind == score.AssetFace && a.Name == do.Face {
				return a.SHA256
			}
		}
	}
	return ""
}

// feeding: a unit may be moving, and stops by itself when nobody feeds it.
func (s *State) feeding() bool {
	return s.safety.At != schema.SafetyDisabled && s.safety.At != schema.SafetyEStop
}
