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
	// provenEvery is how often the leader proves that it has the lock.
	provenEvery = 250 * time.Millisecond
	// askEvery is about how often a fleetd instance that follows asks for the lock.
	askEvery = time.Second
	// askWithin bounds one question to the database.
	askWithin = 5 * time.Second
	// endWithin bounds each question at the end.
	endWithin = 2 * time.Second
)

// Leadership is this instance's part in who leads. One goroutine asks for the lock,
// holds it, and opens and closes the leader's connection; whoever wants to write asks whether this
// fleetd leads now.
type Leadership struct {
	deps Deps
	wake chan struct{}

	mu    sync.Mutex
	facts leader.Facts
	conn  Conn            // nil unless this instance leads, or led last
	told  leader.Decision // what was told of last
	since time.Time       // the role in it

	lead *store.Lead // owned by run
}

// Deps is what a leadership needs.
type Deps struct {
	Log     *slog.Logger
	Name    string // of this instance
	Now     func() time.Time
	Store   func() (Store, error)              // the database, or why there is none
	Session func() string                      // of fleetd's own link; empty: it is down
	Open    func(session string) (Conn, error) // connects, to write as fleetd of that session
}

// Store is the database that has the lock.
type Store interface {
	Lead(ctx context.Context, name string, now time.Time) (*store.Lead, store.Leader, error)
	Alone() bool
}

// Conn is the connection on which the leader writes.
type Conn interface {
	Up() bool
	Session() string
	// Stands reports whether an instance that leads no more keeps the connection while
	// its own link has that session.
	Stands(session string) bool
	// Cut ends it as a crash does, and Close in good order.
	Cut()
	Close(leads bool)
}

func New(d Deps) *Leadership {
	now := d.Now()
	return &Leadership{deps: d, wake: make(chan struct{}, 1), facts: leader.Facts{LinkedSince: now}, since: now, told: leader.Decision{Role: leader.Follows, Why: "it has just begun"}}
}

// Leads reports whether this instance may write what all robots go by, now.
func (l *Leadership) Leads() bool { return l.decide().Role == leader.Leads }

// Conn is what the leader writes with, nil for all others.
func (l *Leadership) Conn() Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if leader.Decide(l.facts, l.deps.Now()).Role != leader.Leads {
		return nil
	}
	return l.conn
}

// Followed reports whether another instance leads, as far as is known.
func (l *Leadership) Followed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.facts.Held && l.facts.Other != ""
}

// Status is who leads, as far as this instance knows.
type Status struct {
	Leads       bool
	Leader, Why string
	Since       time.Time // of this instance's role
}

// Status tells it to people.
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

// Linked notes whether fleetd has all the connections to the broker that it
// needs now.
func (l *Leadership) Linked() {
	session := l.deps.Session()
	l.mu.Lock()
	up := session != "" && (l.conn == nil || l.conn.Up())
	if up != l.facts.Linked {
		l.facts.Linked, l.facts.LinkedSince = up, l.deps.Now()
	}
	l.mu.Unlock()
	l.Wake()
}

// Wake has it look at once at what changed.
func (l *Leadership) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run asks for the lock and holds it until ctx ends; End releases it.
func (l *Leadership) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if l.lead == nil && l.decide().Ask {
			l.ask(ctx)
		}
		switch d := l.look(); {
		case d.Resign:
			l.resign(ctx)
		case l.lead != nil:
			begun := l.deps.Now()
			err := l.lead.Hold(ctx, provenEvery, leader.Trust)
			if ctx.Err() != nil {
				return
			}
			l.proven(begun, err)
			continue
		}
		l.rest(ctx)
	}
}

func (l *Leadership) decide() leader.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	return leader.Decide(l.facts, l.deps.Now())
}

// rest waits until it is time to ask again, or the link changed.
func (l *Leadership) rest(ctx context.Context) {
	jitter := time.Duration(rand.Int64N(int64(askEvery) / 2)) // not all fleetd instances at once
	timer := time.NewTimer(askEvery*3/4 + jitter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-timer.C:
	}
}

// ask asks for the lock.
func (l *Leadership) ask(ctx context.Context) {
	db, err := l.deps.Store()
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.facts.Other, l.facts.Mute = "", err.Error()
		return
	}
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	begun := l.deps.Now()
	lead, who, err := db.Lead(within, l.deps.Name, begun)
	l.lead = lead
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &l.facts
	f.Other, f.Mute, f.Alone = "", "", db.Alone()
	switch {
	case err != nil:
		f.Mute = err.Error()
	case lead == nil:
		f.Other = who.Name
	default:
		f.Held, f.HeldSince, f.Proven, f.Before = true, l.deps.Now(), begun, ""
		if who.Term > 0 && who.ResignedAt.IsZero() && who.Name != l.deps.Name {
			f.Before = who.Name
		}
	}
}

// proven takes in what became of a proof of the lock that was begun then or later.
func (l *Leadership) proven(begun time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.facts.Proven = begun
		return
	}
	l.facts.Held, l.facts.Other, l.facts.Mute = false, "", err.Error()
	l.lead.Drop()
	l.lead = nil
}

// resign makes room for another instance. Nothing is written from here on.
func (l *Leadership) resign(ctx context.Context) {
	l.mu.Lock()
	l.facts.Held, l.facts.Other, l.facts.Mute = false, "", ""
	l.mu.Unlock()
	l.look()
	if l.lead == nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	if err := l.lead.Resign(within, l.deps.Now()); err != nil {
		l.deps.Log.Warn("the other fleetd instances were not told that this one leads no more; they wait a moment longer", "error", err)
	}
	l.lead = nil
}

// End is the orderly end, when nobody writes any more: robots are told that the
// fleetd goes, if it led, and the others that they need not wait. It has its own time,
// however long the end of everything else took.
func (l *Leadership) End() {
	if l.lead != nil {
		begun := l.deps.Now()
		l.proven(begun, l.lead.Hold(context.Background(), 0, endWithin))
	}
	l.mu.Lock()
	c := l.conn
	leads := leader.Decide(l.facts, l.deps.Now()).Role == leader.Leads
	l.conn, l.facts.Ends = nil, true
	l.mu.Unlock()
	if c != nil {
		c.Close(leads)
	}
	l.resign(context.Background())
}

// look does what a change of role asks for: it tells of it, and takes up the leader's connection or
// puts it down.
func (l *Leadership) look() leader.Decision {
	now := l.deps.Now()
	session := l.deps.Session()
	l.mu.Lock()
	d := leader.Decide(l.facts, now)
	was := l.told
	if d.Role != was.Role {
		l.since = now
	}
	if d.Role != was.Role || d.Role == leader.Follows {
		l.told = d // why it leads may be forgotten later, and is no news
	}
	c, open, drop := l.conn, false, false
	switch {
	case d.Role == leader.Leads && session == "": // seen to when the link is back
	case d.Role == leader.Leads:
		open = c == nil || c.Session() != session
		drop = c != nil && open
	case c != nil:
		drop = !c.Stands(session)
	}
	if drop {
		l.conn = nil
	}
	l.mu.Unlock()

	switch {
	case d.Role == was.Role && (d.Role != leader.Follows || d.Why == was.Why):
	case d.Role == leader.Leads:
		l.deps.Log.Info("this instance leads: it writes what all robots go by", "name", l.deps.Name, "why", d.Why)
	case was.Role == leader.Leads:
		l.deps.Log.Warn("this instance leads no more", "name", l.deps.Name, "why", d.Why)
	default:
		l.deps.Log.Info("this instance does not lead", "name", l.deps.Name, "role", d.Role, "why", d.Why)
	}
	if drop {
		c.Cut()
	}
	if open {
		c, err := l.deps.Open(session)
		if err != nil { // a fault of ours: the link of fleetd itself was opened the same way
			l.deps.Log.Error("no connection to write with", "error", err)
		}
		l.mu.Lock()
		l.conn = c
		l.mu.Unlock()
	}
	if drop || open {
		l.Linked()
	}
	return d
}
