// Package auditqueue writes audit entries that belong to no transaction: requests that were refused or failed, successful
// ones that wrote no entry, and flight records that were sent or downloaded. It writes them soon, and no more than the audit has room
// for, so that nobody fills the disk with them.
package auditqueue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"troupe/fleetd/audit"
	"troupe/fleetd/store"
)

const (
	// Each source may have burst entries at once, and perSecond on average.
	perSecond = 0.2
	burst     = 20
	// All sources together may have allBurst at once, and allPerSecond on average: some
	// 200,000 a day, or 100 MB.
	allPerSecond = 2
	allBurst     = 200
	// maxSources bounds the sources that are counted separately; further ones share one limit.
	maxSources = 1000
	// every is how often entries are written, and tellEvery how often the audit says how many were left out.
	every     = 500 * time.Millisecond
	tellEvery = time.Minute
	// lastWrite bounds the write at shutdown.
	lastWrite = 2 * time.Second
)

// Deps is what a Queue needs.
type Deps struct {
	Name   string // of this instance
	Now    func() time.Time
	Failed func(what string, err error) // records a failure of the database
}

// Queue keeps entries until they are written.
type Queue struct {
	deps Deps

	mu      sync.Mutex
	all     *rate.Limiter
	sources map[string]*rate.Limiter
	waiting []entry   // not written yet
	dropped int       // entries that were not recorded since told
	told    time.Time // when the audit was last told how many were left out
}

type entry struct {
	at   time.Time
	note audit.Note
}

// New makes an empty queue.
func New(d Deps) *Queue {
	return &Queue{deps: d, all: rate.NewLimiter(allPerSecond, allBurst), sources: map[string]*rate.Limiter{}}
}

// Add keeps an entry to be written soon, unless there are too many. It does not block.
func (q *Queue) Add(n audit.Note) {
	now := q.deps.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.source(n.Principal+" "+n.Address).AllowN(now, 1) || !q.all.AllowN(now, 1) || len(q.waiting) >= 2*allBurst {
		q.dropped++
		return
	}
	q.waiting = append(q.waiting, entry{now, n})
}

func (q *Queue) source(name string) *rate.Limiter {
	if q.sources[name] == nil && len(q.sources) >= maxSources {
		name = "others"
	}
	if q.sources[name] == nil {
		q.sources[name] = rate.NewLimiter(perSecond, burst)
	}
	return q.sources[name]
}

// Run writes until ctx ends.
func (q *Queue) Run(ctx context.Context, db *store.Store) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
			q.write(last, db, true)
			cancel()
			return
		case <-tick.C:
			q.write(ctx, db, false)
		}
	}
}

func (q *Queue) write(ctx context.Context, db *store.Store, last bool) {
	q.mu.Lock()
	waiting, dropped, now := q.waiting, q.dropped, q.deps.Now()
	if !last && now.Sub(q.told) < tellEvery {
		dropped = 0
	}
	for name, l := range q.sources { // those that were quiet for long are forgotten
		if l.TokensAt(now) >= burst {
			delete(q.sources, name)
		}
	}
	q.mu.Unlock()
	notes := waiting
	if dropped > 0 {
		notes = append(notes[:len(notes):len(notes)], entry{now, audit.Note{
			Source: audit.Source{Via: audit.ViaFleetd}, Who: q.deps.Name, What: audit.ActionRequests, Target: "audit",
			Detail:  fmt.Sprintf("%d more refused requests and flight records were not recorded: there were too many", dropped),
			Outcome: audit.Refused,
		}})
	}
	if len(notes) == 0 {
		return
	}
	if err := db.Tx(ctx, func(tx *store.Tx) error {
		for _, e := range notes {
			if err := tx.Note(ctx, e.at, e.note); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		q.deps.Failed("audit entries not written", err) // they are written with the next ones
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting, q.dropped = q.waiting[len(waiting):], q.dropped-dropped
	if dropped > 0 {
		q.told = now
	}
}
