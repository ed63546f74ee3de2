package server

import (
	"errors"
	"log/slog"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/schema"
)

// Deliveries to a client wait in a queue of the library, and those of QoS 1 then
// for their acknowledgement. What does not fit into the queue the library drops,
// and what would be one too many in flight it drops without a word. So that
// nothing is lost unseen:
//
//   - a document that did not fit is owed, and made good when there is room (owed.go);
//   - a robot for which a command did not fit is cut: it might have been a stop,
//     and a robot without a link knows what to do;
//   - a name has no more in all its queues together than four connections may have,
//     and no more unacknowledged than one: beyond that its connections are treated
//     as if their queues were full, or cut, for the memory is everybody's;
//   - whoever acknowledges nothing is cut before the library begins to drop;
//   - everything else that did not fit is counted, and so is what is in the queue
//     of a connection that ends.

var (
	errUndelivered    = errors.New("a command did not fit into its queue")
	errUnacknowledged = errors.New("too many deliveries without an acknowledgement")
)

// tally counts what is in a connection's queue: what was routed to it and not
// written or dropped yet.
type tally struct {
	queued  atomic.Int64
	dropped atomic.Int64 // ever, for want of room
	cut     atomic.Int64 // why the connection was cut: an event, or 0
}

// OnACLCheck answers for subscriptions (with the filter) and for each delivery
// (with the topic). For publishes it always says yes: the library would hang up
// on a no, and the client would come back and send the same again. OnPublish
// decides those.
func (g *guard) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	if write || topic == endTopic && g.closing.Load() {
		return true
	}
	c := connOf(cl)
	if c == nil {
		return false
	}
	who := c.who.Load()
	if who == nil || !isOwed(topic) && !who.rights.MayRead(topic) {
		return false
	}
	if c.searching.Load() && cl.State.Inflight.Len() >= g.maxInflight/2 && g.owe(cl, c, topic) {
		return false // more is kept than can be in flight at once
	}
	if !isOwed(topic) && g.backlogged(c, who) {
		g.leftOut(cl, c, topic)
		g.owe(cl, c, topic)
		return false
	}
	c.tally.queued.Add(1)
	c.owed.queues(topic, 1)
	return true
}

// manyQueues is how many full queues a name may have.
const manyQueues = 4

// share is the part of what a connection may have from which on it is looked at
// what others of its name have.
const share = 64

// backlogged reports whether too much waits for all connections of a name. Who
// has next to nothing waiting gets what is his: the others are in the way, not he.
// A robot's two connections never have so much.
func (g *guard) backlogged(c *conn, who *client) bool {
	return c.tally.queued.Load() >= int64(max(1, g.maxPending/share)) &&
		g.live.sum(who.Name, func(_ string, c *conn) int { return int(c.tally.queued.Load()) }) >= manyQueues*g.maxPending
}

// unanswered reports whether a name has too much unacknowledged.
func (g *guard) unanswered(cl *mqtt.Client, who *client) bool {
	return cl.State.Inflight.Len() >= max(1, g.maxInflight/share) &&
		g.live.sum(who.Name, func(id string, _ *conn) int {
			if other, there := g.srv.Clients.Get(id); there {
				return other.State.Inflight.Len()
			}
			return 0
		}) >= g.maxInflight
}

// OnSubscribed takes off what OnACLCheck counted: a filter is no delivery.
func (g *guard) OnSubscribed(cl *mqtt.Client, pk packets.Packet, granted []byte) {
	if c := connOf(cl); c != nil {
		for i, code := range granted {
			if code <= 2 {
				c.tally.queued.Add(-1)
				c.owed.queues(pk.Filters[i].Filter, -1)
			}
		}
	}
}

// OnPublishDropped comes when a client's queue is full, on the goroutine of
// whoever sent the message.
func (g *guard) OnPublishDropped(cl *mqtt.Client, pk packets.Packet) {
	c := connOf(cl)
	if c == nil || pk.TopicName == endTopic {
		return
	}
	c.tally.queued.Add(-1)
	c.owed.queues(pk.TopicName, -1)
	if isOwed(pk.TopicName) {
		c.owed.again(string(pk.Payload))
		return
	}
	g.leftOut(cl, c, pk.TopicName)
	if who := c.who.Load(); who != nil && who.Role == schema.RoleRobot && !pk.FixedHeader.Retain && (pk.FixedHeader.Qos > 0 || g.commands(pk.TopicName)) {
		g.cut(cl, c, undelivered, errUndelivered)
		return
	}
	g.owe(cl, c, pk.TopicName)
}

// leftOut counts what a client was not given.
func (g *guard) leftOut(cl *mqtt.Client, c *conn, topic string) {
	g.counters.add(deliveryDropped)
	c.tally.dropped.Add(1)
	if c.owed.first() {
		g.told.tell(slog.LevelWarn, "deliveries dropped: the client does not keep up", "", cl.ID, "client", cl.ID, "topic", topic)
	}
}

// commands reports whether what is sent on topic is a command, whatever its QoS:
// a stop from a shell has 0.
func (g *guard) commands(topic string) bool {
	row, _, _ := g.ns.Match(topic)
	return row.Kind == schema.TopicCmd || row.Kind == schema.TopicFleetStopCmd
}

// OnQosPublish comes when a delivery of QoS 1 or 2 is in flight, or an
// acknowledgement.
func (g *guard) OnQosPublish(cl *mqtt.Client, _ packets.Packet, _ int64, _ int) {
	if c := connOf(cl); c != nil && (cl.State.Inflight.Len() >= g.maxInflight || g.unanswered(cl, c.who.Load())) {
		g.cut(cl, c, unacknowledged, errUnacknowledged)
	}
}

// cut ends a connection that cannot be served any more.
func (g *guard) cut(cl *mqtt.Client, c *conn, e event, why error) {
	if c.tally.cut.CompareAndSwap(0, int64(e)) {
		g.counters.add(e)
		g.told.tell(slog.LevelWarn, "client cut", why.Error(), cl.ID, "client", cl.ID, "why", why)
	}
	c.end(why)
}

// settle counts what was in the queue of a connection that ended.
func (g *guard) settle(c *conn) {
	lost := map[event]event{stalled: lostStalled, unacknowledged: lostUnacknowledged, undelivered: deliveryDropped}
	e, ok := lost[event(c.tally.cut.Load())]
	if !ok {
		e = lostGone
	}
	if n := c.tally.queued.Swap(0); n > 0 {
		g.counters[e].Add(n)
	}
}

// written is told of each packet that went out to a client.
func (g *guard) written(cl *mqtt.Client, c *conn, pk packets.Packet) {
	if pk.FixedHeader.Type == packets.Publish {
		c.tally.queued.Add(-1)
	}
	g.makeGood(cl, c)
}
