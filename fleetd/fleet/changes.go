package fleet

import (
	"context"
	"time"

	"troupe/fleetd/store"
	"troupe/fleetd/view"
)

// changesEvery is how often an instance checks whether another one changed the database.
const changesEvery = 250 * time.Millisecond

// followChanges takes over what other instances write to the database: robots, labels,
// desired documents and stops. One statement shows whether there is anything to read, and of
// which robots.
func (f *Fleet) followChanges(ctx context.Context, db *store.Store) {
	if db.SingleInstance() {
		return
	}
	look := time.NewTicker(changesEvery)
	defer look.Stop()
	var known store.PollResult // up to which everything was read
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		n, err := db.Poll(ctx, known)
		if err != nil {
			f.health.databaseFailed("changes of other instances not read", err)
			continue
		}
		if !f.health.databaseOK() && db.CheckWrite(ctx) == nil { // the read alone proves no writes
			f.health.databaseWell()
		}
		if n.Changes == known.Changes {
			f.stops.MarkCurrent()
			continue
		}
		f.publisher.Wake()
		if err := readChanged(ctx, f.view, db, n); err != nil {
			f.health.databaseFailed("robots not read", err)
			continue
		}
		if err := f.dispatcher.ReadReleased(ctx, db, time.Now()); err != nil {
			f.health.databaseFailed("released stops not read", err)
			continue
		}
		if err := f.stops.Read(ctx, db); err != nil {
			f.health.databaseFailed("stops not read", err)
			continue
		}
		f.stops.PersistNow() // another instance may have persisted what waits here
		known = n
	}
}

// readChanged reads the robots that changed. The view forgets robots only when it reads all.
func readChanged(ctx context.Context, v *view.View, db view.Database, n store.PollResult) error {
	if n.All {
		return v.Reload(ctx, db)
	}
	return v.Refresh(ctx, db, n.Robots)
}

// changed announces a committed transaction: the view reads the robots that it touched, and
// the publisher reads the outbox.
func (f *Fleet) changed(ctx context.Context, touched []string) {
	f.publisher.Wake()
	f.revocations.Wake()
	f.decommissions.Wake()
	f.rollouts.Wake()
	db, err := f.Store()
	if err != nil {
		return
	}
	if err := f.view.Refresh(context.WithoutCancel(ctx), db, touched); err != nil {
		f.health.databaseFailed("robots not read", err)
	}
}
