package server

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
	"golang.org/x/time/rate"

	"troupe/broker/access"
	"troupe/schema"
)

// guard is the one hook of the server library. There must not be a second one:
// the library admits whatever any hook admits.
type guard struct {
	mqtt.HookBase

	creds    *fileWatcher
	revoked  revoked
	ns       schema.Namespace
	rates    rates
	paces    paces            // of commands
	connects limiters[string] // of robots, by client id
	searches limiters[string] // for what is kept, by name: each filter that is granted is one
	clashes  *rate.Limiter    // of notices that somebody else wanted a name
	log      *slog.Logger
	told     *logThrottle // what clients do
	counters *counters
	srv      *mqtt.Server
	self     *mqtt.Client // in whose name notices are sent
	live     *sessions
	kept     kept
	left     retainedByUser
	hashing  *passwords

	maxPending  int // deliveries in the queue of one client
	maxInflight int // deliveries to one client without an acknowledgement
	closing     atomic.Bool
}

// client is a connection that said who it is. But for its immutable parts it
// belongs to the connection's reading goroutine, on which the hooks run.
type client struct {
	access.Identity
	user   access.User
	serial string // of the certificate that said who it is; empty: there was none
	rights *access.Rights

	messages, bytes           *rate.Limiter // of a robot, else nil
	refusals, notices, frames *rate.Limiter // frames: of notices about frames
	unsaid                    int64         // refusals without a notice since the last one
}

var errAbuse = errors.New("too many refusals")

func (g *guard) ID() string { return "guard" }

// Provides lists the methods below: the library calls no others, and says
// nothing about one that is missing here.
func (g *guard) Provides(b byte) bool {
	return bytes.Contains([]byte{
		mqtt.OnConnect, mqtt.OnConnectAuthenticate, mqtt.OnSessionEstablished, mqtt.OnDisconnect,
		mqtt.OnACLCheck, mqtt.OnSubscribe, mqtt.OnSubscribed, mqtt.OnPublish, mqtt.OnPublishDropped, mqtt.OnQosPublish, mqtt.OnWill, mqtt.OnWillSent,
		mqtt.OnRetainMessage, mqtt.OnPacketRead, mqtt.OnPacketEncode, mqtt.OnPacketSent, mqtt.OnPacketProcessed,
	}, []byte{b})
}

func connOf(cl *mqtt.Client) *conn {
	c, _ := cl.Net.Conn.(*conn)
	return c
}

// whoIs returns the identified client behind cl, or nil.
func whoIs(cl *mqtt.Client) *client {
	if c := connOf(cl); c != nil {
		return c.who.Load()
	}
	return nil
}

// OnSessionEstablished ends the time in which a connection counts as waiting.
func (g *guard) OnSessionEstablished(cl *mqtt.Client, _ packets.Packet) {
	connOf(cl).finished()
	g.told.tell(slog.LevelInfo, "client connected", "", cl.ID, "client", cl.ID, "role", whoIs(cl).Role, "remote", cl.Net.Remote)
}

func (g *guard) OnDisconnect(cl *mqtt.Client, err error, _ bool) {
	if g.closing.Load() {
		return
	}
	why := "said goodbye"
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
	g.told.tell(slog.LevelInfo, "client disconnected", "", cl.ID, "client", cl.ID, "why", why)
}

// OnSubscribe lowers the QoS of those who must not slow others down, and tells
// the client what it will not get.
func (g *guard) OnSubscribe(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	c := whoIs(cl)
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
		case !access.ValidFilter(f.Filter):
			why = "not a topic filter that is taken here"
		case !c.rights.MayRead(f.Filter):
			why = fmt.Sprintf("role %s reads nothing there", c.Role)
		case !again && len(has) >= most:
			why = fmt.Sprintf("more than %d subscriptions", most)
		case !g.searches.allow(c.Name):
			g.remark(c, subscribeRefused, schema.ReasonOverloaded, f.Filter, fmt.Sprintf("subscribe: more than %d filters a second", g.rates.search))
			f.Filter = ""
			continue
		}
		if why != "" {
			g.refuse(cl, c, subscribeRefused, schema.ReasonForbidden, f.Filter, "subscribe: "+why)
			f.Filter = "" // which the library refuses
			continue
		}
		has[f.Filter] = packets.Subscription{}
		f.Qos = min(f.Qos, c.rights.MaxQoS())
	}
	return pk
}

// OnPublish judges a publish. What is refused is acknowledged and goes nowhere:
// every other answer makes clients of MQTT 3.1.1 send it again for ever.
func (g *guard) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if cl == g.self { // which keeps nothing, and at most clears
		if pk.FixedHeader.Retain && !g.clears(pk.TopicName) {
			return pk, packets.CodeSuccessIgnore
		}
		return pk, nil
	}
	c := whoIs(cl)
	if c == nil {
		return pk, packets.CodeSuccessIgnore
	}
	m := access.Publish{Topic: pk.TopicName, Retain: pk.FixedHeader.Retain, Size: len(pk.Payload)}
	v := c.rights.Judge(m)
	if v.Decision == access.Refuse {
		if v.Urgent {
			g.remark(c, eventOf(v.Reason), v.Reason, pk.TopicName, v.Detail)
		} else {
			g.refuse(cl, c, eventOf(v.Reason), v.Reason, pk.TopicName, v.Detail)
		}
		return pk, packets.CodeSuccessIgnore
	}
	if e, why := g.tooOften(c, v, m); why != "" {
		g.remark(c, e, schema.ReasonOverloaded, pk.TopicName, why)
		return pk, packets.CodeSuccessIgnore
	}
	must := v.Urgent
	if pk.TopicName == g.revoked.topic {
		must = true // it holds from here on; that it is not kept would be no refusal, and a lie to who asks for it
		if why := g.revoke(cl, pk.Payload); why != "" {
			g.refuse(cl, c, forbidden, schema.ReasonBadRequest, pk.TopicName, why)
			return pk, packets.CodeSuccessIgnore
		}
	}
	if v.Decision == access.Strip {
		pk.FixedHeader.Retain = false
		g.remark(c, eventOf(v.Reason), v.Reason, pk.TopicName, v.Detail)
	}
	if pk.FixedHeader.Retain && !g.kept.keeping(pk.TopicName, len(pk.Payload), must) {
		g.remark(c, noSpace, schema.ReasonNoSpace, pk.TopicName, fmt.Sprintf("%d MiB of documents are kept, and no more", g.kept.most>>20))
		return pk, packets.CodeSuccessIgnore
	}
	return pk, nil
}

// answerUnroutable refuses and acknowledges a publish to a topic of the broker's own,
// such as $SYS/x. The library passes it over without a word, and its sender would
// send it again for ever.
func (g *guard) answerUnroutable(cl *mqtt.Client, pk packets.Packet) {
	c := whoIs(cl)
	if c == nil || mqtt.IsValidFilter(pk.TopicName, true) || pk.PublishValidate(0) != packets.CodeSuccess {
		return
	}
	g.refuse(cl, c, forbidden, schema.ReasonForbidden, pk.TopicName, "there is no such topic")
	ack := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Puback}, PacketID: pk.PacketID}
	switch pk.FixedHeader.Qos {
	case 0:
		return
	case 2:
		ack.FixedHeader.Type = packets.Pubrec
	}
	_ = cl.WritePacket(ack) // a connection that cannot be written to ends by itself
}

// refuse counts a refusal, tells its sender, and cuts the connection of one who
// does nothing else.
func (g *guard) refuse(cl *mqtt.Client, c *client, e event, r schema.Reason, topic, detail string) {
	g.remark(c, e, r, topic, detail)
	if !c.refusals.Allow() {
		g.counters.add(abuse)
		g.told.tell(slog.LevelWarn, "client cut", "abuse", cl.ID, "client", cl.ID, "why", errAbuse)
		connOf(cl).end(errAbuse)
	}
}

// remark counts and tells, the log as well. Notices are limited; those left out are counted in
// the next.
func (g *guard) remark(c *client, e event, r schema.Reason, topic, detail string) {
	g.counters.add(e)
	c.unsaid++
	g.told.tell(slog.LevelWarn, "refused", string(r), c.Name, "client", c.ClientID, "reason", r, "topic", topic, "detail", detail)
	if e == framesOverRate && !c.frames.Allow() || !c.notices.Allow() {
		return
	}
	n := schema.Notice{Reason: r, Topic: topic, Detail: detail, Count: c.unsaid}
	c.unsaid = 0
	g.tell(c.Name, n)
}

// tell sends a notice to the clients of that name.
func (g *guard) tell(name string, n schema.Notice) {
	n.TS = schema.TimeOf(time.Now())
	payload, err := schema.Encode(n)
	if err != nil {
		g.log.Error("encode notice", "error", err)
		return
	}
	if err := g.publish(access.NoticeTopic(g.ns, name), payload, 1, false); err != nil {
		g.log.Error("publish notice", "client", name, "error", err)
		return
	}
	g.counters.add(noticeSent)
}

// tellTakenOver tells a connection, if it reads its notices, that a newer one of the
// same client id ends it. A client that has lost its line and comes back takes its own
// old connection over and never reads this; who does read it has a rival. MQTT 3.1.1
// has no other way to say so.
func (g *guard) tellTakenOver(old *conn) {
	topic := access.NoticeTopic(g.ns, old.who.Load().Name)
	cl, known := g.srv.Clients.Get(old.who.Load().ClientID)
	if !known || connOf(cl) != old {
		return
	}
	if _, reads := cl.State.Subscriptions.Get(topic); !reads {
		return
	}
	payload, err := schema.Encode(schema.Notice{TS: schema.TimeOf(time.Now()), Reason: schema.ReasonTakenOver, Detail: schema.ReasonTakenOver.Describe().Text})
	if err != nil {
		g.log.Error("encode notice", "error", err)
		return
	}
	// Past the library, which would put it at the end of a queue that is not written
	// any more.
	var b bytes.Buffer
	pk := packets.Packet{ProtocolVersion: cl.Properties.ProtocolVersion, FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: topic, Payload: payload}
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

// publish sends in the broker's own name.
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
