package change

import (
	"context"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/command"
	"troupe/fleetd/store"
)

// Commands reads commands, and notes what people do to those that were issued already.
type Commands struct{ Deps }

// CommandQuery selects commands.
type CommandQuery = store.CommandQuery

// Get returns one command.
func (c *Commands) Get(ctx context.Context, id string) (command.Command, error) {
	return read(&c.Deps, func(db *store.Store) (command.Command, error) { return db.Command(ctx, id) })
}

// List lists commands, the newest first.
func (c *Commands) List(ctx context.Context, q CommandQuery) ([]command.Command, error) {
	return read(&c.Deps, func(db *store.Store) ([]command.Command, error) { return db.Commands(ctx, q) })
}

// Batch returns a batch with its commands.
func (c *Commands) Batch(ctx context.Context, id string) (b command.Batch, rows []command.Command, err error) {
	rows, err = read(&c.Deps, func(db *store.Store) (_ []command.Command, err error) {
		if b, err = db.Batch(ctx, id); err != nil {
			return nil, err
		}
		return db.Commands(ctx, CommandQuery{Batch: id, Limit: max(1, b.Total)})
	})
	return b, rows, err
}

// Batches lists the newest batches; with sites only those with commands to robots with one
// of these sites, of which Total is the number.
func (c *Commands) Batches(ctx context.Context, limit int, sites []string) ([]command.Batch, error) {
	return read(&c.Deps, func(db *store.Store) ([]command.Batch, error) {
		return db.Batches(ctx, store.BatchQuery{Limit: limit, Sites: sites})
	})
}

// BatchesByID returns the batches with these ids.
func (c *Commands) BatchesByID(ctx context.Context, ids []string) ([]command.Batch, error) {
	return read(&c.Deps, func(db *store.Store) ([]command.Batch, error) { return db.BatchesByID(ctx, ids) })
}

// NoteCancelled notes that a command was cancelled before it was sent.
func (c *Commands) NoteCancelled(ctx context.Context, p auth.Principal, id string, by audit.Attribution) error {
	return c.transact(ctx, p, func(tx *store.Tx) error {
		return tx.Note(ctx, c.Now(), audit.Note{Who: by.Who, What: audit.ActionCancel, Target: "command " + id, Why: by.Why})
	})
}
