package server

import (
	"bytes"
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// The heartbeat of fleetd goes to every robot each second: with ten thousand robots at rest it is nine tenths of what the broker sends.
// For each of them the library would search the subscriptions, copy the packet for each receiver, and encode each copy. So these, which
// are of QoS 0 and never retained, go past it: they are encoded once, and their receivers are remembered until a subscription changes.
type fanout struct {
	changes atomic.Int64 // of the subscriptions of all clients

	mu      sync.Mutex
	lists   map[string]receivers // by topic
	waiting []passing            // until those before them are sent
	sending bool
}

const (
	// maxFanoutTopics is more than there are instances of fleetd.
	maxFanoutTopics = 16
	// maxPassing is how many messages wait at most. On a busy machine one may take longer than a second to be sent to all, and then the
	// older ones, which say less, are left out.
	maxPassing = 4
	// maxPassed bounds the bytes that wait for a client beside its queue.
	maxPassed = 4 << 10
)

// receivers are those of one topic.
type receivers struct {
	asOf    int64 // fanout.changes
	all     []*conn
	library bool // somebody's subscription is shared, or inside the process, and only the library serves it
}

// passing is an encoded message on its way to its receivers.
type passing struct {
	packet []byte
	to     []*conn
}

// fanOut has a message sent to all its receivers, and reports whether it does. Otherwise the library has to. It does not wait until it is
// sent: a stop may come behind it over the same connection.
func (g *guard) fanOut(pk *packets.Packet) bool {
	if pk.FixedHeader.Qos > 0 || pk.FixedHeader.Retain {
		return false
	}
	to := g.receivers(pk.TopicName)
	var b bytes.Buffer
	out := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish}, TopicName: pk.TopicName, Payload: pk.Payload}
	if to.library || out.PublishEncode(&b) != nil {
		return false
	}
	f := &g.fanout
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting = append(f.waiting, passing{b.Bytes(), to.all}); len(f.waiting) > maxPassing {
		f.waiting = f.waiting[1:]
	}
	if !f.sending {
		f.sending = true
		go g.passAll()
	}
	return true
}

// receivers returns those of a topic.
func (g *guard) receivers(topic string) receivers {
	f := &g.fanout
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.changes.Load() // before the search: a change meanwhile makes the list an old one
	if known, ok := f.lists[topic]; ok && known.asOf == now {
		return known
	}
	found := g.srv.Topics.Subscribers(topic)
	list := receivers{asOf: now, library: len(found.Shared) > 0 || len(found.InlineSubscriptions) > 0}
	for id := range found.Subscriptions {
		cl, connected := g.srv.Clients.Get(id)
		if !connected {
			continue
		}
		c := connOf(cl)
		if c == nil {
			list.library = true
		} else if who := c.client.Load(); who != nil && who.rights.MayRead(topic) {
			list.all = append(list.all, c)
		}
	}
	if f.lists == nil || len(f.lists) >= maxFanoutTopics {
		f.lists = map[string]receivers{}
	}
	f.lists[topic] = list
	return list
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
		var messages int64
		for _, c := range m.to {
			if c.pass(m.packet) {
				messages++
			} else {
				c.tally.dropped.Add(1)
			}
		}
		info := g.srv.Info
		atomic.AddInt64(&info.MessagesSent, messages)
		atomic.AddInt64(&info.PacketsSent, messages)
		atomic.AddInt64(&info.BytesSent, messages*int64(len(m.packet)))
	}
}

// OnUnsubscribed is called for a client that ends, too.
func (g *guard) OnUnsubscribed(*mqtt.Client, packets.Packet) { g.fanout.changes.Add(1) }

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
	if waiting == 0 { // otherwise the goroutine that wrote those bytes sends these with them
		go func() { _ = c.send() }()
	}
	return true
}
