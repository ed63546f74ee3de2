package robot

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"troupe/broker/link"
	"troupe/robotd/event"
	"troupe/robotd/report"
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
}

// config configures the robot's connection to the broker. Its first message is the presence;
// the last will is in its CONNECT.
func (p *mqttTranslator) config(c Config) link.Config {
	return link.Config{
		URL: c.Broker, FallbackURLs: c.FallbackBrokers, Dial: c.Dial, TLS: c.encryption, Random: c.Random,
		Name: p.id, ClientID: p.id, Password: c.Password,
		Will:      func(session string) link.Message { return p.presence(report.WillOf(session, p.boot)) },
		Presence:  func(session string) link.Message { return p.presence(p.online(session)) },
		Rival:     p.rival,
		Subscribe: p.subscriptions(),
		OnMessage: p.arrived, OnState: p.state, Urgent: p.urgent, DedupKey: p.dedupKey,
		Logger: p.log,
	}
}

// subscriptions lists the robot's subscriptions. A robot whose subscription the broker lost
// would look healthy and obey no command, so it renews its subscriptions to commands and to
// the documents that latch stops every minute. Frames of manual driving come with the commands;
// package link subscribes to the robot's own presence.
func (p *mqttTranslator) subscriptions() (all []link.Subscription) {
	type topics struct {
		kind   schema.TopicKind
		params []string
	}
	wanted := []topics{
		{schema.TopicCmd, []string{p.id, "+", "+", "+"}},
		{schema.TopicDesiredStop, []string{p.id}},
		{schema.TopicFleetStop, nil},
		{schema.TopicFleetStopCmd, []string{"+"}},
		{schema.TopicDesiredStory, []string{p.id}},
		{schema.TopicDesiredConfig, []string{p.id}},
		{schema.TopicDesiredMode, []string{p.id}},
		{schema.TopicDesiredActivities, []string{p.id}},
		{schema.TopicDesiredPlaces, []string{p.id}},
		{schema.TopicFleetPresence, nil},
		{schema.TopicFleetHeartbeat, []string{"+"}},
		{schema.TopicLocalHeartbeat, []string{p.id, "+"}},
		{schema.TopicNotice, []string{p.id}},
	}
	if p.sim != nil {
		wanted = append(wanted, topics{schema.TopicSim, []string{p.id, "+"}})
	}
	for _, t := range wanted {
		row := schema.TopicOf(t.kind)
		all = append(all, link.Subscription{
			Filter: p.ns.Topic(t.kind, t.params...), QoS: row.QoS,
			Optional: t.kind == schema.TopicLocalHeartbeat || t.kind == schema.TopicSim, // brokers of earlier releases do not know them
			Renew:    !row.Retain || t.kind == schema.TopicDesiredStop || t.kind == schema.TopicFleetStop,
		})
	}
	return all
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
	row := schema.TopicOf(k)
	params := []string{p.id}
	if param != "" {
		params = append(params, param)
	}
	return link.Message{Topic: p.ns.Topic(k, params...), Payload: payload, QoS: row.QoS, Retain: row.Retain}
}

// urgent reports whether a message is a stop, which overtakes everything.
func (p *mqttTranslator) urgent(topic string) bool {
	row, at, ok := p.ns.Match(topic)
	if !ok {
		return false
	}
	switch row.Kind {
	case schema.TopicCmd:
		v, ok := verb.Of(at.Group, at.Verb)
		return ok && v.Class == verb.ClassStop
	case schema.TopicDesiredStop, schema.TopicFleetStop, schema.TopicFleetStopCmd:
		return true
	}
	return false
}

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

// arrived turns a message into an event for the loop.
func (p *mqttTranslator) arrived(m link.Message) {
	row, at, ok := p.ns.Match(m.Topic)
	if !ok {
		p.log.Debug("message on a topic that is not in the table", "topic", m.Topic)
		return
	}
	switch row.Kind {
	case schema.TopicCmd:
		ev := event.Command{Client: sender(at.CID), Group: at.Group, Verb: at.Verb, Payload: m.Payload, Retained: m.Retain, N: m.N, Read: m.At.Sub(p.loop.start)}
		if p.urgent(m.Topic) {
			p.loop.stop(p.ctx, ev)
			return
		}
		p.loop.send(p.ctx, ev)
	case schema.TopicDesiredStop, schema.TopicFleetStop, schema.TopicFleetStopCmd:
		p.stop(row.Kind, at.CID, m)
	case schema.TopicTeleop:
		ev := event.Frame{Client: sender(at.CID), Retained: m.Retain, N: m.N}
		ev.Frame, ev.Problems = schema.DecodeFrame(m.Payload)
		p.loop.send(p.ctx, ev)
	case schema.TopicPresence:
		ev := event.PresenceSeen{}
		if len(m.Payload) > 0 {
			ev.Presence, _ = schema.Decode[schema.Presence](m.Payload)
		}
		p.loop.send(p.ctx, ev)
	case schema.TopicFleetPresence:
		ev := event.FleetdPresence{}
		if len(m.Payload) > 0 {
			ev.Presence, _ = schema.Decode[schema.Presence](m.Payload)
		}
		p.loop.send(p.ctx, ev)
	case schema.TopicFleetHeartbeat, schema.TopicLocalHeartbeat:
		beat, problems := schema.Decode[schema.FleetHeartbeat](m.Payload)
		if len(problems) > 0 || m.Retain {
			p.log.Warn("heartbeat ignored: it is retained or cannot be read", "client", at.CID, "retained", m.Retain, "problems", problems)
			return
		}
		p.loop.send(p.ctx, event.Heartbeat{Client: sender(at.CID), Beat: beat, FromConsole: row.Kind == schema.TopicLocalHeartbeat})
	case schema.TopicDesiredStory, schema.TopicDesiredConfig, schema.TopicDesiredMode, schema.TopicDesiredActivities, schema.TopicDesiredPlaces:
		ev := event.ReadDesired(row.Kind, m.Payload)
		if mode, ok := ev.(event.DesiredMode); ok {
			mode.Retained, ev = m.Retain, mode
		}
		p.loop.send(p.ctx, ev)
	case schema.TopicSim:
		if p.sim != nil {
			p.sim.receive(at.Name, m.Payload, m.Retain)
		}
	case schema.TopicNotice:
		p.log.Warn("notice from the broker", "notice", string(m.Payload))
		if n, problems := schema.Decode[schema.Notice](m.Payload); len(problems) == 0 && dropped(n) {
			row, _, _ := p.ns.Match(n.Topic)
			p.loop.send(p.ctx, event.MessageDropped{Kind: row.Kind, Reason: n.Reason})
		}
	}
}

// dropped reports whether a notice says that the broker dropped a message of this robot. The others
// say that another client used the robot's name: taken_over, and forbidden without a topic; see rival.
func dropped(n schema.Notice) bool {
	return n.Reason != schema.ReasonTakenOver && (n.Topic != "" || n.Reason != schema.ReasonForbidden)
}

// sender returns the name of a client of the broker. A client that has the name of the robot's own
// page gets another one, so that none has the rights of the page.
func sender(cid string) string {
	if cid == schema.LocalClient {
		return cid + ".mqtt"
	}
	return cid
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
		p.log.Error("another client connects under this robot's name: look for a second robot of this name, such as one with a cloned disk", "robot", p.id, "wait", s.Wait)
		p.loop.send(p.ctx, event.DuplicateIdentity{Why: "another client connects under this robot's name, and each time the broker ends the connection of the other one"})
	}
}

// stop sends a stop, or the release of one, to the loop ahead of all other events. A
// document that was deleted at the broker changes nothing.
func (p *mqttTranslator) stop(kind schema.TopicKind, client string, m link.Message) {
	if kind == schema.TopicFleetStopCmd {
		p.loop.stop(p.ctx, event.LiveStop{Client: sender(client), Payload: m.Payload, Retained: m.Retain, N: m.N})
		return
	}
	if len(m.Payload) == 0 {
		p.log.Warn("document that latches stops was deleted at the broker; this releases no stop", "topic", m.Topic)
		return
	}
	ev := event.ReadStops(kind, m.Payload)
	ev.N = m.N
	p.loop.stop(p.ctx, ev)
}
