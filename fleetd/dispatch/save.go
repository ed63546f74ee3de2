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
	for len(d.batches) > 0 {
		within, cancel := context.WithTimeout(ctx, saveWithin)
		added, err := d.addBatch(within, db, d.batches[0])
		cancel()
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
	within, cancel := context.WithTimeout(ctx, saveWithin)
	defer cancel()
	for some := range slices.Chunk(rows, savedAtOnce) {
		if err := d.write(within, db, some); err != nil {
			d.deps.Failed("commands not saved", err)
			return false
		}
		for _, saved := range some {
			delete(d.dirty, d.open[saved.ID])
		}
	}
	d.dirty = map[*activeCommand]struct{}{} // a new one: a map that was cleared is as long to walk as it ever was
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
