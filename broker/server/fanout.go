package server

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// The heartbeat of fleetd goes to every robot each second: with ten thousand robots at rest it is nine tenths of what the broker sends.
// For each of them the library would search the subscriptions, copy the packet for each receiver, and encode each copy. So these messages,
// which are of QoS 0 and never retained, go past it: they are encoded once, and their receivers are remembered until a subscription changes.
type fanout struct {
	changes atomic.Int64 // of the subscriptions of all clients

	mu      sync.Mutex
	lists   map[string]receivers // by topic
	waiting []passing            // until those before them are sent
	sending bool
}

// maxFanoutTopics is more than there are instances of fleetd.
const maxFanoutTopics = 16

// maxPassing is how many messages wait at most. On a busy machine one may take longer than a second to be sent to all, and then the older
// ones, which say less, are left out.
const maxPassing = 4

// passing is a message on its way to its receivers.
type passing struct {
	from    string // client id
	topic   string
	payload []byte
	to      []receiver
}

// receivers are those of one topic.
type receivers struct {
	asOf int64 // fanout.changes
	all  []receiver
	// library: somebody's subscription is of a kind that only the library serves: shared, inside the process, or with an identifier.
	library bool
}

type receiver struct {
	id      string
	c       *conn
	version byte // of MQTT
	noLocal bool // it does not receive what it has sent itself
}

// fanOut has a message sent to all its receivers, and reports whether it does. Otherwise the library has to. It does not wait until it is
// sent: a stop may come behind it over the same connection.
func (g *guard) fanOut(cl *mqtt.Client, pk *packets.Packet) bool {
	if pk.FixedHeader.Qos > 0 || pk.FixedHeader.Retain || pk.ProtocolVersion == 5 { // it could have properties
		return false
	}
	to := g.receivers(pk.TopicName)
	if to.library {
		return false
	}
	f := &g.fanout
	f.mu.Lock()
	defer f.mu.Unlock()
	m := passing{cl.ID, strings.Clone(pk.TopicName), bytes.Clone(pk.Payload), to.all} // the session reads the next packet meanwhile
	if f.waiting = append(f.waiting, m); len(f.waiting) > maxPassing {
		f.waiting = f.waiting[1:]
	}
	if !f.sending {
		f.sending = true
		go g.passAll()
	}
	return true
}

// passAll sends what waits, and ends.
func (g *guard) passAll() {
	f := &g.fanout
	for {
		f.mu.Lock()
		if len(f.waiting) == 0 {
			f.sending, f.waiting = false, nil
			f.mu.Unlock()
			return
		}
		m := f.waiting[0]
		f.waiting = f.waiting[1:]
		f.mu.Unlock()
		g.pass(m)
	}
}

// pass sends a message to its receivers.
func (g *guard) pass(m passing) {
	encoded := map[byte][]byte{} // by the version of MQTT
	var messages, sent int64
	for _, r := range m.to {
		if r.noLocal && r.id == m.from {
			continue
		}
		if encoded[r.version] == nil {
			var b bytes.Buffer
			out := packets.Packet{ProtocolVersion: r.version, FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: m.topic,
				Payload: m.payload}
			if err := out.PublishEncode(&b); err != nil { // the topic came from a packet
				g.log.Error("message not encoded", "topic", m.topic, "error", err)
				return
			}
			encoded[r.version] = b.Bytes()
		}
		if r.c.pass(encoded[r.version]) {
			messages++
			sent += int64(len(encoded[r.version]))
		} else {
			r.c.tally.dropped.Add(1)
		}
	}
	info := g.srv.Info
	atomic.AddInt64(&info.MessagesSent, messages)
	atomic.AddInt64(&info.PacketsSent, messages)
	atomic.AddInt64(&info.BytesSent, sent)
}

// receivers returns those of a topic.
func (g *guard) receivers(topic string) receivers {
	f := &g.fanout
	now := f.changes.Load() // before the search: a change meanwhile makes the list an old one
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.lists[topic]; ok && known.asOf == now {
		return known
	}
	found := g.srv.Topics.Subscribers(topic)
	list := receivers{asOf: now, library: len(found.Shared) > 0 || len(found.InlineSubscriptions) > 0}
	for id, sub := range found.Subscriptions {
		cl, ok := g.srv.Clients.Get(id)
		if !ok {
			continue
		}
		c := connOf(cl)
		version := cl.Properties.ProtocolVersion
		identified := slices.ContainsFunc(slices.Collect(maps.Values(sub.Identifiers)), func(n int) bool { return n > 0 })
		if c == nil || version == 5 && (identified || cl.Properties.Props.TopicAliasMaximum > 0) {
			list.library = true
			break
		}
		if who := c.client.Load(); who != nil && who.rights.MayRead(topic) {
			list.all = append(list.all, receiver{id, c, version, sub.NoLocal})
		}
	}
	if f.lists == nil || len(f.lists) >= maxFanoutTopics {
		f.lists = map[string]receivers{}
	}
	f.lists[topic] = list
	return list
}

// maxPassed bounds the bytes that wait for a client beside its queue. What is beyond it is a heartbeat of which a newer one comes.
const maxPassed = 4 << 10

// pass sends an encoded packet beside the client's queue. It does not block: a client that does not read waits for itself.
func (c *conn) pass(packet []byte) bool {
	u := &c.unsent
	u.mu.Lock()
	waiting := len(u.bytes)
	if u.broken != nil || waiting > maxPassed {
		u.mu.Unlock()
		return false
	}
	u.bytes = append(u.bytes, packet...)
	u.mu.Unlock()
	if waiting == 0 { // else whoever wrote that sends this, too
		go func() { _ = c.send() }()
	}
	return true
}
