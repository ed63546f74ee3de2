package dispatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"troupe/fleetd/command"
	"troupe/schema"
)

// wakeDue looks at every command, and when to look again. What is due at the same
// time goes out in the order in which it was asked for.
func (d *Dispatcher) wakeDue(ctx context.Context, now time.Time) {
	d.next = time.Time{}
	var dues []*activeCommand
	for _, c := range d.open {
		if due, ok := command.Due(c.Command, d.present(c)); ok && !now.Before(due) {
			dues = append(dues, c)
		} else {
			d.expect(c)
		}
	}
	slices.SortFunc(dues, inTurn)
	for _, c := range dues {
		d.tell(ctx, now, c.ID, command.Event{Kind: command.Wake})
	}
}

// inTurn is the order in which commands were asked for.
func inTurn(a, b *activeCommand) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// expect notes when a command has something to do even without news. Robots that
// come and go and turns that come are news.
func (d *Dispatcher) expect(c *activeCommand) {
	if due, ok := command.Due(c.Command, d.present(c)); ok && (d.next.IsZero() || due.Before(d.next)) {
		d.next = due
	}
}

// present says that the robot is there and that it is this command's turn.
func (d *Dispatcher) present(c *activeCommand) bool {
	if !d.deps.Robots.Reachable(c.Robot) {
		return false
	}
	return c.State != command.Queued || d.turn(c)
}

func (d *Dispatcher) turn(c *activeCommand) bool {
	if c.class == schema.ClassStop || c.Verb == "sys/cancel" { // it makes room
		return true
	}
	busy, mayGo := d.others.busy(c, func(owner string) bool { return d.deps.Instances.Gone(owner, d.deps.Now()) })
	if !mayGo {
		return false
	}
	for _, other := range d.robots[c.Robot] {
		switch {
		case other == c || other.class == schema.ClassStop:
		case c.class == schema.ClassMode && other.class == schema.ClassMode && other.State == command.Sent:
			return false
		case other.State == command.Sent || other.State == command.Acked || other.State == command.Running:
			busy++
		}
	}
	return busy < atOnce
}

// sleep is how long nothing will be due.
func (d *Dispatcher) sleep(now time.Time, saved bool) time.Duration {
	rest := time.Hour
	if !saved {
		rest = saveAgain
	}
	if !d.others.next.IsZero() {
		rest = min(rest, max(leastRest, d.others.next.Sub(now)))
	}
	if !d.next.IsZero() {
		rest = min(rest, max(leastRest, d.next.Sub(now)))
	}
	return rest
}
