package view

import (
	"context"
	"slices"

	"troupe/fleetd/selector"
	"troupe/fleetd/store"
)

// Database is where a View reads the rows of robots.
type Database interface {
	Robots(ctx context.Context, s selector.Selector) ([]store.Robot, error)
}

// Reload reads the rows of all robots, and forgets the robots that have none any more.
func (v *View) Reload(ctx context.Context, db Database) error {
	v.lastReadFailed.Store(false)
	read := v.reads.Add(1)
	rows, err := db.Robots(ctx, selector.All())
	if err != nil {
		v.lastReadFailed.Store(true)
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.recordRows(read, rows)
	for id, e := range v.robots {
		if e.adopted && e.read < read {
			v.forget(id)
		}
	}
	v.reloaded = max(v.reloaded, read)
	return nil
}

// Refresh reads the rows of these robots. It removes none: a change that removes a robot from the
// fleet calls Reload. If the last read failed, it reads all.
func (v *View) Refresh(ctx context.Context, db Database, robots []string) error {
	if v.lastReadFailed.Load() {
		return v.Reload(ctx, db)
	}
	read := v.reads.Add(1)
	for ids := range slices.Chunk(robots, selector.MaxIDs) {
		rows, err := db.Robots(ctx, selector.IDs(ids...))
		if err != nil {
			v.lastReadFailed.Store(true)
			return err
		}
		v.mu.Lock()
		v.recordRows(read, rows)
		v.mu.Unlock()
	}
	return nil
}

// recordRows takes rows of the database into the view. Reads may overtake each other:
// every commit is followed by a read that begins after it, so of two reads that show a robot the
// one that began later is taken. It is called under the lock.
func (v *View) recordRows(read int64, rows []store.Robot) {
	for _, r := range rows {
		e := v.robots[r.ID]
		known := e != nil && e.adopted
		if known && e.read > read || !known && v.reloaded > read { // a later read has shown it, or that it has no row
			continue
		}
		e = v.ensureEntry(r.ID)
		same := known && sameRobot(e.dbRow, r)
		e.adopted, e.dbRow, e.read = true, r, read
		if !same {
			v.updateSummary(r.ID, e)
		}
	}
}

// Loaded reports whether the robots were read from the database.
func (v *View) Loaded() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reloaded > 0
}
