package bus

import (
	"bytes"
	"context"
	"sync/atomic"

	"troupe/broker/link"
	"troupe/schema"
	"troupe/schema/bus"
)

// rateLimit lets through as many messages of one adapter as its rate allows.
type rateLimit struct {
	tokens atomic.Int64
	over   atomic.Bool // a message was dropped since the last tick
}

// refill adds the tokens of a tick, and reports whether a message was dropped.
func (t *rateLimit) refill() (over bool) {
	t.tokens.Store(min(bus.MaxBurst, max(0, t.tokens.Load())+int64(perTick)))
	return t.over.Swap(false)
}

// takes reports whether a message may pass.
func (t *rateLimit) takes(payload []byte) bool {
	switch left := t.tokens.Add(-1); {
	case left >= 0:
		return true
	case left >= -bus.MaxBurst && bytes.Contains(payload, []byte("estop-input")):
		return true // a person who presses a button of the robot is heard all the same
	}
	t.over.Store(true)
	return false
}

func (b *Bus) linkConfig() link.Config {
	c := link.Config{
		URL: b.config.URL, Dial: b.config.Dial, ClientID: "robotd", MaxPacket: 2 * bus.MaxPayload, Logger: b.log,
		Will: b.presence(false), Presence: b.presence(true),
		Subscribe: []link.Subscription{{Filter: bus.Out("+", bus.OutPresence), QoS: 1}},
		OnMessage: b.receive,
		OnState: func(s link.State) {
			switch s.Phase {
			case link.Up:
				b.log.Info("connected to the bus")
			case link.Down, link.Refused:
				b.enqueue(false, b.busLost)
			}
		},
	}
	for _, name := range b.config.Adapters {
		c.Subscribe = append(c.Subscribe, link.Subscription{Filter: bus.Out(name, "#"), QoS: 1}) // all: a topic that is none of the bus is logged
	}
	return c
}

// presence returns robotd's presence on the bus.
func (b *Bus) presence(there bool) func(session string) link.Message {
	return func(session string) link.Message {
		p := bus.RobotPresence{V: bus.Version, Present: there, Session: session}
		if there {
			p.Robot, p.Language, p.Assets = b.config.Robot, b.config.Language, b.config.Assets
		}
		return link.Message{Topic: bus.RobotPresenceTopic, Payload: encode(p), QoS: 1, Retain: true}
	}
}

// receive takes a message of the bus. It runs on the link's goroutine and never waits.
func (b *Bus) receive(m link.Message) {
	name, what, ok := bus.FromAdapter(m.Topic)
	if !ok {
		return
	}
	t := b.rateLimits[name]
	if t == nil {
		if what == bus.OutPresence {
			b.enqueue(true, func() { b.otherPresence(name, m.Payload) })
		}
		return
	}
	if !t.takes(m.Payload) {
		return
	}
	b.enqueue(false, func() { b.take(b.adapter(name), what, m.Payload) })
}

// noWait has ended: a publication that does not fit into the connection's send queue is not worth waiting for.
var noWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// publish reports whether the message was passed to the connection.
func (b *Bus) publish(topic string, qos byte, v any) bool {
	return b.link.Publish(noWait, link.Message{Topic: topic, Payload: encode(v), QoS: qos}) == nil
}

// encode encodes a message of the bus. Its types hold only what JSON can represent: numbers
// are checked before.
func encode(v any) []byte {
	payload, err := schema.Encode(v)
	if err != nil {
		panic("bus: " + err.Error())
	}
	return payload
}
