package dispatch

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"troupe/fleetd/command"
	"troupe/fleetd/store"
)

// save writes new batches and the states of commands, and reports whether the database has
// all of it.
func (d *Dispatcher) save(ctx context.Context) bool {
	if len(d.dirty) == 0 && len(d.batches) == 0 {
		return true
	}
	db, err := d.deps.Store()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, saveWithin)
	defer cancel()
	for len(d.batches) > 0 {
		added, err := d.addBatch(ctx, db, d.batches[0])
		if err != nil {
			d.deps.Failed("stop not persisted", err)
			return false
		}
		for c := range d.dirty {
			if added && c.handle == d.batches[0] { // it was written with their present states
				delete(d.dirty, c)
			}
		}
		d.batches = d.batches[1:]
	}
	var rows []command.Command
	for c := range d.dirty {
		if d.deps.Robots.Adopted(c.Robot) {
			rows = append(rows, c.Command)
		}
	}
	slices.SortFunc(rows, func(a, b command.Command) int { return cmp.Compare(a.ID, b.ID) })
	if len(rows) > 0 {
		if err := d.write(ctx, db, rows); err != nil {
			d.deps.Failed("commands not saved", err)
			return false
		}
	}
	clear(d.dirty)
	return true
}

// write saves commands. It skips those that the database has as final already, such as one that
// another instance ended, or has not at all.
func (d *Dispatcher) write(ctx context.Context, db Store, rows []command.Command) error {
	var conflict *store.ConflictError
	err := db.SaveCommands(ctx, rows)
	if errors.As(err, &conflict) {
		d.deps.Log.Warn("progress of commands not saved: the database has their end already, or does not have them", "commands", conflict.IDs)
		return nil
	}
	return err
}
