package fleet

import (
	"context"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/replica"
	"troupe/schema"
)

// twoFleets is why a fleetd instance that leads finds another one's presence in place of its own.
const twoFleets = "another fleetd writes the fleet's presence: two fleets use one broker"

// penSuffix marks the connection on which the leader writes.
const penSuffix = ".lead"

// leaderConn is the connection on which the leader writes what all robots go by, and on
// nothing else. So no blob stands before a command or a stop, and a fleetd instance begins and
// ends to lead without losing a word of what robots say: its will, which says that
// fleetd is lost, belongs to this connection alone.
//
// A fleetd instance that leads no more keeps it, unused, until another one has written that it
// is there: if nobody follows, its presence goes on to be true, and its will too.
type leaderConn struct {
	f       *Fleet
	session string // of fleetd's own link, under which its heartbeats come
	link    *link.Link
	opened  chan struct{} // link is set
	end     context.CancelFunc
	up      atomic.Bool
	foreign atomic.Bool // another instance writes the presence

	repaired time.Time // owned by the link's goroutine
}

// openLeaderConn connects, to write as fleetd of that session.
func (f *Fleet) openLeaderConn(session string) (*leaderConn, error) {
	ctx, cut := context.WithCancel(context.Background())
	p := &leaderConn{f: f, session: session, end: cut, opened: make(chan struct{})}
	ns := f.ns
	var err error
	p.link, err = f.open(ctx, penSuffix, link.Config{
		Will:     func(string) link.Message { return f.presence(schema.PresenceLost, session, time.Time{}) },
		Presence: func(string) link.Message { return f.presence(schema.PresenceOnline, session, time.Now()) },
		Subscribe: []link.Subscription{ // what is heard all the time proves that it hears
			{Filter: ns.Topic(schema.TopicFleetHeartbeat, f.cfg.Name), QoS: schema.TopicOf(schema.TopicFleetHeartbeat).QoS},
		},
		Rival:     p.rival,
		OnMessage: p.hear,
		OnState:   p.linked,
		Logger:    f.log.With("connection", "to write with"),
	})
	if err != nil {
		cut()
		return nil, err
	}
	close(p.opened)
	return p, nil
}

func (p *leaderConn) linked(s link.State) {
	<-p.opened
	up := s.Phase == link.Up
	p.up.Store(up)
	if s.Contested {
		p.f.disputed(twoFleets, time.Now())
	}
	p.f.leadership.Linked()
	if up {
		signal(p.f.outbox.again)
	}
}

// rival reports whether another instance wrote that it leads, or left a will, while this
// one led and was away: it has this instance's name, or belongs to another fleet. Of fleetd instances
// of one fleet only one leads.
func (p *leaderConn) rival(m link.Message) bool {
	row, _, ok := p.f.ns.Match(m.Topic)
	if !ok || row.Kind != schema.TopicFleetPresence || !p.f.leadership.Leads() {
		return false
	}
	said, problems := schema.Decode[schema.Presence](m.Payload)
	return len(problems) == 0 && said.State != schema.PresenceOffline && said.Boot != p.f.boot
}

// Up reports whether the connection is there.
func (p *leaderConn) Up() bool { return p.up.Load() }

// Session is fleetd's own link's, as which it writes.
func (p *leaderConn) Session() string { return p.session }

// Stands reports whether a fleetd instance that does not lead keeps the leader's connection: as long as the
// presence is its own word and true, and not to write it anew. session is that of
// fleetd's own link now.
func (p *leaderConn) Stands(session string) bool {
	return p.up.Load() && !p.foreign.Load() && p.session == session
}

// Cut ends the connection as a crash does, so that the broker says that fleetd of
// this session is lost; and silently if another instance is there already.
func (p *leaderConn) Cut() {
	if !p.foreign.Load() { // else it ends in good order, and no will is sent
		p.end()
	}
	_ = p.link.Close(context.Background()) // it has no last words to fail with
	p.end()
}

// Close ends it in good order. Fleetd that leads says that it goes.
func (p *leaderConn) Close(leads bool) {
	var words []func(string) link.Message
	if leads {
		words = append(words, func(string) link.Message { return p.f.presence(schema.PresenceOffline, p.session, time.Now()) })
	}
	if err := p.link.Close(context.Background(), words...); err != nil {
		p.f.log.Warn("robots were not told that fleetd goes; the broker's will for it tells them", "error", err)
	}
	p.end()
}

// hear sees to it that the presence is the leader's own word, such as after the
// will of an earlier connection.
func (p *leaderConn) hear(m link.Message) {
	if row, _, ok := p.f.ns.Match(m.Topic); !ok || row.Kind != schema.TopicFleetPresence {
		return
	}
	now := time.Now()
	said, problems := schema.Decode[schema.Presence](m.Payload)
	if len(problems) == 0 && said.Session == p.session && said.State != schema.PresenceLost {
		return
	}
	other := said.State == schema.PresenceOnline && said.Boot != p.f.boot
	if !p.f.leadership.Leads() {
		if other {
			p.foreign.Store(true)
			p.f.leadership.Wake()
		}
		return
	}
	if other {
		p.f.disputed(twoFleets, now)
	}
	if now.Sub(p.repaired) < time.Second {
		return
	}
	p.repaired = now
	p.f.log.Warn("fleetd's presence was overwritten", "with", string(m.Payload))
	p.f.outbox.say(p.f.presence(schema.PresenceOnline, p.session, now))
}

// newLeadership makes this instance's part in who leads.
func (f *Fleet) newLeadership() *replica.Leadership {
	return replica.New(replica.Deps{
		Log: f.log, Name: f.cfg.Name, Now: time.Now,
		Store:   func() (replica.Store, error) { return f.Store() },
		Session: func() string { return f.link.Session() },
		Open: func(session string) (replica.Conn, error) {
			c, err := f.openLeaderConn(session)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	})
}

// writer is the leader's connection, nil for an instance that does not lead now.
func (f *Fleet) writer() *leaderConn {
	c, _ := f.leadership.Conn().(*leaderConn)
	return c
}
