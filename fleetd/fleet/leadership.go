package fleet

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/leader"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// provenEvery is how often the leader proves that it has the lock.
	provenEvery = 250 * time.Millisecond
	// askEvery is about how often a fleetd instance that follows asks for the lock.
	askEvery = time.Second
	// askWithin bounds one question to the database.
	askWithin = 5 * time.Second
)

// leadership is this instance's part in who leads. One goroutine asks for the lock,
// holds it, and opens and closes the leader's connection; whoever wants to write asks whether this
// fleetd leads now.
type leadership struct {
	f    *Fleet
	wake chan struct{}

	mu    sync.Mutex
	facts leader.Facts
	pen   *leaderConn     // nil unless this instance leads, or led last
	told  leader.Decision // what was told of last
	since time.Time       // the role in it

	lead *store.Lead // owned by run
}

func newLeadership(f *Fleet) *leadership {
	return &leadership{f: f, wake: make(chan struct{}, 1), facts: leader.Facts{LinkedSince: f.started}, since: f.started, told: leader.Decision{Role: leader.Follows, Why: "it has just begun"}}
}

// leads reports whether this instance may write what all robots go by, now.
func (l *leadership) leads() bool { return l.decide().Role == leader.Leads }

// writes is what the leader writes with, nil for all others.
func (l *leadership) writes() *leaderConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if leader.Decide(l.facts, time.Now()).Role != leader.Leads {
		return nil
	}
	return l.pen
}

// followed reports whether another instance leads, as far as is known.
func (l *leadership) followed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.facts.Held && l.facts.Other != ""
}

// status tells it to people.
func (l *leadership) status() api.Leadership {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := leader.Decide(l.facts, time.Now())
	s := api.Leadership{Leads: d.Role == leader.Leads, Leader: l.facts.Other, Why: d.Why, Since: schema.TimeOf(l.since)}
	if s.Leads {
		s.Leader = l.f.cfg.Name
	}
	return s
}

// linked notes whether fleetd has all the connections to the broker that it
// needs now.
func (l *leadership) linked() {
	session := l.f.link.Session()
	l.mu.Lock()
	up := session != "" && (l.pen == nil || l.pen.up.Load())
	if up != l.facts.Linked {
		l.facts.Linked, l.facts.LinkedSince = up, time.Now()
	}
	l.mu.Unlock()
	signal(l.wake)
}

// run asks for the lock and holds it until ctx ends; end releases it.
func (l *leadership) run(ctx context.Context) {
	for ctx.Err() == nil {
		if l.lead == nil && l.decide().Ask {
			l.ask(ctx)
		}
		switch d := l.look(); {
		case d.Resign:
			l.resign(ctx)
		case l.lead != nil:
			begun := time.Now()
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

func (l *leadership) decide() leader.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	return leader.Decide(l.facts, time.Now())
}

// rest waits until it is time to ask again, or the link changed.
func (l *leadership) rest(ctx context.Context) {
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
func (l *leadership) ask(ctx context.Context) {
	db, err := l.f.Store()
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.facts.Other, l.facts.Mute = "", err.Error()
		return
	}
	within, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	begun := time.Now()
	lead, who, err := db.Lead(within, l.f.cfg.Name, begun)
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
		f.Held, f.HeldSince, f.Proven, f.Before = true, time.Now(), begun, ""
		if who.Term > 0 && who.ResignedAt.IsZero() && who.Name != l.f.cfg.Name {
			f.Before = who.Name
		}
	}
}

// proven takes in what became of a proof of the lock that was begun then or later.
func (l *leadership) proven(begun time.Time, err error) {
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
func (l *leadership) resign(ctx context.Context) {
	l.mu.Lock()
	l.facts.Held, l.facts.Other, l.facts.Mute = false, "", ""
	l.mu.Unlock()
	l.look()
	if l.lead == nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	if err := l.lead.Resign(within, time.Now()); err != nil {
		l.f.log.Warn("the other fleetd instances were not told that this one leads no more; they wait a moment longer", "error", err)
	}
	l.lead = nil
}

// end is the orderly end, when nobody writes any more: robots are told that the
// fleetd goes, if it led, and the others that they need not wait. It has its own time,
// however long the end of everything else took.
func (l *leadership) end() {
	if l.lead != nil {
		begun := time.Now()
		l.proven(begun, l.lead.Hold(context.Background(), 0, goodbye))
	}
	l.mu.Lock()
	p := l.pen
	leads := leader.Decide(l.facts, time.Now()).Role == leader.Leads
	l.pen, l.facts.Ends = nil, true
	l.mu.Unlock()
	if p != nil {
		p.close(leads)
	}
	l.resign(context.Background())
}

// look does what a change of role asks for: it tells of it, and takes up the leader's connection or
// puts it down.
func (l *leadership) look() leader.Decision {
	now := time.Now()
	session := l.f.link.Session()
	l.mu.Lock()
	d := leader.Decide(l.facts, now)
	was := l.told
	if d.Role != was.Role {
		l.since = now
	}
	if d.Role != was.Role || d.Role == leader.Follows {
		l.told = d // why it leads may be forgotten later, and is no news
	}
	p, open, drop := l.pen, false, false
	switch {
	case d.Role == leader.Leads && session == "": // seen to when the link is back
	case d.Role == leader.Leads:
		open = p == nil || p.session != session
		drop = p != nil && open
	case p != nil:
		drop = !p.stands(session)
	}
	if drop {
		l.pen = nil
	}
	l.mu.Unlock()

	switch {
	case d.Role == was.Role && (d.Role != leader.Follows || d.Why == was.Why):
	case d.Role == leader.Leads:
		l.f.log.Info("this instance leads: it writes what all robots go by", "name", l.f.cfg.Name, "why", d.Why)
	case was.Role == leader.Leads:
		l.f.log.Warn("this instance leads no more", "name", l.f.cfg.Name, "why", d.Why)
	default:
		l.f.log.Info("this instance does not lead", "name", l.f.cfg.Name, "role", d.Role, "why", d.Why)
	}
	if drop {
		p.cut()
	}
	if open {
		p, err := l.f.takePen(session)
		if err != nil { // a fault of ours: the link of fleetd itself was opened the same way
			l.f.log.Error("no connection to write with", "error", err)
		}
		l.mu.Lock()
		l.pen = p
		l.mu.Unlock()
	}
	if drop || open {
		l.linked()
	}
	return d
}
