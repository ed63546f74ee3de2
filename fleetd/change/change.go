package change

import (
	"context"
	"errors"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
)

// Errors that callers distinguish, all but one of the database.
var (
	ErrNotFound       = store.ErrNotFound       // nothing of this name is stored
	ErrConflict       = store.ErrConflict       // somebody else changed it
	ErrBusy           = store.ErrBusy           // too many concurrent changes; nothing was changed
	ErrSealKey        = vault.ErrSealKey        // the key that seals the secrets of receivers cannot be read
	ErrOutcomeUnknown = store.ErrOutcomeUnknown // it is unknown whether the change was committed
)

// WithQueryTimeout returns a context that bounds how long each answer of the database takes.
func WithQueryTimeout(ctx context.Context, d time.Duration) context.Context {
	return store.WithQueryTimeout(ctx, d)
}

// Deps is what changes need of the running fleetd.
type Deps struct {
	Now func() time.Time
	// Store returns the database, or an error while it is not open.
	Store func() (*store.Store, error)
	// Changed is called after a commit: the view reads the robots whose rows it touched (nil = none),
	// and what works off the outbox, revocations and decommissions begins.
	Changed func(ctx context.Context, touched []string)
	// Catalogue lists the sounds and faces that the fleet's robots have.
	Catalogue func() library.Catalogue
	// Caps returns the capabilities that a robot has published; nil = none yet.
	Caps library.CapsOf
	// TakenBy says to whom a name belongs that no robot may have; empty = nobody.
	TakenBy func(name string) string
}

// UnknownRobots says that a selector names robots that do not belong to the fleet.
type UnknownRobots struct{ IDs []string }

func (e *UnknownRobots) Error() string { return "the selector names unknown robots" }

// errRefused rolls back a transaction whose plan found problems. It does not leave the
// package: the problems do.
var errRefused = errors.New("refused")

// transact runs a transaction for a principal. do may run several times.
func (d *Deps) transact(ctx context.Context, p auth.Principal, do func(tx *store.Tx) error) error {
	db, err := d.Store()
	if err != nil {
		return err
	}
	return db.Tx(ctx, func(tx *store.Tx) error {
		tx.ActFor(p)
		return do(tx)
	})
}

// read reads from the database without a transaction.
func read[T any](d *Deps, do func(db *store.Store) (T, error)) (found T, err error) {
	db, err := d.Store()
	if err != nil {
		return found, err
	}
	return do(db)
}

// query runs a transaction that only reads.
func (d *Deps) query(ctx context.Context, do func(tx *store.Tx) error) error {
	return d.transact(ctx, auth.Principal{}, do)
}

// applyPlan reads rows of the library (robots are the robots of the plan), runs the plan over them and writes its
// changes, in one transaction. Without changes it writes nothing.
func (d *Deps) applyPlan(ctx context.Context, p auth.Principal, read library.Reading, robots selector.Selector,
	plan func(*store.Tx, library.Rows, time.Time) (library.Changes, error)) error {
	changed := false
	var touched []string
	err := d.transact(ctx, p, func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(ctx, read, robots)
		if err != nil {
			return err
		}
		now := d.Now()
		rows.Catalogue = d.Catalogue()
		changes, err := plan(tx, rows, now)
		if err != nil {
			return err
		}
		if changed = !changes.Empty(); !changed {
			return nil
		}
		touched = touched[:0]
		for _, one := range changes.Defaults {
			touched = append(touched, one.Robot)
		}
		for _, one := range changes.Sets {
			touched = append(touched, one.Robot)
		}
		return tx.Apply(ctx, changes, now)
	})
	if errors.Is(err, errRefused) {
		return nil
	}
	if err == nil && changed {
		d.Changed(ctx, touched)
	}
	return err
}

// matching returns the robots that match a selector, or an UnknownRobots error if it names
// others.
func matching(ctx context.Context, tx *store.Tx, sel selector.Selector) (robots []string, err error) {
	rows, err := tx.Robots(ctx, sel)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		robots = append(robots, r.ID)
	}
	return robots, checkKnown(sel, rows)
}

// checkKnown returns an UnknownRobots error if a selector names robots without rows.
func checkKnown(sel selector.Selector, rows []store.Robot) error {
	known := map[string]bool{}
	for _, r := range rows {
		known[r.ID] = true
	}
	var unknown []string
	for _, id := range sel.IDs {
		if !known[id] {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return &UnknownRobots{unknown}
	}
	return nil
}
