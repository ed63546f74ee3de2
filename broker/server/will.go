package server

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
	"troupe/schema"
)

// judgeWill says why a will is not taken; empty: it is. One on a presence says that
// its connection is lost: it is the last word about who is gone, and must not be
// that he is there.
func (g *guard) judgeWill(c *client, topic string, retain bool, payload []byte) (why string) {
	if v := c.rights.JudgeWill(access.Publish{Topic: topic, Retain: retain, Size: len(payload)}); v.Decision != access.Pass {
		return v.Detail
	}
	if !g.presence(topic) {
		return ""
	}
	p, problems := schema.Decode[schema.Presence](payload)
	switch errs := schema.Errors(problems); {
	case len(errs) > 0:
		return "it is no presence: " + errs[0].String()
	case p.State != schema.PresenceLost:
		return "a will says lost, and not " + string(p.State)
	}
	return ""
}

// presence reports whether a robot or a fleetd instance says there that it is there.
func (g *guard) presence(topic string) bool {
	row, _, ok := g.ns.Match(topic)
	return ok && (row.Kind == schema.TopicPresence || row.Kind == schema.TopicFleetPresence)
}

// OnWill silences the will of a connection whose id is connected again, and all
// wills when the broker closes: in both cases nobody was lost. The library asks no
// right when it sends one, so what was judged at the CONNECT is judged again.
func (g *guard) OnWill(cl *mqtt.Client, will mqtt.Will) (mqtt.Will, error) {
	c := connOf(cl)
	if g.closing.Load() || c == nil || c.who.Load() == nil || c.takenOver.Load() {
		g.counters.add(willSilenced)
		return mqtt.Will{}, nil
	}
	if why := g.judgeWill(c.who.Load(), will.TopicName, will.Retain, will.Payload); why != "" {
		g.counters.add(willSilenced)
		g.log.Error("a will that must not be sent", "client", cl.ID, "topic", will.TopicName, "why", why)
		return mqtt.Will{}, nil
	}
	if c.kicked.Load() != nil {
		if will = g.willOfKicked(c, will); will.Flag == 0 {
			g.counters.add(willSilenced)
			return will, nil
		}
	}
	if will.Retain {
		g.kept.keeping(will.TopicName, len(will.Payload), true)
	}
	return will, nil
}

// sendWillOf sends the will of a client whose handling panicked, which the library
// then never does. A second CONNECT is the one packet that makes it send a will, if
// it has not sent it yet.
func (g *guard) sendWillOf(cl *mqtt.Client) {
	defer func() {
		if p := recover(); p != nil {
			g.counters.add(panicked)
			g.log.Error("sending a will panicked", "client", cl.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	_ = g.srv.InjectPacket(cl, packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}}) // refused when the will is sent
}

func (g *guard) OnWillSent(cl *mqtt.Client, pk packets.Packet) {
	if pk.TopicName != "" {
		g.counters.add(willSent)
		g.told.tell(slog.LevelInfo, "will sent", "", cl.ID, "client", cl.ID, "topic", pk.TopicName)
	}
}

// willOfKicked is the will of a client who lost his right. It is sent, for it is
// true: nobody reaches that robot now, and a presence left at online would be a
// lie. But of what he wrote only the session is believed; that he is lost, and
// why, the broker says itself. Whatever else a will may say is not sent.
func (g *guard) willOfKicked(nc *conn, will mqtt.Will) mqtt.Will {
	if !g.presence(will.TopicName) {
		return mqtt.Will{}
	}
	p, problems := schema.Decode[schema.Presence](will.Payload)
	if len(schema.Errors(problems)) > 0 {
		return mqtt.Will{}
	}
	told := schema.Presence{State: schema.PresenceLost, Session: p.Session, Boot: p.Boot, Reason: nc.kicked.Load().reason}
	payload, err := schema.Encode(told)
	if err != nil {
		g.log.Error("encode presence of a kicked client", "client", nc.who.Load().ClientID, "error", err)
		return mqtt.Will{}
	}
	will.Payload = payload
	return will
}
