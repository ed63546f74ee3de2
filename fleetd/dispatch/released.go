package dispatch

import (
	"context"
	"slices"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/stop"
)

// letFor is how long a release is of interest to other fleetd instances: longer than any of
// them sends a stop, and than their clocks differ.
const letFor = 10 * time.Minute

// ReadReleased has the dispatcher call off what would hold stops that were released:
// by another instance, or before a restart. A fleetd instance that has no database hears of no
// release, and goes on to send a stop for half a minute.
func (d *Dispatcher) ReadReleased(ctx context.Context, db Store, now time.Time) error {
	let, err := db.ReleasedStops(ctx, now.Add(-letFor))
	if err == nil {
		d.post(event{kind: postReleased, released: let})
	}
	return err
}

// isReleased reports whether the stop that a command would hold was released. What
// was asked for under the same id since it was last persisted is another one.
func (d *Dispatcher) isReleased(c command.Command) bool {
	id := command.Holds(c)
	return id != "" && slices.ContainsFunc(d.released, func(l stop.Latch) bool {
		return l.ID == id && (l.Robot == c.Robot || l.Robot == "") && !c.CreatedAt.Truncate(time.Microsecond).After(l.AskedAt)
	})
}
