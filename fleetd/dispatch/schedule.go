package dispatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"troupe/fleetd/command"
	"troupe/schema/verb"
)

// wakeDue wakes the commands that are due, in the order in which they were issued, and
// computes when the next one is.
func (d *Dispatcher) wakeDue(ctx context.Context, now time.Time) {
	d.next = time.Time{}
	var dues []*activeCommand
	for _, c := range d.open {
		if c.waits {
			continue
		}
		due, ok := command.Due(c.Command, d.maySend(c))
		switch {
		case ok && !now.Before(due) && c.awaitsLive(now):
			d.expectAt(now.Add(answersFlow / 2))
		case ok && !now.Before(due):
			dues = append(dues, c)
		case ok:
			d.expectAt(due)
		}
	}
	slices.SortFunc(dues, byAge)
	for _, c := range dues {
		d.step(ctx, now, c.ID, command.Event{Kind: command.Wake})
	}
}

// byAge is the order in which commands were issued.
func byAge(a, b *activeCommand) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// expect records when a command is due without an event.
func (d *Dispatcher) expect(c *activeCommand) {
	if due, ok := command.Due(c.Command, d.maySend(c)); ok {
		d.expectAt(due)
	}
}

func (d *Dispatcher) expectAt(due time.Time) {
	if d.next.IsZero() || due.Before(d.next) {
		d.next = due
	}
}

// maySend reports whether the robot is reachable and the command is next.
func (d *Dispatcher) maySend(c *activeCommand) bool {
	return d.deps.Robots.Reachable(c.Robot) && d.maySendNext(c)
}

// maySendNext reports whether the command is sent already, or is next.
func (d *Dispatcher) maySendNext(c *activeCommand) bool {
	return c.State != command.Queued || d.isNext(c)
}

// isNext reports whether no other command to the robot has to come first.
func (d *Dispatcher) isNext(c *activeCommand) bool {
	if c.class == verb.ClassStop || c.Verb == "sys/cancel" { // a cancellation makes room for others
		return true
	}
	busy, mayGo := d.others.busy(c, func(owner string) bool { return d.deps.Instances.Gone(owner, d.deps.Now()) })
	if !mayGo {
		return false
	}
	for _, other := range d.robots[c.Robot] {
		switch {
		case other == c || other.class == verb.ClassStop:
		case c.class == verb.ClassMode && other.class == verb.ClassMode &&
			// the other may wait for a command of another instance that is answered meanwhile
			(other.State == command.Sent || other.State == command.Queued && byAge(other, c) < 0):
			return false
		case other.State == command.Sent || other.State == command.Acked || other.State == command.Running:
			busy++
		}
	}
	return busy < atOnce
}

// sleepTime is how long no command will be due.
func (d *Dispatcher) sleepTime(now time.Time, saved bool) time.Duration {
	wait := time.Hour
	if !saved {
		wait = saveAgain
	}
	if len(d.early.answers) > 0 {
		wait = min(wait, max(minSleep, d.early.since.Add(earlyFor).Sub(now)))
	}
	if !d.others.next.IsZero() {
		wait = min(wait, max(minSleep, d.others.next.Sub(now)))
	}
	if !d.next.IsZero() {
		wait = min(wait, max(minSleep+time.Duration(len(d.open))*walkEach, d.next.Sub(now)))
	}
	return wait
}
