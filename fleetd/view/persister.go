package view

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// saveEvery is how often documents and events are written.
	saveEvery = 500 * time.Millisecond
	// maxEvents bounds the events that wait for the database; beyond it events are dropped and
	// counted, see discard.
	maxEvents = 20_000
	// discardAtOnce is how many are dropped at once then, because that searches all of them.
	discardAtOnce = maxEvents / 20
	// maxRoutineEvents bounds the queue for events that come with every act: they displace no
	// others.
	maxRoutineEvents = maxEvents / 2
	// keepEventsFor is how long a follower keeps events, in case the leader ends before it
	// has written them.
	keepEventsFor = time.Minute
	// eventsAtOnce and documentsAtOnce bound one transaction: commands wait for it to be saved.
	eventsAtOnce    = 1000
	documentsAtOnce = 2000
	// lastWrite bounds the write at shutdown.
	lastWrite = 2 * time.Second
)

// Persister writes robots' documents and events to the database in the background: the newest
// document of each kind, and every event once. Nobody was promised that they are persisted,
// so writes may be late, and robots never wait for them. The leader writes.
type Persister struct {
	deps    PersisterDeps
	view    *View
	dropped atomic.Int64

	mu     sync.Mutex // a leaf: held while the queue changes, and never during a call
	events []store.Event
}

// PersisterDeps is what a Persister needs.
type PersisterDeps struct {
	Now func() time.Time
	// Leads reports whether this instance leads, and AnotherLeads whether another one does.
	Leads, AnotherLeads func() bool
	// Adopt adopts unknown robots that have published their presence; nil if only people do that.
	Adopt func(ctx context.Context, robots []string) error
	// Failed records a failure of the database, and Worked that a write succeeded. Works reports
	// whether no part of fleetd has recorded a failure since.
	Failed func(what string, err error)
	Worked func()
	Works  func() bool
}

// Store is the part of the database that a Persister writes.
type Store interface {
	SaveDocuments(ctx context.Context, documents []store.Document) error
	AddEvents(ctx context.Context, events []store.Event) error
	CheckWrite(ctx context.Context) error
}

// NewPersister makes a persister of a view.
func NewPersister(v *View, d PersisterDeps) *Persister { return &Persister{deps: d, view: v} }

// Dropped is how many events were dropped.
func (k *Persister) Dropped() int64 { return k.dropped.Load() }

// Event queues one event; it does not block.
func (k *Persister) Event(e store.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.Routine && len(k.events) >= maxRoutineEvents {
		k.dropped.Add(1)
		return
	}
	k.events = append(k.events, e)
	k.discard()
}

// discard drops events if too many wait: routine ones first, then others of level info, then the
// rest, and of each the oldest first.
func (k *Persister) discard() {
	over := len(k.events) - maxEvents
	if over <= 0 {
		return
	}
	over = max(over, discardAtOnce)
	k.dropped.Add(int64(over))
	isInfo := func(e store.Event) bool { return e.Level == string(schema.EventInfo) || e.Level == "" }
	for _, unimportant := range []func(store.Event) bool{
		func(e store.Event) bool { return e.Routine }, isInfo, func(store.Event) bool { return true },
	} {
		k.events = slices.DeleteFunc(k.events, func(e store.Event) bool {
			if over == 0 || !unimportant(e) {
				return false
			}
			over--
			return true
		})
	}
}

// Run writes until ctx ends.
func (k *Persister) Run(ctx context.Context, db Store) {
	save := time.NewTicker(saveEvery)
	defer save.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
			k.save(last, db)
			cancel()
			return
		case <-save.C:
			k.save(ctx, db)
		}
	}
}

// save writes all that waits. What the database does not take is tried again.
func (k *Persister) save(ctx context.Context, db Store) {
	if !k.deps.Leads() {
		if k.deps.AnotherLeads() {
			k.forget(k.deps.Now().Add(-keepEventsFor))
		}
		return
	}
	adopted := k.deps.Adopt == nil || k.adoptUnknownRobots(ctx)
	wrote := false
	for documents := k.view.unsavedDocuments(); len(documents) > 0; wrote = true {
		some := documents[:min(len(documents), documentsAtOnce)]
		if err := db.SaveDocuments(ctx, some); err != nil {
			k.view.notSaved(documents)
			k.deps.Failed("documents not saved", err)
			return
		}
		documents = documents[len(some):]
	}
	for {
		batch := k.take()
		if len(batch) == 0 {
			break
		}
		if err := db.AddEvents(ctx, batch); err != nil {
			k.giveBack(batch)
			k.deps.Failed("events not saved", err)
			return
		}
		wrote = true
	}
	// After a failure that any part reported, a fleet in which nothing changes needs a write of its own.
	if wrote || adopted && !k.deps.Works() && db.CheckWrite(ctx) == nil {
		k.deps.Worked()
	}
}

// adoptUnknownRobots adopts every unknown robot that has published its presence. It reports
// whether none failed.
func (k *Persister) adoptUnknownRobots(ctx context.Context) bool {
	unknown := k.view.unknownRobots()
	if len(unknown) == 0 {
		return true
	}
	err := k.deps.Adopt(ctx, unknown)
	if err != nil {
		k.deps.Failed("robots not adopted", err)
	}
	return err == nil
}

// take takes the oldest events of adopted robots, and drops those of unknown ones. It is
// empty if none is left.
func (k *Persister) take() []store.Event {
	for {
		oldest := k.oldest()
		if len(oldest) == 0 {
			return nil
		}
		unknown := func(e store.Event) bool { return !k.view.Adopted(e.Robot) }
		if known := slices.DeleteFunc(oldest, unknown); len(known) > 0 {
			return known
		}
	}
}

// oldest takes the oldest events from the queue.
func (k *Persister) oldest() []store.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := min(len(k.events), eventsAtOnce)
	oldest := slices.Clone(k.events[:n])
	k.events = k.events[n:]
	return oldest
}

// forget drops the events from before then: the leader has written them.
func (k *Persister) forget(then time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := slices.IndexFunc(k.events, func(e store.Event) bool { return !e.ReceivedAt.Before(then) })
	if old < 0 {
		old = len(k.events)
	}
	k.events = k.events[old:]
}

func (k *Persister) giveBack(events []store.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(events, k.events...)
	k.discard()
}
