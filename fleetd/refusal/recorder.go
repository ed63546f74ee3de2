// Package refusal writes audit entries that belong to no transaction: refused requests, and flight
// records that were sent or downloaded. It writes them soon, and no more than the audit has room
// for, so that nobody fills the disk with them.
package refusal

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
	// maxSources bounds the sources that are told apart; further ones share one limit.
	maxSources = 1000
	// every is how often entries are written, and tellEvery how often the audit says how many were left out.
	every     = 500 * time.Millisecond
	tellEvery = time.Minute
	// lastWrite bounds the write at shutdown.
	lastWrite = 2 * time.Second
)

// Deps is what a Recorder needs.
type Deps struct {
	Name   string // of this instance
	Now    func() time.Time
	Failed func(what string, err error) // records a failure of the database
}

// Recorder keeps entries until they are written.
type Recorder struct {
	deps Deps

	mu      sync.Mutex
	all     *rate.Limiter
	sources map[string]*rate.Limiter
	came    []entry
	left    int       // entries that were not recorded since told
	told    time.Time // when the audit was last told how many were left out
}

type entry struct {
	at   time.Time
	note audit.Note
}

// New makes a recorder.
func New(d Deps) *Recorder {
	return &Recorder{deps: d, all: rate.NewLimiter(allPerSecond, allBurst), sources: map[string]*rate.Limiter{}}
}

// Record keeps an entry to be written soon, unless there are too many. It does not block.
func (r *Recorder) Record(n audit.Note) {
	now := r.deps.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.source(n.Principal+" "+n.Address).AllowN(now, 1) || !r.all.AllowN(now, 1) || len(r.came) >= 2*allBurst {
		r.left++
		return
	}
	r.came = append(r.came, entry{now, n})
}

func (r *Recorder) source(name string) *rate.Limiter {
	if r.sources[name] == nil && len(r.sources) >= maxSources {
		name = "others"
	}
	if r.sources[name] == nil {
		r.sources[name] = rate.NewLimiter(perSecond, burst)
	}
	return r.sources[name]
}

// Run writes until ctx ends.
func (r *Recorder) Run(ctx context.Context, db *store.Store) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
			r.write(last, db, true)
			cancel()
			return
		case <-tick.C:
			r.write(ctx, db, false)
		}
	}
}

func (r *Recorder) write(ctx context.Context, db *store.Store, last bool) {
	r.mu.Lock()
	came, left, now := r.came, r.left, r.deps.Now()
	if !last && now.Sub(r.told) < tellEvery {
		left = 0
	}
	for name, l := range r.sources { // those that were quiet for long are forgotten
		if l.TokensAt(now) >= burst {
			delete(r.sources, name)
		}
	}
	r.mu.Unlock()
	notes := came
	if left > 0 {
		notes = append(notes[:len(notes):len(notes)], entry{now, audit.Note{
			Source: audit.Source{Via: audit.ViaFleetd}, Who: r.deps.Name, What: "requests", Target: "audit",
			Detail: fmt.Sprintf("%d more refused requests and flight records were not recorded: there were too many", left), Outcome: audit.Refused,
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
		r.deps.Failed("audit entries not written", err) // they are written with the next ones
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came, r.left = r.came[len(came):], r.left-left
	if left > 0 {
		r.told = now
	}
}
