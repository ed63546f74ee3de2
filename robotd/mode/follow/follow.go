// Package follow is an example of a mode: the head follows the nearest person, and the robot
// turns to the side where it is touched, as long as the touch lasts. A touch at its front or
// chest stops it.
package follow

import (
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/mode"
	"troupe/schema"
)

// Mode is the row of the mode.
var Mode = mode.Installed{
	Settings: mode.Settings{
		ID: "follow", Moves: true, LinkLoss: schema.LinkLossSafe, LostAfter: 5 * time.Second,
		Conditional: true,
	},
	Name:  "follow",
	Ready: ready,
	Params: []mode.Parameter{
		{ConfigKey: schema.ConfigKey{Name: "speed", Type: schema.ConfigNumber, Min: 0.05, Max: 1,
			Purpose: "how fast the head turns, as a share of its maximum"}, Default: jsontext.Value("0.4")},
		{ConfigKey: schema.ConfigKey{Name: "turn", Type: schema.ConfigNumber, Min: 0.1, Max: 1,
			Purpose: "how fast the robot turns to the side where it is touched"}, Unit: "rad/s", Default: jsontext.Value("0.5")},
	},
	New: func() mode.Mode { return &following{} },
}

func ready(h *mode.Host) mode.Refusal {
	switch {
	case !h.Has(schema.UnitHead):
		return mode.Refusal{Reason: schema.ReasonUnitError, Detail: "the robot has no head to look with"}
	case !h.Has(schema.UnitDrive):
		return mode.Refusal{Reason: schema.ReasonUnitError, Detail: "the robot has no drive to turn with"}
	}
	return mode.Refusal{}
}

// minTurn is the angle by which a person has to move for the head to follow, in rad.
const minTurn = 0.05

type following struct {
	mode.Plain
	target float64 // 1 to the left, -1 to the right, 0 nowhere
	yaw    float64 // where the head was told to look
}

// anywhere is the yaw of a head that was stopped on its way.
var anywhere = math.Inf(1)

func (f *following) MayPause(*mode.Host) mode.Refusal {
	if f.target != 0 {
		return mode.Refusal{Reason: schema.ReasonBusy, Detail: "the robot is being touched; let go of it first"}
	}
	return mode.Refusal{}
}

func (f *following) SetPaused(*mode.Host, bool) { f.yaw = anywhere }

func (f *following) Step(h *mode.Host, n mode.Notice) {
	switch n := n.(type) {
	case mode.Touched:
		sides := map[string]float64{"left": 1, "arm-left": 1, "right": -1, "arm-right": -1}
		if n.On && (n.Area == "front" || n.Area == "chest") {
			h.Do(mode.Stop{Verb: "stop", Why: "somebody touches its " + n.Area})
		}
		if f.target = 0; n.On {
			f.target = sides[n.Area]
		}
		if f.target == 0 {
			h.Do(mode.Drive{})
		}
	case mode.TimePassed:
		f.look(h)
		if f.target != 0 && h.MayMove {
			h.Do(mode.Drive{WZ: mode.Value[float64](h, "turn") * f.target})
		}
	}
}

// look turns the head to the nearest person, as far as it goes, and straight ahead when
// nobody is near.
func (f *following) look(h *mode.Host) {
	head, ok := schema.FindUnit(h.Units, schema.UnitHead, "")
	if !h.MayMove {
		f.yaw = anywhere
	}
	if !ok || !h.MayMove {
		return
	}
	yaw := 0.0
	if h.People > 0 {
		yaw = h.Bearing
	}
	if r := head.YawRad; r != nil {
		yaw = min(max(yaw, r.Min), r.Max)
	}
	if math.Abs(yaw-f.yaw) >= minTurn {
		f.yaw = yaw
		h.Do(mode.Look{Yaw: yaw, Speed: mode.Value[float64](h, "speed")})
	}
}
