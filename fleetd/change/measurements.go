package change

import (
	"context"
	"time"

	"troupe/fleetd/measure"
	"troupe/fleetd/store"
)

// minuteRange is the longest time of which points of minutes are read: a longer one has more of them than a curve shows.
const minuteRange = 14 * 24 * time.Hour

// Measurements reads what was measured of robots.
type Measurements struct {
	Deps
	KeepMinutes time.Duration // how long points of minutes are kept; negative = for ever
}

// Of lists the points of a robot that begin at or after since and before until, in the order of time, and the length of the
// interval of each in seconds: a minute, or 15 minutes if since is earlier than minutes are kept or the time is long.
func (m *Measurements) Of(ctx context.Context, robot string, since, until time.Time) (points []measure.Point, lengthS int64, err error) {
	kept := m.KeepMinutes < 0 || !since.Before(m.Now().Add(-m.KeepMinutes))
	quarters := !kept || until.Sub(since) > minuteRange
	if lengthS = measure.MinuteS; quarters {
		lengthS = measure.QuarterS
	}
	points, err = read(&m.Deps, func(db *store.Store) ([]measure.Point, error) {
		return db.Measurements(ctx, robot, since, until, quarters)
	})
	return points, lengthS, err
}

// OfFleet calls take with points of all robots, in no order.
func (m *Measurements) OfFleet(ctx context.Context, since, until time.Time, take func(robot string, p measure.Point)) error {
	_, err := read(&m.Deps, func(db *store.Store) (struct{}, error) {
		return struct{}{}, db.FleetMeasurements(ctx, since, until, take)
	})
	return err
}
