package perform

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// TestBuiltInShutdownActUsesTheUnitsThatTheBodyHas also holds for the robot without any: its
// soft stop has nothing to wait for.
func TestBuiltInShutdownActUsesTheUnitsThatTheBodyHas(t *testing.T) {
	lean := &schema.Range{Min: -0.1, Max: 0.1}
	speaker, drive := schema.Unit{ID: "speaker", Kind: schema.UnitSpeaker}, schema.Unit{ID: "drive", Kind: schema.UnitDrive}
	head, second := schema.Unit{ID: "head", Kind: schema.UnitHead, RollRad: lean}, schema.Unit{ID: "head-2", Kind: schema.UnitHead}
	tall := schema.Unit{ID: "drive", Kind: schema.UnitDrive, PitchRad: lean}
	for _, c := range []struct {
		what     string
		units    []schema.Unit
		disabled string
		want     []string
	}{
		{what: "a drive that takes no poses", units: []schema.Unit{speaker, drive}},
		{what: "a head", units: []schema.Unit{head, drive}, want: []string{"head"}},
		{what: "two heads and poses", units: []schema.Unit{head, second, tall}, want: []string{"head", "head-2", "drive"}},
		{what: "a disabled head", units: []schema.Unit{head, second}, disabled: "head", want: []string{"head-2"}},
	} {
		w := newWorld(t)
		w.body.units = c.units
		w.lanes.Executor = act.New(act.Config{Units: c.units, Lanes: []act.LaneConfig{{Lane: SafetyLane}}, Limits: act.Defaults()})
		w.lanes.Gate(act.Gate{Moves: schema.ReasonStopped, Mover: SafetyLane})
		w.lanes.SetUnitDisabled(c.disabled, "it is broken")
		w.facts.Safety = schema.SafetySoftStop
		w.part().SafetyChanged(safety.Decision{From: schema.SafetyEnabled, To: schema.SafetySoftStop})
		var got []string
		for range 5 { // each unit reports that it is done
			w.now += 20 * time.Millisecond
			w.lanes.Tick(w.now)
			for _, o := range w.lanes.Effects {
				if o.Kind == act.Start {
					got = append(got, o.Unit)
					u, _ := o.Do.Performer(c.units)
					rolls := slices.ContainsFunc(slices.Collect(o.Do.Numbers()), func(n score.Number) bool { return n.Name == "roll_rad" })
					if axis := o.Do.LackedAxis(&u); axis != "" || rolls && u.RollRad == nil {
						t.Errorf("%s: the %s gets an axis that it does not have: %q, roll %v", c.what, o.Unit, axis, rolls)
					}
					w.lanes.Reported(o.Key, "", "", w.now)
				}
			}
			w.lanes.Effects = nil
		}
		if !slices.Equal(got, c.want) || !w.lanes.Idle(SafetyLane) {
			t.Errorf("%s: started %v, ended %v; want %v", c.what, got, w.lanes.Idle(SafetyLane), c.want)
		}
	}
}
