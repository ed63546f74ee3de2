package server

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
	"golang.org/x/time/rate"

	"troupe/broker/access"
	"troupe/schema"
	"troupe/schema/verb"
)

// guard is the only hook of the server library. There must not be a second one: the
// library accepts whatever any hook accepts.
type guard struct {
	mqtt.HookBase

	creds        *fileWatcher
	revoked      revoked
	ns           schema.Namespace
	bus          bool
	rates        rates
	senderRates  senderRates      // of commands
	connects     limiters[string] // connects of robots, by client id
	blobConnects limiters[string] // connects of robots for blobs and of robotd doctor, by user name: see isRobotInTime
	searches     limiters[string] // searches of the retained documents, by user name: one for each granted filter
	clashNotices *rate.Limiter    // notices about a second client with the same name in another role
	log          *slog.Logger
	throttledLog *logThrottle // for everything that clients cause
	counters     *counters
	srv          *mqtt.Server
	robots       *mqtt.Server  // srv for connections of robots, see withQueue
	fleetds      *mqtt.Server  // the same for those of fleetd instances
	stacks       *stacks       // for their packets
	turns        chan struct{} // one element for each message of a robot that is being routed, see session.processShared
	self         *mqtt.Client  // publishes the broker's own messages
	sessions     *sessions
	retained     retainedDocs
	byUser       retainedByUser
	stops        keptStops
	fanout       fanout
	passwords    *passwords

	maxQueued   int // deliveries in the queue of one client
	maxInflight int // unacknowledged deliveries to one client
	closing     atomic.Bool
}

// client is the authenticated client of a connection. Its mutable parts belong to the
// connection's reading goroutine, on which the hooks run.
type client struct {
	access.Identity
	user   access.User
	asked  string // client id of CONNECT
	will   will
	serial string // of its certificate; empty: it authenticated by password
	rights *access.Rights

	messages, bytes                 *rate.Limiter // for a robot, else nil
	refusals, notices, frameNotices *rate.Limiter // frameNotices: notices about frames of manual driving
	unreported                      int64         // refusals since the last notice
}

var errAbuse = errors.New("too many refusals")

func (g *guard) ID() string { return "guard" }

// Provides lists the methods below. The library calls no others, and does not complain
// about one that is missing here.
func (g *guard) Provides(b byte) bool {
	return bytes.Contains([]byte{
		mqtt.OnACLCheck, mqtt.OnSubscribe, mqtt.OnSubscribed, mqtt.OnUnsubscribed, mqtt.OnPublish, mqtt.OnPublishDropped, mqtt.OnQosPublish,
		mqtt.OnWill, mqtt.OnWillSent,
		mqtt.OnRetainMessage, mqtt.OnPacketEncode, mqtt.OnPacketSent, mqtt.OnPacketProcessed,
	}, []byte{b})
}

func connOf(cl *mqtt.Client) *conn {
	c, _ := cl.Net.Conn.(*conn)
	return c
}

// clientOf returns the authenticated client of cl, or nil.
func clientOf(cl *mqtt.Client) *client {
	if c := connOf(cl); c != nil {
		return c.client.Load()
	}
	return nil
}

// established ends the time in which the connection counts as waiting for
// CONNECT.
func (g *guard) established(cl *mqtt.Client) {
	connOf(cl).connectDone()
	if g.isRobotInTime(clientOf(cl)) {
		connOf(cl).uncount()
	}
	names := g.names(cl)
	if !g.bus { // there all have one role
		names = append(names, "role", clientOf(cl).Role)
	}
	g.throttledLog.add(slog.LevelInfo, "client connected", "", cl.ID, append(names, "remote", cl.Net.Remote)...)
}

// disconnected logs why the connection of a client ended.
func (g *guard) disconnected(cl *mqtt.Client, err error) {
	if g.closing.Load() {
		return
	}
	why := "DISCONNECT"
	switch c := connOf(cl); {
	case c.takenOver.Load():
		why = "taken over"
	case c.kicked.Load() != nil:
		why = c.kicked.Load().why
	case c.cut.Load() != nil:
		why = (*c.cut.Load()).Error()
	case err != nil:
		why = err.Error()
	}
	g.throttledLog.add(slog.LevelInfo, "client disconnected", "", cl.ID, append(g.names(cl), "why", why)...)
}

// names returns the log's attributes that name a client: if the broker made its id, also the one that it gave.
func (g *guard) names(cl *mqtt.Client) []any {
	if c := clientOf(cl); c != nil && c.asked != cl.ID {
		return []any{"client", cl.ID, "client_id", c.asked}
	}
	return []any{"client", cl.ID}
}

// OnSubscribe grants or refuses each filter, and lowers the QoS for clients that must not
// slow others down.
func (g *guard) OnSubscribe(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	c := clientOf(cl)
	if c == nil {
		return pk
	}
	has, most := cl.State.Subscriptions.GetAll(), g.rates.subscriptions
	if c.Role == schema.RoleRobot {
		most = g.rates.robotSubscriptions
	}
	for i := range pk.Filters {
		f := &pk.Filters[i]
		why := ""
		_, again := has[f.Filter]
		switch {
		case c.rights.RefusesFilter(f.Filter) != "":
			why = c.rights.RefusesFilter(f.Filter)
		case !again && len(has) >= most:
			why = fmt.Sprintf("more than %d subscriptions", most)
		case !g.searches.allow(c.Name):
			g.report(c, subscribeRefused, schema.ReasonOverloaded, f.Filter,
				fmt.Sprintf("subscribe: more than %d filters per second", g.rates.search))
			f.Filter = ""
			continue
		}
		if why != "" {
			g.refuse(cl, c, subscribeRefused, schema.ReasonForbidden, f.Filter, "subscribe: "+why)
			f.Filter = "" // the library refuses an empty filter
			continue
		}
		has[f.Filter] = packets.Subscription{}
		f.Qos = min(f.Qos, c.rights.MaxQoS())
	}
	connOf(cl).subscribing.Store(true)
	return pk
}

// OnPublish decides about a PUBLISH. A refused one is acknowledged and not routed: any
// other answer makes MQTT 3.1.1 clients send it again for ever.
func (g *guard) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if cl == g.self { // the broker retains nothing of its own, it only deletes
		if pk.FixedHeader.Retain && !g.beginDelete(&pk.TopicName) {
			return pk, packets.CodeSuccessIgnore
		}
		return pk, nil
	}
	c := clientOf(cl)
	if c == nil {
		return pk, packets.CodeSuccessIgnore
	}
	m := access.Publish{Topic: pk.TopicName, Retain: pk.FixedHeader.Retain, Size: len(pk.Payload)}
	v := c.rights.Judge(m)
	if v.Decision == access.Refuse {
		if v.Exempt {
			g.report(c, eventOf(v.Reason), v.Reason, pk.TopicName, v.Detail)
		} else {
			g.refuse(cl, c, eventOf(v.Reason), v.Reason, pk.TopicName, v.Detail)
		}
		return pk, packets.CodeSuccessIgnore
	}
	row, params, _ := g.ns.Match(pk.TopicName)
	if e, why := g.exceedsRate(c, v, m, row.Kind, params.RID); why != "" {
		g.report(c, e, schema.ReasonOverloaded, pk.TopicName, why)
		return pk, packets.CodeSuccessIgnore
	}
	must := v.Exempt
	if pk.TopicName == g.revoked.topic {
		must = true // the list takes effect now, so it must be retained even if there is no room
		if why := g.revoke(cl, pk.Payload); why != "" {
			g.refuse(cl, c, forbidden, schema.ReasonBadRequest, pk.TopicName, why)
			return pk, packets.CodeSuccessIgnore
		}
	}
	if v.Decision == access.Strip {
		pk.FixedHeader.Retain = false
		g.report(c, eventOf(v.Reason), v.Reason, pk.TopicName, v.Detail)
	}
	if pk.FixedHeader.Retain && !g.retained.begin(&pk.TopicName, len(pk.Payload), must) {
		g.report(c, noSpace, schema.ReasonNoSpace, pk.TopicName,
			fmt.Sprintf("the limit of %d MiB of retained documents is reached", g.retained.maxBytes>>20))
		return pk, packets.CodeSuccessIgnore
	}
	g.dropReleasedStops(c, &pk)
	switch {
	case row.Kind == schema.TopicFleetHeartbeat && g.fanOut(&pk):
		return pk, packets.CodeSuccessIgnore
	case row.Kind == schema.TopicFleetStopCmd && !g.bus:
		g.keepLiveStop(pk.TopicName, pk.Payload, pk.FixedHeader.Qos)
		g.notifyUndeliveredStop(c, &pk)
	case row.Kind == schema.TopicCmd:
		g.notifyUndelivered(c, &pk, params)
	}
	return pk, nil
}

// notifyUndelivered notifies the sender of a command, also of a stop, if its robot does not receive
// it. The broker keeps no command for later, so nobody would answer. fleetd gets none: it
// watches the presence of robots.
func (g *guard) notifyUndelivered(c *client, pk *packets.Packet, params schema.TopicParams) {
	if c.Role == schema.RoleFleetd {
		return
	}
	if _, receives := g.srv.Topics.Subscribers(pk.TopicName).Subscriptions[params.RID]; receives {
		return
	}
	v, _ := verb.Of(params.Group, params.Verb)
	command, _ := verb.Decode(v, pk.Payload) // with whatever problems, its id is empty or valid
	g.reportNotice(c, noReceiver, schema.Notice{
		Reason: schema.ReasonUndelivered, Topic: pk.TopicName, ID: command.ID,
		Detail: "no robot " + params.RID + " is connected to this broker, which keeps no command for later; " +
			"send it again when the robot is online",
	})
}

// notifyUndeliveredStop notifies the sender of a live stop if no fleetd receives it, which would tell all robots,
// and a robot that it names does not either, or if it names none, no robot does. Only robots know their
// labels, so one that selects by labels counts as one that names none.
func (g *guard) notifyUndeliveredStop(c *client, pk *packets.Packet) {
	if c.Role == schema.RoleFleetd {
		return
	}
	robots := map[string]bool{}
	for id := range g.srv.Topics.Subscribers(pk.TopicName).Subscriptions {
		cl, known := g.srv.Clients.Get(id)
		if !known {
			continue
		}
		switch who := clientOf(cl); {
		case who == nil:
		case who.Role == schema.RoleFleetd:
			return
		case who.Role == schema.RoleRobot:
			robots[who.Name] = true
		}
	}
	stop, _ := schema.ReadStop(c.Name, pk.Payload)
	absent := slices.DeleteFunc(slices.Clone(stop.Robots), func(r string) bool { return robots[r] })
	what := "no robot and no fleetd is connected to this broker"
	switch {
	case len(absent) > 0:
		what = "no fleetd is connected to this broker, nor are these robots, which the stop names: " + listed(absent)
	case len(stop.Robots) > 0 || len(robots) > 0:
		return
	}
	g.reportNotice(c, noReceiver, schema.Notice{
		Reason: schema.ReasonUndelivered, Topic: pk.TopicName, ID: stop.ID,
		Detail: what + "; the broker gives the stop to those that connect within 30 s: send it again, under the same id, until it is answered",
	})
}

// maxListed is how many names a notice lists, which has at most 1 KiB.
const maxListed = 8

// listed lists names of a payload. Those that no robot can have are quoted and cut.
func listed(names []string) string {
	var out []string
	for i, n := range names {
		if i == maxListed {
			return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), len(names)-i)
		}
		if !schema.ValidID(n) {
			n = fmt.Sprintf("%.16q", n)
		}
		out = append(out, n)
	}
	return strings.Join(out, ", ")
}

// answerUnroutable refuses and acknowledges a PUBLISH to a topic that begins with $, such
// as $SYS/x, and reports whether it did. The library would ignore it without an acknowledgement, and its sender would
// send it again for ever.
func (g *guard) answerUnroutable(cl *mqtt.Client, pk *packets.Packet) bool {
	c := clientOf(cl)
	if c == nil || mqtt.IsValidFilter(pk.TopicName, true) || pk.PublishValidate(0) != packets.CodeSuccess {
		return false
	}
	g.refuse(cl, c, forbidden, schema.ReasonForbidden, pk.TopicName, "the topic is not in the topic table")
	ack := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Puback}, PacketID: pk.PacketID}
	switch pk.FixedHeader.Qos {
	case 0:
		return true
	case 2:
		ack.FixedHeader.Type = packets.Pubrec
	}
	_ = cl.WritePacket(ack) // a connection that cannot be written to ends anyway
	return true
}

// refuse reports a refusal, and disconnects a client that causes too many.
func (g *guard) refuse(cl *mqtt.Client, c *client, e event, r schema.Reason, topic, detail string) {
	g.report(c, e, r, topic, detail)
	if !c.refusals.Allow() {
		g.counters.add(abuse)
		g.throttledLog.add(slog.LevelWarn, "client disconnected by broker", "abuse", cl.ID, "client", cl.ID, "why", errAbuse)
		connOf(cl).end(errAbuse)
	}
}

// report counts a refusal, logs it and notifies the sender. Notices are rate-limited;
// omitted ones are counted in the next.
func (g *guard) report(c *client, e event, r schema.Reason, topic, detail string) {
	g.reportNotice(c, e, schema.Notice{Reason: r, Topic: topic, Detail: detail})
}

func (g *guard) reportNotice(c *client, e event, n schema.Notice) {
	g.counters.add(e)
	c.unreported++
	g.throttledLog.add(slog.LevelWarn, "refused", string(n.Reason), c.Name, "client", c.ClientID, "reason", n.Reason, "topic", n.Topic,
		"detail", n.Detail)
	if e == framesOverRate && !c.frameNotices.Allow() || !c.notices.Allow() {
		return
	}
	n.Count, c.unreported = c.unreported, 0
	g.notify(c.Name, n)
}

// notify publishes a notice to the clients of that name.
func (g *guard) notify(name string, n schema.Notice) {
	n.TS = schema.TimeOf(time.Now())
	payload, err := schema.Encode(n)
	if err != nil {
		g.log.Error("encode notice", "error", err)
		return
	}
	if err := g.publish(access.NoticeTopic(g.ns, name), payload, 1, false); err != nil {
		g.log.Error("publish notice", "user", name, "error", err)
		return
	}
	g.counters.add(noticeSent)
}

// notifyTakenOver notifies a connection, if it subscribes to its notices, that a newer one
// with the same client id takes its session over. A client that lost its network and
// reconnects takes over its own old connection and never reads this; a client that does
// read it has a rival. MQTT 3.1.1 has no other way to say so.
func (g *guard) notifyTakenOver(old *conn) {
	topic := access.NoticeTopic(g.ns, old.client.Load().Name)
	cl, known := g.srv.Clients.Get(old.client.Load().ClientID)
	if !known || connOf(cl) != old {
		return
	}
	if _, reads := cl.State.Subscriptions.Get(topic); !reads {
		return
	}
	payload, err := schema.Encode(schema.Notice{TS: schema.TimeOf(time.Now()), Reason: schema.ReasonTakenOver,
		Detail: schema.ReasonTakenOver.Describe().Text})
	if err != nil {
		g.log.Error("encode notice", "error", err)
		return
	}
	// Write it directly: the library would append it to a queue that is no longer written.
	var b bytes.Buffer
	pk := packets.Packet{ProtocolVersion: cl.Properties.ProtocolVersion, FixedHeader: packets.FixedHeader{Type: packets.Publish},
		TopicName: topic, Payload: payload}
	if err := pk.PublishEncode(&b); err != nil {
		g.log.Error("encode notice", "error", err)
		return
	}
	if _, err = old.Write(b.Bytes()); err == nil {
		err = old.send()
	}
	if err == nil {
		g.counters.add(noticeSent)
	}
}

// publish publishes as the broker itself.
func (g *guard) publish(topic string, payload []byte, qos byte, retain bool) error {
	return g.srv.InjectPacket(g.self, packets.Packet{
		FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: qos, Retain: retain},
		TopicName:   topic, Payload: payload, PacketID: uint16(qos),
	})
}

func eventOf(r schema.Reason) event {
	switch r {
	case schema.ReasonTooBig:
		return tooBig
	case schema.ReasonRetainedCommand:
		return retainedCommand
	case schema.ReasonBadRequest:
		return wrongRetain
	}
	return forbidden
}

func random() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
