package replica

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"troupe/fleetd/leader"
	"troupe/fleetd/store"
)

const (
	// provenEvery is how often the leader checks that it still holds the lock.
	provenEvery = 250 * time.Millisecond
	// askEvery is about how often a follower tries to take the lock.
	askEvery = time.Second
	// askWithin bounds one attempt to take it.
	askWithin = 5 * time.Second
	// endWithin bounds each query of the database during shutdown.
	endWithin = 2 * time.Second
)

// Leadership is this instance's side of the leader election. One goroutine takes and holds
// the lock in the database, and opens and closes the leader's connection. All that only the
// leader may write checks Leads first.
type Leadership struct {
	deps Deps
	wake chan struct{}

	mu     sync.Mutex
	facts  leader.Facts
	conn   Conn            // nil unless this instance leads, or led last
	logged leader.Decision // the decision that was logged last
	since  time.Time       // when its role began

	lock *store.LeaderLock // owned by Run; nil while this instance does not hold the lock
}

// Deps is what a Leadership needs.
type Deps struct {
	Log     *slog.Logger
	Name    string // of this instance
	Now     func() time.Time
	Store   func() (Store, error)              // the database, or why there is none
	Session func() string                      // of fleetd's own connection; empty while it is down
	Open    func(session string) (Conn, error) // opens the leader's connection
}

// Store is the database with the lock.
type Store interface {
	TryLead(ctx context.Context, name string, now time.Time) (*store.LeaderLock, store.Leader, error)
	SingleInstance() bool
}

// Conn is the connection on which the leader writes.
type Conn interface {
	Up() bool
	Session() string
	// StillTrue reports whether the connection is up, no other instance has published a presence
	// since, and that presence names session, the one of fleetd's main connection now. Then a former
	// leader keeps the connection open, so that its will still announces that fleetd is lost.
	StillTrue(session string) bool
	// Close publishes that fleetd is offline, and closes the connection. Only the leader may call it.
	Close()
	// Cut closes the connection so that the broker publishes the last will, unless another instance
	// has published its presence.
	Cut()
}

// New makes the leadership of an instance that follows.
func New(d Deps) *Leadership {
	now := d.Now()
	return &Leadership{deps: d, wake: make(chan struct{}, 1), facts: leader.Facts{ConnectionChangedAt: now}, since: now,
		logged: leader.Decision{Role: leader.Follows, Why: "it has just begun"}}
}

// Leads reports whether this instance may now write what only the leader writes.
func (l *Leadership) Leads() bool { return l.decide().Role == leader.Leads }

// Conn is the leader's connection; nil if this instance is not the leader now.
func (l *Leadership) Conn() Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if leader.Decide(l.facts, l.deps.Now()).Role != leader.Leads {
		return nil
	}
	return l.conn
}

// AnotherLeads reports whether another instance is known to lead.
func (l *Leadership) AnotherLeads() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.facts.HasLock && l.facts.Other != ""
}

// Status says who leads, as far as this instance knows.
type Status struct {
	Leads       bool
	Leader, Why string
	Since       time.Time // of this instance's role
}

// Status is the state of the election, for people.
func (l *Leadership) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := leader.Decide(l.facts, l.deps.Now())
	s := Status{Leads: d.Role == leader.Leads, Leader: l.facts.Other, Why: d.Why, Since: l.since}
	if s.Leads {
		s.Leader = l.deps.Name
	}
	return s
}

// ConnectionChanged records whether fleetd has all the connections to the broker that it needs now,
// and has Run check what follows.
func (l *Leadership) ConnectionChanged() {
	session := l.deps.Session()
	l.mu.Lock()
	up := session != "" && (l.conn == nil || l.conn.Up())
	if up != l.facts.Connected {
		l.facts.Connected, l.facts.ConnectionChangedAt = up, l.deps.Now()
	}
	l.mu.Unlock()
	l.Wake()
}

// Wake has Run check at once what changed.
func (l *Leadership) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run takes the lock whenever it can, and holds it until ctx ends; End releases it.
func (l *Leadership) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if l.lock == nil && l.decide().Ask {
			l.ask(ctx)
		}
		switch d := l.applyRole(); {
		case d.Resign:
			l.resign(ctx)
		case l.lock != nil:
			begun := l.deps.Now()
			err := l.lock.Hold(ctx, provenEvery, leader.Trust)
			if ctx.Err() != nil {
				return
			}
			l.proven(begun, err)
			continue
		}
		l.waitForNextAttempt(ctx)
	}
}

func (l *Leadership) decide() leader.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	return leader.Decide(l.facts, l.deps.Now())
}

// waitForNextAttempt waits until the next attempt, or until a connection changed.
func (l *Leadership) waitForNextAttempt(ctx context.Context) {
	jitter := time.Duration(rand.Int64N(int64(askEvery) / 2)) // so that instances do not all try at once
	timer := time.NewTimer(askEvery*3/4 + jitter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-timer.C:
	}
}

// ask tries to take the lock.
func (l *Leadership) ask(ctx context.Context) {
	db, err := l.deps.Store()
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.facts.Other, l.facts.DatabaseProblem = "", err.Error()
		return
	}
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	begun := l.deps.Now()
	lead, who, err := db.TryLead(within, l.deps.Name, begun)
	l.lock = lead
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &l.facts
	f.Other, f.DatabaseProblem, f.Alone = "", "", db.SingleInstance()
	switch {
	case err != nil:
		f.DatabaseProblem = err.Error()
	case lead == nil:
		f.Other = who.Name
	default:
		f.HasLock, f.HasLockSince, f.Proven, f.Predecessor = true, l.deps.Now(), begun, ""
		if who.Term > 0 && who.ResignedAt.IsZero() && who.Name != l.deps.Name {
			f.Predecessor = who.Name
		}
	}
}

// proven records the result of a check of the lock that began at begun or later.
func (l *Leadership) proven(begun time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.facts.Proven = begun
		return
	}
	l.facts.HasLock, l.facts.Other, l.facts.DatabaseProblem = false, "", err.Error()
	l.lock.Drop()
	l.lock = nil
}

// resign gives the lock up for another instance. This one writes nothing from here on.
func (l *Leadership) resign(ctx context.Context) {
	l.mu.Lock()
	l.facts.HasLock, l.facts.Other, l.facts.DatabaseProblem = false, "", ""
	l.mu.Unlock()
	l.applyRole()
	if l.lock == nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	if err := l.lock.Resign(within, l.deps.Now()); err != nil {
		l.deps.Log.Warn("leader lock not resigned; other instances wait until it has expired", "error", err)
	}
	l.lock = nil
}

// End is the last step of an orderly shutdown, when nothing writes any more: a leader
// publishes that fleetd goes offline, and resigns so that the others need not wait for its
// lock to expire. A former leader whose presence is still retained has its will published,
// since another instance may have begun to lead. End has time limits of its own, however long the rest of the shutdown took.
func (l *Leadership) End() {
	if l.lock != nil {
		begun := l.deps.Now()
		l.proven(begun, l.lock.Hold(context.Background(), 0, endWithin))
	}
	l.mu.Lock()
	c := l.conn
	leads := leader.Decide(l.facts, l.deps.Now()).Role == leader.Leads
	l.conn, l.facts.Ending = nil, true
	l.mu.Unlock()
	switch {
	case c == nil:
	case leads:
		c.Close()
	default:
		c.Cut()
	}
	l.resign(context.Background())
}

// applyRole decides again, logs a change of role, and opens or closes the leader's connection.
func (l *Leadership) applyRole() leader.Decision {
	now := l.deps.Now()
	session := l.deps.Session()
	l.mu.Lock()
	d := leader.Decide(l.facts, now)
	was := l.logged
	if d.Role != was.Role {
		l.since = now
	}
	if d.Role != was.Role || d.Role == leader.Follows {
		l.logged = d // a leader's reason may change later without being news
	}
	c, open, drop := l.conn, false, false
	switch {
	case d.Role == leader.Leads && session == "": // opened when fleetd's own connection is back
	case d.Role == leader.Leads:
		open = c == nil || c.Session() != session
		drop = c != nil && open
	case c != nil:
		drop = !c.StillTrue(session)
	}
	if drop {
		l.conn = nil
	}
	l.mu.Unlock()

	switch {
	case d.Role == was.Role && (d.Role != leader.Follows || d.Why == was.Why):
	case d.Role == leader.Leads:
		l.deps.Log.Info("this instance is the leader", "name", l.deps.Name, "why", d.Why)
	case was.Role == leader.Leads:
		l.deps.Log.Warn("this instance is no longer the leader", "name", l.deps.Name, "why", d.Why)
	default:
		l.deps.Log.Info("this instance is not the leader", "name", l.deps.Name, "role", d.Role, "why", d.Why)
	}
	if drop {
		c.Cut()
	}
	if open {
		c, err := l.deps.Open(session)
		if err != nil { // a bug: fleetd's own connection was opened in the same way
			l.deps.Log.Error("connection of the leader not opened", "error", err)
		}
		l.mu.Lock()
		l.conn = c
		l.mu.Unlock()
	}
	if drop || open {
		l.ConnectionChanged()
	}
	return d
}
