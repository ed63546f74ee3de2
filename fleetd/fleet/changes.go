package fleet

import (
	"context"
	"time"

	"troupe/fleetd/selector"
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
			f.health.databaseFailed("news not read", err)
			continue
		}
		f.health.databaseWell()
		if n.Changes == known {
			f.stops.Unchanged()
			continue
		}
		f.publisher.Wake()
		if err := f.refresh(ctx, db); err != nil {
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
		f.stops.Wake() // what waits here may be persisted by now
		known = n.Changes
	}
}

// Changed makes known what a transaction changed: labels and desired documents to the view,
// the outbox to the broker.
func (f *Fleet) Changed(ctx context.Context) {
	f.publisher.Wake()
	f.revocations.Wake()
	db, err := f.Store()
	if err != nil {
		return
	}
	if err := f.refresh(context.WithoutCancel(ctx), db); err != nil {
		f.health.databaseFailed("fleet not read", err)
	}
}

// refresh reads what the database knows of robots into the view.
func (f *Fleet) refresh(ctx context.Context, db *store.Store) error {
	f.knowing.Lock()
	defer f.knowing.Unlock()
	robots, err := db.Robots(ctx, selector.All())
	if err != nil {
		return err
	}
	f.view.Sync(robots)
	f.labelled.Store(true)
	return nil
}

// Adopt makes a robot known to the fleet.
func (f *Fleet) Adopt(ctx context.Context, id string) error {
	db, err := f.Store()
	if err != nil {
		return err
	}
	return f.adopt(ctx, db, id, time.Now())
}

func (f *Fleet) adopt(ctx context.Context, db *store.Store, id string, now time.Time) error {
	added, err := db.AddRobot(ctx, id, now)
	if err != nil {
		return err
	}
	if added {
		f.log.Info("robot is known from now on", "robot", id)
	}
	f.knowing.Lock()
	defer f.knowing.Unlock()
	robot, err := db.Robot(ctx, id)
	if err != nil {
		return err
	}
	f.view.Known([]store.Robot{robot})
	return nil
}
