package publish

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// twoFleets is why a fleetd instance that leads finds another one's presence in place of its own.
const twoFleets = "another fleetd writes the fleet's presence: two fleets use one broker"

// penSuffix marks the connection on which the leader writes.
const penSuffix = ".lead"

// LeaderConn is the connection on which the leader writes what all robots go by, and on
// nothing else. So no blob stands before a command or a stop, and a fleetd instance begins and
// ends to lead without losing a word of what robots say: its will, which says that
// fleetd is lost, belongs to this connection alone.
//
// A fleetd instance that leads no more keeps it, unused, until another one has written that it
// is there: if nobody follows, its presence goes on to be true, and its will too.
type LeaderConn struct {
	deps      LeaderConnDeps
	publisher *Publisher
	session   string // of fleetd's own link, under which its heartbeats come
	link      *link.Link
	opened    chan struct{} // link is set
	end       context.CancelFunc
	up        atomic.Bool
	foreign   atomic.Bool // another instance writes the presence

	repaired time.Time // owned by the link's goroutine
}

// LeaderConnDeps is what a LeaderConn needs.
type LeaderConnDeps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Boot      string // of this process
	Version   string
	Started   time.Time
	Now       func() time.Time
	// Open makes a connection of its own for this instance, whose client id ends so.
	Open     func(ctx context.Context, suffix string, cfg link.Config) (*link.Link, error)
	Leads    func() bool
	Linked   func()                          // the connection is up, or down
	Foreign  func()                          // another instance writes the presence
	Disputed func(why string, now time.Time) // somebody else seems to use fleetd's name
}

// OpenLeaderConn connects, to write as fleetd of that session. What it has to say
// besides goes through the publisher.
func OpenLeaderConn(d LeaderConnDeps, publisher *Publisher, session string) (*LeaderConn, error) {
	ctx, cut := context.WithCancel(context.Background())
	p := &LeaderConn{deps: d, publisher: publisher, session: session, end: cut, opened: make(chan struct{})}
	var err error
	p.link, err = d.Open(ctx, penSuffix, link.Config{
		Will:     func(string) link.Message { return p.presence(schema.PresenceLost, session, time.Time{}) },
		Presence: func(string) link.Message { return p.presence(schema.PresenceOnline, session, d.Now()) },
		Subscribe: []link.Subscription{ // what is heard all the time proves that it hears
			{Filter: d.Namespace.Topic(schema.TopicFleetHeartbeat, d.Name), QoS: schema.TopicOf(schema.TopicFleetHeartbeat).QoS},
		},
		Rival:     p.rival,
		OnMessage: p.hear,
		OnState:   p.linked,
		Logger:    d.Log.With("connection", "to write with"),
	})
	if err != nil {
		cut()
		return nil, err
	}
	close(p.opened)
	return p, nil
}

func (p *LeaderConn) linked(s link.State) {
	<-p.opened
	up := s.Phase == link.Up
	p.up.Store(up)
	if s.Contested {
		p.deps.Disputed(twoFleets, p.deps.Now())
	}
	p.deps.Linked()
	if up {
		p.publisher.Again()
	}
}

// rival reports whether another instance wrote that it leads, or left a will, while this
// one led and was away: it has this instance's name, or belongs to another fleet. Of fleetd instances
// of one fleet only one leads.
func (p *LeaderConn) rival(m link.Message) bool {
	row, _, ok := p.deps.Namespace.Match(m.Topic)
	if !ok || row.Kind != schema.TopicFleetPresence || !p.deps.Leads() {
		return false
	}
	said, problems := schema.Decode[schema.Presence](m.Payload)
	return len(problems) == 0 && said.State != schema.PresenceOffline && said.Boot != p.deps.Boot
}

// Up reports whether the connection is there.
func (p *LeaderConn) Up() bool { return p.up.Load() }

// PublishWait publishes m and waits for the broker's acknowledgement.
func (p *LeaderConn) PublishWait(ctx context.Context, m link.Message) error {
	return p.link.PublishWait(ctx, m)
}

// Session is fleetd's own link's, as which it writes.
func (p *LeaderConn) Session() string { return p.session }

// Stands reports whether a fleetd instance that does not lead keeps the leader's connection: as long as the
// presence is its own word and true, and not to write it anew. session is that of
// fleetd's own link now.
func (p *LeaderConn) Stands(session string) bool {
	return p.up.Load() && !p.foreign.Load() && p.session == session
}

// Cut ends the connection as a crash does, so that the broker says that fleetd of
// this session is lost; and silently if another instance is there already.
func (p *LeaderConn) Cut() {
	if !p.foreign.Load() { // else it ends in good order, and no will is sent
		p.end()
	}
	_ = p.link.Close(context.Background()) // it has no last words to fail with
	p.end()
}

// Close ends it in good order. Fleetd that leads says that it goes.
func (p *LeaderConn) Close(leads bool) {
	var words []func(string) link.Message
	if leads {
		words = append(words, func(string) link.Message { return p.presence(schema.PresenceOffline, p.session, p.deps.Now()) })
	}
	if err := p.link.Close(context.Background(), words...); err != nil {
		p.deps.Log.Warn("robots were not told that fleetd goes; the broker's will for it tells them", "error", err)
	}
	p.end()
}

// hear sees to it that the presence is the leader's own word, such as after the
// will of an earlier connection.
func (p *LeaderConn) hear(m link.Message) {
	if row, _, ok := p.deps.Namespace.Match(m.Topic); !ok || row.Kind != schema.TopicFleetPresence {
		return
	}
	now := p.deps.Now()
	said, problems := schema.Decode[schema.Presence](m.Payload)
	if len(problems) == 0 && said.Session == p.session && said.State != schema.PresenceLost {
		return
	}
	other := said.State == schema.PresenceOnline && said.Boot != p.deps.Boot
	if !p.deps.Leads() {
		if other {
			p.foreign.Store(true)
			p.deps.Foreign()
		}
		return
	}
	if other {
		p.deps.Disputed(twoFleets, now)
	}
	if now.Sub(p.repaired) < time.Second {
		return
	}
	p.repaired = now
	p.deps.Log.Warn("fleetd's presence was overwritten", "with", string(m.Payload))
	p.publisher.Say(p.presence(schema.PresenceOnline, p.session, now))
}

// presence is fleetd's own document.
func (p *LeaderConn) presence(state schema.PresenceState, session string, now time.Time) link.Message {
	said := schema.Presence{State: state, Session: session, Boot: p.deps.Boot, Software: "fleetd " + p.deps.Version}
	if state == schema.PresenceLost { // a will's time would be a lie
		said.Reason = "will"
	} else {
		said.TS, said.Since = schema.TimeOf(now), schema.TimeOf(p.deps.Started)
	}
	body, err := schema.Encode(said)
	if err != nil { // a fault of ours, and tests encode every message
		p.deps.Log.Error("message not encoded", "topic", schema.TopicFleetPresence, "error", err)
	}
	return link.Message{Topic: p.deps.Namespace.Topic(schema.TopicFleetPresence), Payload: body, QoS: 1, Retain: true}
}
