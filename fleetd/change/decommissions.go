package change

import (
	"context"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/decommission"
	"troupe/fleetd/store"
)

// Decommissions removes robots from the fleet. A decommission continues in the background, step
// by step; here it only begins.
type Decommissions struct{ Deps }

// Begin begins to remove a robot. ErrConflict: it is being removed already.
func (d *Decommissions) Begin(ctx context.Context, p auth.Principal, robot string,
	by audit.Attribution) (begun decommission.Decommission, err error) {
	now := d.Now()
	err = d.transact(ctx, p, func(tx *store.Tx) error {
		if err := tx.BeginDecommission(ctx, robot, by.Who, by.Why, now); err != nil {
			return err
		}
		if begun, err = tx.Decommission(ctx, robot); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionDecommission, Target: "robot " + robot, Why: by.Why})
	})
	if err == nil {
		d.Changed(ctx, []string{robot})
	}
	return begun, err
}

// Of returns the newest decommission of a robot.
func (d *Decommissions) Of(ctx context.Context, robot string) (decommission.Decommission, error) {
	return read(&d.Deps, func(db *store.Store) (decommission.Decommission, error) { return db.Decommission(ctx, robot) })
}

// List lists every removal, also those that are over.
func (d *Decommissions) List(ctx context.Context) ([]decommission.Decommission, error) {
	return read(&d.Deps, func(db *store.Store) ([]decommission.Decommission, error) { return db.Decommissions(ctx, true) })
}

// DeleteDocuments has the retained documents of an unknown robot deleted from the broker.
func (d *Decommissions) DeleteDocuments(ctx context.Context, p auth.Principal, robot string, by audit.Attribution) error {
	now := d.Now()
	err := d.transact(ctx, p, func(tx *store.Tx) error {
		if err := tx.EnqueueDeletions(ctx, robot, now); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionDeleteDocuments, Target: "documents of robot " + robot, Why: by.Why})
	})
	if err == nil {
		d.Changed(ctx, nil)
	}
	return err
}
