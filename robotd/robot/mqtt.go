package robot

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"troupe/broker/link"
	"troupe/robotd/event"
	"troupe/robotd/report"
	"troupe/robotd/wire"
	"troupe/schema"
	"troupe/schema/verb"
)

// mqttTranslator turns messages of the broker into events, and publications of the robot into
// messages.
type mqttTranslator struct {
	ns      schema.Namespace
	id      string
	boot    string
	boots   []string // ids of earlier runs of this robot, and boot
	version string   // of robotd
	log     *slog.Logger
	loop    *loop
	sim     *simInputs      // nil if the robot takes no inputs for a simulated body
	ctx     context.Context // ends when the loop does
	copies  stopCopies
}

// config configures the robot's connection to the broker. Its first message is the presence;
// the last will is in its CONNECT.
func (p *mqttTranslator) config(c Config) link.Config {
	return link.Config{
		URL: c.Broker, FallbackURLs: c.FallbackBrokers, Dial: c.Dial, TLS: c.encryption, Random: c.Random,
		Engine: c.Engine, Name: p.id, Password: c.Password,
		Will:      func(session string) link.Message { return p.presence(report.WillOf(session, p.boot)) },
		Presence:  func(session string) link.Message { return p.presence(p.online(session)) },
		Rival:     p.rival,
		Subscribe: wire.Subscriptions(p.ns, p.id, p.sim != nil),
		OnMessage: p.arrived, OnState: p.state, Urgent: p.urgent, DedupKey: p.dedupKey,
		Logger: p.log,
	}
}

func (p *mqttTranslator) online(session string) *schema.Presence {
	return report.PresenceOf(session, p.boot, p.version, wallNow())
}

func (p *mqttTranslator) presence(doc *schema.Presence) link.Message {
	payload, err := schema.Encode(doc)
	if err != nil {
		panic(err)
	}
	return p.message(schema.TopicPresence, "", payload)
}

// message makes a message of topic kind k about this robot.
func (p *mqttTranslator) message(k schema.TopicKind, param string, payload []byte) link.Message {
	return wire.Message(p.ns, p.id, k, param, payload)
}

// urgent reports whether a message is a stop, which overtakes everything.
func (p *mqttTranslator) urgent(topic string) bool { return wire.Urgent(p.ns, topic) }

// dedupKey returns a key for what a stop does: two stops of one client that differ only in
// their ids and times have the same key. A document that latches stops has none, because it
// may also release some.
func (p *mqttTranslator) dedupKey(m link.Message) string {
	row, at, ok := p.ns.Match(m.Topic)
	if !ok || m.Retain || row.Kind != schema.TopicCmd && row.Kind != schema.TopicFleetStopCmd {
		return ""
	}
	if v, known := verb.Of(at.Group, at.Verb); known {
		if r, problems := verb.Decode(v, m.Payload); len(problems) == 0 {
			r.ID, r.TS, r.TTLMS, r.Session, r.Seq, r.Batch = "", 0, 0, "", 0, ""
			if text, err := verb.Encode(v, r); err == nil {
				return m.Topic + string(text)
			}
		}
	}
	return m.Topic + string(m.Payload)
}

// rival reports whether m proves that another robot connects under this one's name: the
// broker ended this connection for the other one, or this robot's presence was replaced by
// one of an unknown boot. Boots that the disk knows are this robot's own, and a broker that
// was restarted may publish the presence of one of them again.
func (p *mqttTranslator) rival(m link.Message) bool {
	row, _, ok := p.ns.Match(m.Topic)
	switch {
	case !ok:
	case row.Kind == schema.TopicNotice:
		n, problems := schema.Decode[schema.Notice](m.Payload)
		return len(problems) == 0 && n.Reason == schema.ReasonTakenOver
	case row.Kind == schema.TopicPresence:
		there, problems := schema.Decode[schema.Presence](m.Payload)
		return len(problems) == 0 && there.Boot != "" && !slices.Contains(p.boots, there.Boot) &&
			(there.State == schema.PresenceOnline || there.State == schema.PresenceLost) // otherwise that robot has ended in order
	}
	return false
}

// arrived turns a message into an event for the loop. A stop, or the release of one, goes ahead of all other events.
func (p *mqttTranslator) arrived(m link.Message) { p.deliver(m, "") }

// deliver does so for a message that arrived over the connection of that suffix.
func (p *mqttTranslator) deliver(m link.Message, over string) {
	if row, at, ok := p.ns.Match(m.Topic); ok && row.Kind == schema.TopicSim {
		if p.sim != nil {
			p.sim.receive(at.Name, m.Payload, m.Retain)
		}
		return
	}
	switch ev := wire.Event(p.ns, m, p.loop.start, p.log); {
	case ev == nil:
	case p.urgent(m.Topic):
		isCopy := !m.Retain && p.copies.take(m, over, time.Now())
		if isCopy && over == stopSuffix {
			return
		}
		if stop, live := ev.(event.LiveStop); live { // its place in the order is known only now
			stop.Copy = isCopy
			ev = stop
		}
		p.loop.stop(p.ctx, ev)
	default:
		p.loop.send(p.ctx, ev)
	}
}

// state turns the state of the connection to the broker into events.
func (p *mqttTranslator) state(s link.State) {
	switch s.Phase {
	case link.Up:
		p.loop.send(p.ctx, event.Connected{Session: s.Session})
	case link.Down, link.Refused:
		why := "the connection ended"
		if s.Err != nil {
			why = s.Err.Error()
		}
		p.loop.send(p.ctx, event.Disconnected{Why: why, HalfOpen: errors.Is(s.Err, link.ErrHalfOpen)})
	}
	if s.Contested {
		p.log.Error("another client connects under this robot's name: look for a second robot of this name, such as one with a cloned disk",
			"robot", p.id, "wait", s.Wait)
		p.loop.send(p.ctx,
			event.DuplicateIdentity{Why: "another client connects under this robot's name, and each time the broker ends the connection of " +
				"the other one"})
	}
}
