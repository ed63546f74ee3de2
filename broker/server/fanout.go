package server

import (
	"bytes"
	"maps"
	"slices"
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

	mu    sync.Mutex
	lists map[string]receivers // by topic
}

// maxFanoutTopics is more than there are instances of fleetd.
const maxFanoutTopics = 16

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

// fanOut sends a message to all its receivers, and reports whether it did. Otherwise the library has to.
func (g *guard) fanOut(cl *mqtt.Client, pk *packets.Packet) bool {
	if pk.FixedHeader.Qos > 0 || pk.FixedHeader.Retain || pk.ProtocolVersion == 5 { // it could have properties
		return false
	}
	to := g.receivers(pk.TopicName)
	if to.library {
		return false
	}
	var encoded [2][]byte // for MQTT 3.1.1 and 5
	var messages, sent int64
	for _, r := range to.all {
		if r.noLocal && r.id == cl.ID {
			continue
		}
		i := 0
		if r.version == 5 {
			i = 1
		}
		if encoded[i] == nil {
			var b bytes.Buffer
			out := packets.Packet{ProtocolVersion: r.version, FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: pk.TopicName,
				Payload: pk.Payload}
			if out.PublishEncode(&b) != nil {
				return false
			}
			encoded[i] = b.Bytes()
		}
		if r.c.pass(encoded[i]) {
			messages++
			sent += int64(len(encoded[i]))
		} else {
			r.c.tally.dropped.Add(1)
		}
	}
	info := g.srv.Info
	atomic.AddInt64(&info.MessagesSent, messages)
	atomic.AddInt64(&info.PacketsSent, messages)
	atomic.AddInt64(&info.BytesSent, sent)
	return true
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
