// Package clock has the two times of the robot: that of a step, which is an argument of
// every decision, and the fleet's, which is learned from heartbeats.
package clock

import (
	"time"

	"troupe/schema"
)

// Now is the time of a step, in two clocks.
type Now struct {
	Mono time.Duration // since boot; never goes back
	Wall schema.Time   // for messages; may be wrong by years, and jump
}

// At returns the wall time for a time since boot.
func (n Now) At(mono time.Duration) schema.Time { return n.Wall.Add(mono - n.Mono) }
