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

// judgeWill returns why a will is refused; empty if it is accepted. A will on a presence
// topic must say "lost": it is sent after the client is gone.
func (g *guard) judgeWill(c *client, topic string, retain bool, payload []byte) (why string) {
	if v := c.rights.JudgeWill(access.Publish{Topic: topic, Retain: retain, Size: len(payload)}); v.Decision != access.Pass {
		return v.Detail
	}
	if !g.isPresence(topic) {
		return ""
	}
	p, problems := schema.Decode[schema.Presence](payload)
	switch errs := schema.Errors(problems); {
	case len(errs) > 0:
		return "not a valid presence: " + errs[0].String()
	case p.State != schema.PresenceLost:
		return "the presence of a will must be lost, not " + string(p.State)
	}
	return ""
}

// isPresence reports whether topic is the presence of a robot or of fleetd.
func (g *guard) isPresence(topic string) bool {
	row, _, ok := g.ns.Match(topic)
	return ok && (row.Kind == schema.TopicPresence || row.Kind == schema.TopicFleetPresence)
}

// will is the will of a connection; the zero value is none.
type will struct{ topic, payload string }

// isReplaced reports whether the newer connection with the same client id makes the will of the older
// one void. A presence is, since the client is not lost. A stop is only if the newer connection armed the same
// stop: otherwise another program uses the id, and nothing would stop the robots any more.
func (g *guard) isReplaced(old *conn, topic string) bool {
	if !old.takenOver.Load() {
		return false
	}
	if !g.isCommand(topic) {
		return true
	}
	now := old.successor.Load()
	return now != nil && now.client.Load().will == old.client.Load().will
}

// OnWill suppresses the will that a newer connection replaces, and all wills
// when the broker closes: in both cases no client was lost. The library checks no rights
// when it sends a will, so the decision of CONNECT is made again.
func (g *guard) OnWill(cl *mqtt.Client, will mqtt.Will) (mqtt.Will, error) {
	c := connOf(cl)
	if g.closing.Load() || c == nil || c.client.Load() == nil || g.isReplaced(c, will.TopicName) {
		g.counters.add(willSuppressed)
		return mqtt.Will{}, nil
	}
	if why := g.judgeWill(c.client.Load(), will.TopicName, will.Retain, will.Payload); why != "" {
		g.counters.add(willSuppressed)
		g.log.Error("will suppressed: it is no longer allowed", "client", cl.ID, "topic", will.TopicName, "why", why)
		return mqtt.Will{}, nil
	}
	if c.kicked.Load() != nil {
		if will = g.willOfKicked(c, will); will.Flag == 0 {
			g.counters.add(willSuppressed)
			return will, nil
		}
	}
	g.keepLiveStop(will.TopicName, will.Payload, will.Qos)
	if will.Retain {
		g.retained.begin(&will.TopicName, len(will.Payload), true)
	}
	return will, nil
}

// sendWillOf sends the will of a client whose handling panicked.
func (g *guard) sendWillOf(cl *mqtt.Client) {
	defer func() {
		if p := recover(); p != nil {
			g.counters.add(panicked)
			g.log.Error("sending a will panicked", "client", cl.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	sendWill(g.srv, cl)
}

func (g *guard) OnWillSent(cl *mqtt.Client, pk packets.Packet) {
	if pk.TopicName != "" {
		g.counters.add(willSent)
		g.throttledLog.add(slog.LevelInfo, "will sent", "", cl.ID, append(g.names(cl), "topic", pk.TopicName)...)
	}
}

// willOfKicked is the will of a client that was kicked. A presence is sent, because it is
// true that the client is lost, and a presence that stayed online would be false. Only the
// session and the boot are taken from the client's will; state and reason are the
// broker's. Any other will is not sent, not even a stop: the credentials are no longer
// valid, so it may be the will of somebody who stole them.
func (g *guard) willOfKicked(nc *conn, will mqtt.Will) mqtt.Will {
	if !g.isPresence(will.TopicName) {
		return mqtt.Will{}
	}
	p, problems := schema.Decode[schema.Presence](will.Payload)
	if len(schema.Errors(problems)) > 0 {
		return mqtt.Will{}
	}
	presence := schema.Presence{State: schema.PresenceLost, Session: p.Session, Boot: p.Boot, Reason: nc.kicked.Load().reason}
	payload, err := schema.Encode(presence)
	if err != nil {
		g.log.Error("presence \"lost\" of a disconnected client not encoded; none is published", "client", nc.client.Load().ClientID, "error",
			err)
		return mqtt.Will{}
	}
	will.Payload = payload
	return will
}
