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
	rest time.Duration // by which the wall clock is past Wall, which has milliseconds only
}

// Read returns the time at, for a robot that booted at boot; both were read by time.Now.
func Read(boot, at time.Time) Now {
	wall := schema.TimeOf(at)
	return Now{Mono: at.Sub(boot), Wall: wall, rest: time.Duration(at.Nanosecond()) % time.Millisecond}
}

// At returns the wall time for a time since boot. It is the same at every step while the wall
// clock does not jump, so that a document which has it repeats the one before.
func (n Now) At(mono time.Duration) schema.Time {
	since := n.rest + mono - n.Mono
	ms := schema.Time(since / time.Millisecond)
	if since%time.Millisecond < 0 { // a division rounds towards zero
		ms--
	}
	return n.Wall + ms
}
