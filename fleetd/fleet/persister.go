package fleet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"troupe/fleetd/store"
)

const (
	// saveEvery gathers what robots said before it is written.
	saveEvery = 500 * time.Millisecond
	// maxEvents bounds the events that wait for the database; beyond it the
	// oldest are given up, and counted.
	maxEvents = 20_000
	// keepAside is how long a fleetd instance that follows keeps events, in case the one that
	// leads is gone before it has written them.
	keepAside = time.Minute
	// eventsAtOnce bounds one transaction.
	eventsAtOnce = 1000
	// tidyEvery is how often, at least, what is too old is removed.
	tidyEvery = time.Hour
	// keepSent is how long sent rows of the outbox stay, for people who look.
	keepSent = 24 * time.Hour
)

// persister writes behind what robots say: the newest document of each kind, and
// every event once. Nothing of it is a promise to anybody, so it may be late,
// and robots never wait for it. Of several fleetd instances the one that leads writes.
type persister struct {
	f       *Fleet
	mu      sync.Mutex
	events  []store.Event
	dropped atomic.Int64
}

// event takes in one event; it waits for nothing.
func (k *persister) event(e store.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.events) >= maxEvents {
		k.events = k.events[1:]
		k.dropped.Add(1)
	}
	k.events = append(k.events, e)
}

func (k *persister) run(ctx context.Context, db *store.Store) {
	save, tidy := time.NewTicker(saveEvery), time.NewTicker(min(tidyEvery, k.f.cfg.KeepUnused/4))
	defer save.Stop()
	defer tidy.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
			k.save(last, db)
			cancel()
			return
		case <-save.C:
			k.save(ctx, db)
		case now := <-tidy.C:
			k.tidy(ctx, db, now)
		}
	}
}

// save writes all that waits. What the database does not take waits on.
func (k *persister) save(ctx context.Context, db *store.Store) {
	if !k.f.leadership.leads() {
		if k.f.leadership.followed() {
			k.forget(time.Now().Add(-keepAside))
		}
		return
	}
	if k.f.cfg.Dev {
		k.adoptUnknownRobots(ctx, db)
	}
	if documents := k.f.hub.unsavedDocuments(); len(documents) > 0 {
		if err := db.SaveDocuments(ctx, documents); err != nil {
			k.f.hub.notSaved(documents)
			k.f.databaseFailed("documents not saved", err)
			return
		}
	}
	for {
		batch := k.take()
		if len(batch) == 0 {
			break
		}
		if err := db.AddEvents(ctx, batch); err != nil {
			k.giveBack(batch)
			k.f.databaseFailed("events not saved", err)
			return
		}
	}
	k.f.databaseWell()
}

// adoptUnknownRobots makes every robot known that has shown itself.
func (k *persister) adoptUnknownRobots(ctx context.Context, db *store.Store) {
	for _, id := range k.f.hub.unknownRobots() {
		if k.f.TakenBy(id) != "" {
			continue // a person who asks for it is told why not
		}
		if err := k.f.adopt(ctx, db, id, time.Now()); err != nil {
			k.f.databaseFailed("robot not adopted", err)
			return
		}
	}
}

// take hands out the oldest events of adopted robots; those of unknown clients are
// nobody's history and are left out.
func (k *persister) take() []store.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []store.Event
	for len(k.events) > 0 && len(out) < eventsAtOnce {
		if e := k.events[0]; k.f.hub.adopted(e.Robot) {
			out = append(out, e)
		}
		k.events = k.events[1:]
	}
	return out
}

// forget leaves out the events that came before then: another instance wrote them.
func (k *persister) forget(then time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := slices.IndexFunc(k.events, func(e store.Event) bool { return !e.ReceivedAt.Before(then) })
	if old < 0 {
		old = len(k.events)
	}
	k.events = k.events[old:]
}

func (k *persister) giveBack(events []store.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(events, k.events...)
	if over := len(k.events) - maxEvents; over > 0 {
		k.events = k.events[over:]
		k.dropped.Add(int64(over))
	}
}

func (k *persister) tidy(ctx context.Context, db *store.Store, now time.Time) {
	if !k.f.leadership.leads() {
		return
	}
	_, sent := db.ForgetSent(ctx, now.Add(-keepSent))
	_, files := db.ForgetFiles(ctx, now.Add(-k.f.cfg.KeepUnused))
	blobs, told := db.ForgetBlobs(ctx, now.Add(-k.f.cfg.KeepUnused), now)
	if err := errors.Join(sent, files, told); err != nil {
		k.f.databaseFailed("old rows not removed", err)
	}
	if blobs > 0 {
		k.f.log.Info("the broker is to forget blobs that no desired state needs", "blobs", blobs)
		signal(k.f.outbox.wake)
	}
}
