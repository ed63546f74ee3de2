package server

import (
	"errors"
	"log/slog"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/schema"
)

// Deliveries to a client wait in a queue of the library, and those of QoS 1 then for their
// acknowledgement. The library drops what does not fit into the queue, and silently drops
// what would exceed the maximum in flight. So that nothing is lost unnoticed:
//
//   - a document that did not fit is postponed, and sent when there is room
//     (postponed.go);
//   - a robot for which a command did not fit is disconnected: the command might have
//     been a stop, and a robot handles the loss of its connection safely;
//   - the queues of all connections of one user name together hold no more than four full
//     queues (that of a fleetd instance is as large), and no more unacknowledged deliveries than one connection may have. Beyond
//     that its connections are treated as if their queues were full, or cut, because the
//     memory is shared;
//   - a client that acknowledges nothing is disconnected before the library begins to
//     drop;
//   - everything else that did not fit is counted, and so is what is in the queue of a
//     connection that ends.

var (
	errQueueFull      = errors.New("delivery queue full: a command did not fit")
	errUnacknowledged = errors.New("too many unacknowledged deliveries")
)

// tally counts the deliveries in a connection's queue: those routed to it and not yet
// written or dropped.
type tally struct {
	queued  atomic.Int64
	dropped atomic.Int64 // total number dropped because the queue was full
	cut     atomic.Int64 // why the connection was cut: an event, or 0
}

// OnACLCheck decides about subscriptions (topic is the filter) and about each delivery.
// For publishes it always returns true: on false the library would close the connection,
// and the client would reconnect and send the same again. OnPublish decides about those.
func (g *guard) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	if write || topic == endTopic && g.closing.Load() {
		return true
	}
	c := connOf(cl)
	if c == nil {
		return false
	}
	who := c.client.Load()
	if who == nil || !isPlaceholder(topic) && !who.rights.MayRead(topic) {
		return false
	}
	if c.searching.Load() && cl.State.Inflight.Len() >= g.maxInflight/2 && g.postpone(cl, c, topic) {
		return false // more documents are retained than can be in flight at once
	}
	// While it subscribes, topic may be a filter, which is granted however many deliveries wait.
	// A delivery at that moment cannot be told from it, and only has to fit into its own queue.
	if !isPlaceholder(topic) && !c.subscribing.Load() && g.backlogged(c, who) {
		g.countDropped(cl, c, topic)
		g.postpone(cl, c, topic)
		return false
	}
	c.tally.queued.Add(1)
	c.postponed.versionQueued(topic, 1)
	return true
}

// maxFullQueues is how many full queues of Config.MaxQueued the connections of one user name may have together.
const maxFullQueues = 4

// shareDivisor protects small connections: one with less than 1/shareDivisor of its own limit is
// never treated as full because of the other connections of its user name.
const shareDivisor = 64

// backlogged reports whether c is to be treated as if its queue were full, because too many
// deliveries wait for all connections of its user name together. A connection for which almost
// nothing waits still gets its messages: the others cause the backlog. The connections of a robot
// are too few to reach this limit.
func (g *guard) backlogged(c *conn, who *client) bool {
	return c.tally.queued.Load() >= int64(max(1, g.maxQueued/shareDivisor)) &&
		g.sessions.sumOf(who.Name, func(_ string, c *conn) int { return int(c.tally.queued.Load()) }) >= maxFullQueues*g.maxQueued
}

// unanswered reports whether cl is to be cut, because all connections of its user name together
// have too many unacknowledged deliveries.
func (g *guard) unanswered(cl *mqtt.Client, who *client) bool {
	return cl.State.Inflight.Len() >= max(1, g.maxInflight/shareDivisor) &&
		g.sessions.sumOf(who.Name, func(id string, _ *conn) int {
			if other, there := g.srv.Clients.Get(id); there {
				return other.State.Inflight.Len()
			}
			return 0
		}) >= g.maxInflight
}

// OnSubscribed ends what OnSubscribe began, and corrects the count of OnACLCheck: a filter is no
// delivery.
func (g *guard) OnSubscribed(cl *mqtt.Client, pk packets.Packet, granted []byte) {
	g.fanout.changes.Add(1)
	if c := connOf(cl); c != nil {
		c.subscribing.Store(false)
		for i, code := range granted {
			if code <= 2 {
				c.tally.queued.Add(-1)
				c.postponed.versionQueued(pk.Filters[i].Filter, -1)
			}
		}
	}
}

// OnPublishDropped is called when a client's queue is full, on the goroutine of the
// sender.
func (g *guard) OnPublishDropped(cl *mqtt.Client, pk packets.Packet) {
	c := connOf(cl)
	if c == nil || pk.TopicName == endTopic {
		return
	}
	c.tally.queued.Add(-1)
	c.postponed.versionQueued(pk.TopicName, -1)
	if isPlaceholder(pk.TopicName) {
		c.postponed.requeue(string(pk.Payload))
		return
	}
	g.countDropped(cl, c, pk.TopicName)
	if who := c.client.Load(); who != nil && who.Role == schema.RoleRobot && !pk.FixedHeader.Retain &&
		(pk.FixedHeader.Qos > 0 || g.isCommand(pk.TopicName)) {
		g.cut(cl, c, queueFull, errQueueFull)
		return
	}
	g.postpone(cl, c, pk.TopicName)
}

// countDropped counts a delivery that was dropped.
func (g *guard) countDropped(cl *mqtt.Client, c *conn, topic string) {
	g.counters.add(deliveryDropped)
	c.tally.dropped.Add(1)
	if c.postponed.firstDrop() {
		g.throttledLog.add(slog.LevelWarn, "deliveries dropped: queue of slow client full", "", cl.ID, "client", cl.ID, "topic", topic)
	}
}

// isCommand reports whether messages on topic are commands. Their QoS does not count: a
// stop from a shell script has QoS 0.
func (g *guard) isCommand(topic string) bool {
	row, _, _ := g.ns.Match(topic)
	return row.Kind == schema.TopicCmd || row.Kind == schema.TopicFleetStopCmd
}

// OnQosPublish is called when a delivery of QoS 1 or 2, or an acknowledgement, is put in
// flight.
func (g *guard) OnQosPublish(cl *mqtt.Client, pk packets.Packet, _ int64, _ int) {
	c := connOf(cl)
	if c == nil {
		return
	}
	g.stopInFlight(c, &pk)
	if cl.State.Inflight.Len() >= g.maxInflight || g.unanswered(cl, c.client.Load()) {
		g.cut(cl, c, unacknowledged, errUnacknowledged)
	}
}

// cut ends a connection to which no more can be delivered.
func (g *guard) cut(cl *mqtt.Client, c *conn, e event, why error) {
	if c.tally.cut.CompareAndSwap(0, int64(e)) {
		g.counters.add(e)
		g.throttledLog.add(slog.LevelWarn, "client disconnected by broker", why.Error(), cl.ID, "client", cl.ID, "why", why)
	}
	c.end(why)
}

// countLost counts what was in the queue of a connection that ended.
func (g *guard) countLost(c *conn) {
	lost := map[event]event{stalled: lostStalled, unacknowledged: lostUnacknowledged, queueFull: deliveryDropped}
	e, ok := lost[event(c.tally.cut.Load())]
	if !ok {
		e = lostGone
	}
	if n := c.tally.queued.Swap(0); n > 0 {
		g.counters[e].Add(n)
	}
}

// afterWrite is called for each packet that was written to a client.
func (g *guard) afterWrite(cl *mqtt.Client, c *conn, pk *packets.Packet) {
	if pk.FixedHeader.Type == packets.Publish {
		c.tally.queued.Add(-1)
		g.stopWritten(c, pk)
	}
	g.queuePlaceholder(cl, c)
}
