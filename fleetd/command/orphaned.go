package command

import (
	"time"

	"troupe/schema"
)

// No instance sends, repeats or queries a command whose fleetd instance is gone: the answer
// would go to the missing instance, and the robot might execute it twice. The command
// becomes UNKNOWN, and a later answer of its robot still counts.

// Orphan makes a command UNKNOWN whose fleetd instance is gone. A command that was not sent, as
// far as its row says, remains queued until it expires: its instance may return until then.
func Orphan(c Command, now time.Time) Command {
	if c.State != Queued || !now.Before(c.deadline()) {
		c.transition(now, OwnerGone)
	}
	return c
}

// Observe applies an answer to a command whose fleetd instance is gone.
func Observe(c Command, now time.Time, a schema.Ack) Command {
	if !c.State.Final() && a.ID != nil && *a.ID == c.ID {
		c.answered(now, a)
	}
	return c
}
