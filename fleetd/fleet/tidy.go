package fleet

import (
	"context"
	"errors"
	"time"

	"troupe/fleetd/store"
)

const (
	// tidyEvery is the longest pause between two clean-ups.
	tidyEvery = time.Hour
	// keepSent is how long sent rows stay in the outbox, for people who investigate.
	keepSent = 24 * time.Hour
)

// tidy removes sent rows of the outbox, and files and blobs that nothing refers to.
func (f *Fleet) tidy(ctx context.Context, db *store.Store) {
	every := time.NewTicker(min(tidyEvery, f.cfg.KeepUnused/4))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			f.tidyNow(ctx, db, now)
		}
	}
}

func (f *Fleet) tidyNow(ctx context.Context, db *store.Store, now time.Time) {
	if !f.leadership.Leads() {
		return
	}
	_, sentErr := db.PruneSent(ctx, now.Add(-keepSent))
	_, filesErr := db.PruneFiles(ctx, now.Add(-f.cfg.KeepUnused))
	blobs, blobsErr := db.RemoveUnusedBlobs(ctx, now.Add(-f.cfg.KeepUnused), now)
	if err := errors.Join(sentErr, filesErr, blobsErr); err != nil {
		f.health.databaseFailed("old rows not removed", err)
	}
	if blobs > 0 {
		f.log.Info("blobs that no desired state needs are removed from the broker", "blobs", blobs)
		f.publisher.Wake()
	}
}
