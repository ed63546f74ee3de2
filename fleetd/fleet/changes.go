package fleet

import (
	"context"
	"time"

	"troupe/fleetd/store"
)

// changesEvery is how often an instance checks whether another one changed the database.
const changesEvery = 250 * time.Millisecond

// followChanges takes over what other instances write to the database: robots, labels,
// desired documents and stops. One number shows whether there is anything to read.
func (f *Fleet) followChanges(ctx context.Context, db *store.Store) {
	if db.SingleInstance() {
		return
	}
	look := time.NewTicker(changesEvery)
	defer look.Stop()
	var known int64 // the change up to which everything was read
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		n, err := db.Poll(ctx)
		if err != nil {
			f.health.databaseFailed("news not read", err)
			continue
		}
		f.health.databaseWell()
		if n.Changes == known {
			f.stops.Unchanged()
			continue
		}
		f.publisher.Wake()
		if err := f.view.Reload(ctx, db); err != nil {
			f.health.databaseFailed("fleet not read", err)
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
		f.stops.Wake() // another instance may have persisted what waits here
		known = n.Changes
	}
}

// changed announces a committed transaction: the view reads the robots that it touched, and
// the publisher reads the outbox.
func (f *Fleet) changed(ctx context.Context, touched []string) {
	f.publisher.Wake()
	f.revocations.Wake()
	db, err := f.Store()
	if err != nil {
		return
	}
	if err := f.view.Refresh(context.WithoutCancel(ctx), db, touched); err != nil {
		f.health.databaseFailed("fleet not read", err)
	}
}
