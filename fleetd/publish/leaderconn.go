package publish

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// rivalFleet is why the leader finds another instance's presence in place of its own.
const rivalFleet = "another fleetd writes the fleet's presence: end the second fleetd that has this one's name, or give each fleet a " +
	"broker or a --namespace of its own"

// leaderSuffix ends the client id of the leader's connection.
const leaderSuffix = "lead"

// LeaderConn is the connection on which the leader publishes, and nothing else is sent. So
// no blob delays a command or a stop, and an instance begins and ceases to lead without
// reconnecting the link on which it receives from robots: the last will, which says that
// fleetd is lost, belongs to this connection alone.
//
// A former leader keeps the connection, unused, until another instance has published its
// presence: while no other instance leads, its own presence remains true, and so does its
// will.
type LeaderConn struct {
	deps      LeaderConnDeps
	publisher *Publisher
	session   string // of fleetd's own connection, which its heartbeats carry
	link      *link.Link
	opened    chan struct{} // closed when link is set
	end       context.CancelFunc
	up        atomic.Bool
	replaced  atomic.Bool // another instance has published its presence

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
	// Open makes another connection of this instance, whose client id ends with suffix.
	Open              func(ctx context.Context, suffix string, cfg link.Config) (*link.Link, error)
	Leads             func() bool
	ConnectionChanged func()                          // the connection came up or went down
	Replaced          func()                          // another instance leads now, and has published the presence
	RivalSeen         func(why string, now time.Time) // another client seems to use fleetd's name, or to write its presence
}

// OpenLeaderConn opens the leader's connection. Its presence names the session of fleetd's
// own connection; it publishes repairs through the publisher.
func OpenLeaderConn(d LeaderConnDeps, publisher *Publisher, session string) (*LeaderConn, error) {
	ctx, cut := context.WithCancel(context.Background())
	p := &LeaderConn{deps: d, publisher: publisher, session: session, end: cut, opened: make(chan struct{})}
	var err error
	p.link, err = d.Open(ctx, leaderSuffix, link.Config{
		Will: func(string) link.Message { return p.presence(schema.PresenceLost, session, time.Time{}) },
		// the link subscribes to its topic, too
		Presence: func(string) link.Message { return p.presence(schema.PresenceOnline, session, d.Now()) },
		Subscribe: []link.Subscription{ // its own heartbeats prove that the connection is not half-open
			{Filter: d.Namespace.Topic(schema.TopicFleetHeartbeat, d.Name), QoS: schema.TopicOf(schema.TopicFleetHeartbeat).QoS},
		},
		Outbox:    1, // documents wait in the publisher, where stops overtake them and a lost lead holds them back
		Rival:     p.provesRival,
		OnMessage: p.receive,
		OnState:   p.linked,
		Logger:    d.Log.With("connection", "leader"),
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
		p.deps.RivalSeen(rivalFleet, p.deps.Now())
	}
	p.deps.ConnectionChanged()
	if up {
		p.publisher.PublishAll()
	}
}

// provesRival reports whether m proves that another instance published its presence, or its will,
// while this one led and was disconnected: of the presence's topic, of which receive gets all that is
// published during a session, Rival gets only what was retained when the connection is established again,
// and not what it published itself. That instance has this one's name, or belongs to another fleet: of
// the instances of one fleet only one leads.
func (p *LeaderConn) provesRival(m link.Message) bool {
	row, _, ok := p.deps.Namespace.Match(m.Topic)
	if !ok || row.Kind != schema.TopicFleetPresence || !p.deps.Leads() {
		return false
	}
	said, problems := schema.Decode[schema.Presence](m.Payload)
	return len(problems) == 0 && said.State != schema.PresenceOffline && said.Boot != p.deps.Boot
}

// Up reports whether the connection is established.
func (p *LeaderConn) Up() bool { return p.up.Load() }

// PublishAsync publishes m and returns a function that waits for the broker's
// acknowledgement.
func (p *LeaderConn) PublishAsync(ctx context.Context, m link.Message) (wait func(context.Context) error, err error) {
	return p.link.PublishAsync(ctx, m)
}

// Session is the session of fleetd's own connection that its presence names.
func (p *LeaderConn) Session() string { return p.session }

// StillTrue reports whether the retained presence is still this instance's and true, so that a
// former leader keeps the connection open. session is that of fleetd's main connection now.
func (p *LeaderConn) StillTrue(session string) bool {
	return p.up.Load() && !p.replaced.Load() && p.session == session
}

// Cut closes the connection as a crash would, so that the broker publishes the will. If
// another instance has published its presence already, it disconnects in good order and no
// will is published.
func (p *LeaderConn) Cut() {
	if !p.replaced.Load() { // skips the DISCONNECT, so that the will is published
		p.end()
	}
	_ = p.link.Close(context.Background()) // nothing is left to publish that could fail
	p.end()
}

// Close publishes that fleetd goes offline, and disconnects in good order. Only the leader may call it.
func (p *LeaderConn) Close() {
	offline := func(string) link.Message { return p.presence(schema.PresenceOffline, p.session, p.deps.Now()) }
	if err := p.link.Close(context.Background(), offline); err != nil {
		p.deps.Log.Warn("presence offline not published; the last will says that fleetd is lost", "error", err)
	}
	p.end()
}

// receive repairs the retained presence of a leader if something else overwrote it, such as
// the will of an earlier connection.
func (p *LeaderConn) receive(m link.Message) {
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
			p.replaced.Store(true)
			p.deps.Replaced()
		}
		return
	}
	if other {
		p.deps.RivalSeen(rivalFleet, now)
	}
	if now.Sub(p.repaired) < time.Second {
		return
	}
	p.repaired = now
	p.deps.Log.Warn("presence overwritten by another client; published again", "with", string(m.Payload))
	p.publisher.Enqueue(p.presence(schema.PresenceOnline, p.session, now))
}

// presence is fleetd's presence document.
func (p *LeaderConn) presence(state schema.PresenceState, session string, now time.Time) link.Message {
	said := schema.Presence{State: state, Session: session, Boot: p.deps.Boot, Software: "fleetd " + p.deps.Version}
	if state == schema.PresenceLost { // the broker publishes a will at an unknown time
		said.Reason = "will"
	} else {
		said.TS, said.Since = schema.TimeOf(now), schema.TimeOf(p.deps.Started)
	}
	body, err := schema.Encode(said)
	if err != nil { // a bug; tests encode every message
		p.deps.Log.Error("message not encoded", "topic", schema.TopicFleetPresence, "error", err)
	}
	return link.Message{Topic: p.deps.Namespace.Topic(schema.TopicFleetPresence), Payload: body, QoS: 1, Retain: true}
}
