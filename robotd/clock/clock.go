// Package clock has the two times of the robot: the one of a step, which is an
// argument of everything that decides, and the fleet's, which heartbeats carry.
package clock

import (
	"time"

	"troupe/schema"
)

// Now is the time of a step: what the robot counts, and what the wire says.
type Now struct {
	Mono time.Duration // since boot; never goes back
	Wall schema.Time   // may be wrong by years, and jump
}

// At turns a time since boot into what the wire says of it.
func (n Now) At(mono time.Duration) schema.Time { return n.Wall.Add(mono - n.Mono) }
