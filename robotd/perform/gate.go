package perform

import (
	"cmp"

	"troupe/robotd/act"
	"troupe/robotd/safety"
	"troupe/schema"
)

// SetGate sets what the executor may start from now on. The executor stops in this step what is
// not allowed any more. motionBarred is why a safeguard keeps the robot from moving.
func (s *State) SetGate(lanes *act.Lanes, at schema.SafetyState, motionBarred schema.Reason) {
	g := act.Gate{
		Moves:  cmp.Or(safety.Gate(at, safety.Moves, safety.Act), motionBarred),
		Sounds: safety.Gate(at, safety.Sounds, safety.Act),
	}
	if safety.Gate(at, safety.Moves, safety.Core) == "" && motionBarred == "" {
		g.Mover = SafetyLane
	}
	if safety.Gate(at, safety.Sounds, safety.Core) == "" {
		g.Speaker = SafetyLane
	}
	if g != s.gate {
		s.gate = g
		lanes.Gate(g)
	}
}
