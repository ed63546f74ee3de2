package dispatch

import (
	"context"
	"maps"
	"slices"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/stop"
)

// releaseInterest is how long other instances take notice of a release: longer than any of
// them sends a stop, and longer than their clocks differ.
const releaseInterest = 10 * time.Minute

// ReadReleased has the dispatcher end the commands that would latch stops which another
// instance released, or this one before a restart. An instance without a database learns of
// no release, and sends a stop for half a minute.
func (d *Dispatcher) ReadReleased(ctx context.Context, db Store, now time.Time) error {
	released, err := db.ReleasedStops(ctx, now.Add(-releaseInterest))
	if err == nil {
		d.post(event{kind: eventReleased, released: released})
	}
	return err
}

// releasedStops is when released stops were last requested, by id and robot ("" = all robots).
type releasedStops map[releasedKey]time.Time

type releasedKey struct{ id, robot string }

func releasedStopsOf(all []stop.Latch) releasedStops {
	requested := make(releasedStops, len(all))
	for _, l := range all {
		requested[releasedKey{l.ID, l.Robot}] = l.RequestedAt
	}
	return requested
}

// isReleased reports whether the stop that a command would latch was released. A newer stop
// under the same id, not persisted yet, is another one.
func (d *Dispatcher) isReleased(c command.Command) bool {
	id := command.StopID(c)
	if id == "" {
		return false
	}
	for _, robot := range []string{c.Robot, ""} {
		if at, is := d.released[releasedKey{id, robot}]; is && !c.CreatedAt.Truncate(time.Microsecond).After(at) {
			return true
		}
	}
	return false
}

// endReleased ends the commands that would latch a released stop.
func (d *Dispatcher) endReleased(ctx context.Context, now time.Time, latchesReleased func(command.Command) bool) {
	for _, c := range slices.SortedFunc(maps.Values(d.open), byAge) {
		if latchesReleased(c.Command) {
			d.step(ctx, now, c.ID, command.Event{Kind: command.Released})
		}
	}
}
