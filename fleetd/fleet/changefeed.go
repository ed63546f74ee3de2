package fleet

import (
	"context"
	"time"

	"troupe/fleetd/store"
)

// newsEvery is how often a fleetd instance looks whether another one changed something.
const newsEvery = 250 * time.Millisecond

// news makes known here what other fleetd instances wrote to the database: robots, labels,
// desired documents and stops. One number tells whether there is anything to read.
func (f *Fleet) news(ctx context.Context, db *store.Store) {
	if db.Alone() {
		return
	}
	look := time.NewTicker(newsEvery)
	defer look.Stop()
	var known int64 // the number up to which all was read
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		n, err := db.News(ctx)
		if err != nil {
			f.databaseFailed("news not read", err)
			continue
		}
		f.databaseWell()
		if n.Changes == known {
			f.stops.Unchanged()
			continue
		}
		f.publisher.Wake()
		if err := f.refresh(ctx, db); err != nil {
			f.databaseFailed("fleet not read", err)
			continue
		}
		if err := f.dispatcher.ReadReleased(ctx, db, time.Now()); err != nil {
			f.databaseFailed("released stops not read", err)
			continue
		}
		if err := f.stops.Read(ctx, db); err != nil {
			f.databaseFailed("stops not read", err)
			continue
		}
		f.stops.Wake() // what waits here may be persisted by now
		known = n.Changes
	}
}
