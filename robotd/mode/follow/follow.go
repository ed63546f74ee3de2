// Package follow is an example of a mode, for tests: the robot turns to the side where it
// is touched, for as long as it is.
package follow

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/mode"
	"troupe/schema"
)

// Mode is the row of the mode.
var Mode = mode.Installed{
	Rule: mode.Rule{
		ID: "follow", Moves: true, LinkLoss: schema.LinkLossSafe, LostAfter: 5 * time.Second,
		Conditional: true,
	},
	Name:  "follow",
	Ready: ready,
	Params: []mode.Parameter{
		{ConfigKey: schema.ConfigKey{Name: "turn", Type: schema.ConfigNumber, Min: 0.1, Max: 1, Why: "how fast it turns"}, Unit: "rad/s", Default: jsontext.Value("0.5")},
	},
	New: func() mode.Mode { return &following{} },
}

func ready(h *mode.Host) mode.Refusal {
	if !h.Has(schema.UnitDrive) {
		return mode.Refusal{Reason: schema.ReasonUnitError, Detail: "it has no drive to turn with"}
	}
	return mode.Refusal{}
}

type following struct {
	mode.Plain
	target float64 // 1 to the left, -1 to the right, 0 nowhere
}

func (f *following) MayPause(*mode.Host) mode.Refusal {
	if f.target != 0 {
		return mode.Refusal{Reason: schema.ReasonBusy, Detail: "it is being touched; let go of it first"}
	}
	return mode.Refusal{}
}

func (f *following) Step(h *mode.Host, n mode.Notice) {
	switch n := n.(type) {
	case mode.Touched:
		sides := map[string]float64{"left": 1, "right": -1}
		if n.Place == "front" {
			h.Do(mode.Stop{Verb: "stop", Why: "somebody stands before the robot"})
		}
		if f.target = 0; n.On {
			f.target = sides[n.Place]
		}
		if f.target == 0 {
			h.Do(mode.Drive{})
		}
	case mode.TimePassed:
		if f.target != 0 && h.MayMove {
			h.Do(mode.Drive{WZ: mode.Value[float64](h, "turn") * f.target})
		}
	}
}
