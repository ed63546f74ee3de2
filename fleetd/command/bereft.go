package command

import (
	"time"

	"troupe/schema"
)

// A command whose fleetd is gone is nobody's to send, send again or ask about: its
// robot would answer somebody who is not there, and might do it twice. It is brought
// to an end that says what is known, and what its robot says later still counts.

// Bereft is what becomes of a command whose fleetd is gone. One that was never sent, as
// far as is known, waits for its time to be over: its fleetd may be back by then.
func Bereft(c Command, now time.Time) Command {
	if c.State != Queued || !now.Before(c.deadline()) {
		c.goes(now, OwnerGone)
	}
	return c
}

// Overheard takes in what a robot said about a command whose fleetd is gone.
func Overheard(c Command, now time.Time, a schema.Ack) Command {
	if !c.State.Final() && a.ID != nil && *a.ID == c.ID {
		c.answered(now, a)
	}
	return c
}
