package follow

import (
	"fmt"
	"strings"
	"testing"

	"troupe/robotd/mode"
	"troupe/schema"
)

func TestTouchTurnsOrStopsTheRobot(t *testing.T) {
	for _, row := range []struct {
		place string
		on    bool
		want  string // the effects of the touch and of the time that passes after it, without those of the head
	}{
		{"left", true, "turn 0.5"},
		{"right", true, "turn -0.5"},
		{"left", false, "turn 0"},
		{"front", true, "stop: somebody touches its front, turn 0"},
		{"front", false, "turn 0"},
		{"arm-left", true, "turn 0.5"}, // as the simulated body names its places
		{"arm-right", true, "turn -0.5"},
		{"chest", true, "stop: somebody touches its chest, turn 0"},
	} {
		r := mode.NewRunner([]mode.Installed{Mode}, mode.Unguarded)
		r.Update(0, mode.Robot{MayMove: true, Units: []schema.Unit{{ID: "drive", Kind: schema.UnitDrive}, {ID: "head", Kind: schema.UnitHead}}})
		r.Execute(mode.Call{Do: mode.DoStart, Mode: Mode.ID})
		r.Clear()
		r.Notify(mode.Touched{Area: row.place, On: row.on})
		r.Notify(mode.TimePassed{})
		var got []string
		for _, e := range r.Effects() {
			switch e := e.(type) {
			case mode.Stop:
				got = append(got, e.Verb+": "+e.Why)
			case mode.Drive:
				got = append(got, fmt.Sprintf("turn %v", e.WZ))
			}
		}
		if got := strings.Join(got, ", "); got != row.want {
			t.Errorf("%s %v: %q, want %q", row.place, row.on, got, row.want)
		}
	}
}
