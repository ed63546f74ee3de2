package replica_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/leader"
	"troupe/fleetd/replica"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema/bubble"
)

// database is the database of several instances, as one of them reaches it.
type database struct {
	*store.Store
	mu   sync.Mutex
	away error
	lead *store.LeaderLock // that it gave last
}

func (d *database) SingleInstance() bool { return false }

func (d *database) TryLead(ctx context.Context, name string, now time.Time) (*store.LeaderLock, store.Leader, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away != nil {
		return nil, store.Leader{}, d.away
	}
	lead, who, err := d.Store.TryLead(ctx, name, now)
	if lead != nil {
		d.lead = lead
	}
	return lead, who, err
}

// loses takes the database away, and with it the lock.
func (d *database) loses() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.away = errors.New("connection refused")
	if d.lead != nil {
		d.lead.Drop()
	}
}

func (d *database) returns() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.away = nil
}

// conn is a leader's connection.
type conn struct {
	i       *instance
	session string
	ended   atomic.Pointer[string] // how
}

func (c *conn) Up() bool                      { return c.end() == "" }
func (c *conn) Session() string               { return c.session }
func (c *conn) StillTrue(session string) bool { return session == c.session }
func (c *conn) Cut()                          { c.ended.Store(new("cut")) }
func (c *conn) Close()                        { c.ended.Store(new("closed")) }

// end is how it ended; empty if it did not.
func (c *conn) end() string {
	if how := c.ended.Load(); how != nil {
		return *how
	}
	return ""
}

// instance is a fleetd instance that may lead.
type instance struct {
	*testing.T
	*replica.Leadership
	db *database

	mu      sync.Mutex
	session string
	conns   []*conn
	end     func()
}

func (i *instance) links(session string) {
	i.mu.Lock()
	i.session = session
	i.mu.Unlock()
	i.ConnectionChanged()
}

func (i *instance) conn(n int) *conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.conns) != n {
		i.Fatalf("%d connections were opened, want %d", len(i.conns), n)
	}
	return i.conns[n-1]
}

// instances runs a test with two instances on one database, of which one leads.
func instances(t *testing.T, test func(t *testing.T, a, b *instance)) {
	t.Helper()
	path := storetest.SQLite(t)
	bubble.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), path, time.Now(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		start := func(name string) *instance {
			i := &instance{T: t, db: &database{Store: db}, session: name + "-1"}
			i.Leadership = replica.New(replica.Deps{
				Log: slog.New(slog.NewTextHandler(t.Output(), nil)).With("fleetd", name), Name: name, Now: time.Now,
				Store:   func() (replica.Store, error) { return i.db, nil },
				Session: func() string { i.mu.Lock(); defer i.mu.Unlock(); return i.session },
				Open: func(session string) (replica.Conn, error) {
					i.mu.Lock()
					defer i.mu.Unlock()
					i.conns = append(i.conns, &conn{i: i, session: session})
					return i.conns[len(i.conns)-1], nil
				},
			})
			i.ConnectionChanged()
			ctx, cancel := context.WithCancel(context.Background())
			over := make(chan struct{})
			go func() { i.Leadership.Run(ctx); close(over) }()
			i.end = sync.OnceFunc(func() { cancel(); <-over; i.End() })
			return i
		}
		a := start("a")
		defer func() { a.end() }()
		synctest.Wait()
		b := start("b")
		defer func() { b.end() }()
		pass(2 * time.Second)
		if !a.Leads() || b.Leads() || !b.AnotherLeads() || a.AnotherLeads() {
			t.Fatalf("a says %+v, b says %+v", a.Status(), b.Status())
		}
		test(t, a, b)
	})
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// neverBoth lets time pass and requires that one instance leads at a time.
func neverBoth(t *testing.T, a, b *instance, d time.Duration) {
	t.Helper()
	for range d / (50 * time.Millisecond) {
		pass(50 * time.Millisecond)
		if a.Leads() && b.Leads() {
			t.Fatalf("both lead: %+v, %+v", a.Status(), b.Status())
		}
	}
}

func TestOneInstanceLeadsAndTheOtherSaysWhy(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance) {
		if s := b.Status(); s.Leader != "a" || s.Why != "a leads" || s.Since.IsZero() {
			t.Errorf("b says %+v", s)
		}
		if s := a.Status(); s.Leader != "a" || !s.Leads {
			t.Errorf("a says %+v", s)
		}
		if c := a.conn(1); a.Conn() != c || c.session != "a-1" || b.Conn() != nil {
			t.Errorf("the leader writes over %v, the follower over %v", a.Conn(), b.Conn())
		}
		neverBoth(t, a, b, 10*time.Second)
		a.conn(1)
	})
}

func TestFollowerWaitsForALeaderThatMayNotKnow(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance) {
		began := time.Now()
		a.db.loses()
		neverBoth(t, a, b, 500*time.Millisecond)
		if a.Leads() {
			t.Error("an instance leads without the lock")
		}
		for !b.Leads() {
			neverBoth(t, a, b, 50*time.Millisecond)
			if time.Since(began) > time.Minute {
				t.Fatalf("b says %+v", b.Status())
			}
		}
		if took := time.Since(began); took < leader.Settle {
			t.Errorf("it leads after %v, and the other relies on its lock for %v", took, leader.Trust)
		}
		if s := b.Status(); s.Why != "a is gone" {
			t.Errorf("b says %+v", s)
		}
		a.db.returns()
		neverBoth(t, a, b, 5*time.Second)
		if s := a.Status(); s.Leader != "b" || !a.AnotherLeads() {
			t.Errorf("a says %+v", s)
		}
	})
}

func TestFollowerLeadsAtOnceAfterAnOrderlyShutdown(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance) {
		c := a.conn(1)
		a.end()
		if c.end() != "closed" {
			t.Errorf("the leader's connection was %s at shutdown", c.end())
		}
		pass(2 * time.Second)
		if s := b.Status(); !s.Leads || s.Why != "no other fleetd led" {
			t.Errorf("b says %+v", s)
		}
		b.conn(1)
	})
}

// Nobody else says that fleetd is gone: its last will has to.
func TestShutdownOfAFormerLeaderPublishesItsWill(t *testing.T) {
	instances(t, func(t *testing.T, a, _ *instance) {
		c := a.conn(1)
		a.db.loses()
		pass(500 * time.Millisecond)
		if a.Leads() || c.end() != "" {
			t.Fatalf("without the database a says %+v, and its connection is %q", a.Status(), c.end())
		}
		a.end()
		if c.end() != "cut" {
			t.Errorf("the former leader's connection was %s at shutdown", c.end())
		}
	})
}

func TestLeaderWithoutABrokerResigns(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance) {
		a.links("")
		neverBoth(t, a, b, leader.LinkGrace-time.Second)
		if b.Leads() || !a.Leads() {
			t.Errorf("a short loss ends the lead: a %+v, b %+v", a.Status(), b.Status())
		}
		neverBoth(t, a, b, 3*time.Second)
		if !b.Leads() || a.Leads() {
			t.Errorf("a says %+v, b says %+v", a.Status(), b.Status())
		}
		if c := a.conn(1); c.end() != "cut" {
			t.Errorf("the former leader's connection is %q", c.end())
		}
		a.links("a-2")
		neverBoth(t, a, b, 5*time.Second)
		if s := a.Status(); s.Leader != "b" {
			t.Errorf("a says %+v", s)
		}
	})
}

func TestLeaderOpensItsConnectionAnewWithEachSession(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance) {
		first := a.conn(1)
		a.links("")
		pass(time.Second)
		a.links("a-2")
		pass(time.Second)
		if c := a.conn(2); c.session != "a-2" || first.end() != "cut" || a.Conn() != c {
			t.Errorf("the first is %q, then it writes over %+v", first.end(), c)
		}
		if b.Leads() {
			t.Error("the other leads after a short loss")
		}
	})
}

func TestInstanceWithoutADatabaseSaysWhy(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance) {
		b.db.loses()
		pass(2 * time.Second)
		if s := b.Status(); s.Leader != "" || !strings.Contains(s.Why, "connection refused") || b.AnotherLeads() {
			t.Errorf("b says %+v", s)
		}
	})
}
