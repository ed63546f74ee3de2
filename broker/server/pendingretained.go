package server

import (
	"strings"
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
)

// pendingRetained are the documents that did not fit into a client's queue. For each a note
// is queued as soon as there is room, and when it is its turn to be written, the
// document as it is then takes its place. So it cannot come after something newer
// or before something older, and a document that changed a thousand times while
// the client was slow is sent once. A note behind which a newer version of its
// document was queued is void: sent in its place, the document as it is then would
// come before that version, and the client would see it go backwards.
type pendingRetained struct {
	dropped atomic.Bool // since nothing was owed
	any     atomic.Bool // documents wait for a note
	noted   atomic.Bool // there are notes

	mu      sync.Mutex
	notes   map[string]note // by document
	waiting []string        // documents whose note is not in the queue
	routed  bool            // notes find their way to this client
}

// note is the note of one document.
type note struct {
	at place
	// behind are the versions of the document that were queued behind the note.
	behind int
}

// place is where a note is.
type place uint8

const (
	waits place = iota
	queued
	// tooEarly: it is in the queue, but the document was dropped once more since,
	// and an older one may be in the queue behind the note. It takes another.
	tooEarly
)

// owedTopic is where notes to one client are sent. Nobody can publish or
// subscribe below it; the payload is the document's topic.
const owedTopic = "$owed/"

func isOwed(topic string) bool { return strings.HasPrefix(topic, owedTopic) }

// first reports the first drop since all was made good, for the log.
func (o *pendingRetained) first() bool { return !o.dropped.Swap(true) }

// add says whether a note has to be sent at once: whoever adds the first one
// must, for the queue may have emptied meanwhile, and then nothing else would.
func (o *pendingRetained) add(topic string) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, known := o.notes[topic]; known {
		if n.at == queued {
			n.at = tooEarly
			o.notes[topic] = n
		}
		return false
	}
	return o.wait(topic)
}

// queues tells that a version of a document is about to be queued, or with -1 that
// it was not. What is not a document has no notes.
func (o *pendingRetained) queues(topic string, versions int) {
	if !o.noted.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, known := o.notes[topic]; known && n.at != waits {
		n.behind = max(0, n.behind+versions)
		o.notes[topic] = n
	}
}

// wait says whether nothing waited before.
func (o *pendingRetained) wait(topic string) (first bool) {
	if o.notes == nil {
		o.notes = map[string]note{}
	}
	o.notes[topic] = note{at: waits}
	o.noted.Store(true)
	o.waiting = append(o.waiting, topic)
	return !o.any.Swap(true)
}

// again takes back a note for which there was no room.
func (o *pendingRetained) again(topic string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wait(topic)
}

// next is a document to send a note for. Before the first one it calls route, and
// no other is given out before that is done: a note without a way would be lost.
func (o *pendingRetained) next(route func()) (topic string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return "", false
	}
	if !o.routed {
		route()
		o.routed = true
	}
	topic, o.waiting = o.waiting[0], o.waiting[1:]
	o.any.Store(len(o.waiting) > 0)
	o.notes[topic] = note{at: queued}
	return topic, true
}

// done ends a note: its document is being written, or nobody wants it any more. Of
// one that is void, a newer version is queued behind it.
func (o *pendingRetained) done(topic string) (void bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.notes[topic]
	if n.at == tooEarly {
		o.wait(topic)
	} else if delete(o.notes, topic); len(o.notes) == 0 {
		o.waiting = nil
		o.dropped.Store(false)
		o.noted.Store(false)
	}
	return n.behind > 0
}

// owe remembers a document that did not reach the client; false if it is none.
func (g *guard) owe(cl *mqtt.Client, c *conn, topic string) bool {
	if row, _, ok := g.ns.Match(topic); !ok || !row.Retain {
		return false
	}
	if c.owed.add(topic) {
		g.makeGood(cl, c)
	}
	return true
}

// makeGood sends one note, if one is due. It is called for each packet that was
// written or read, so there is either room in the queue or another call to come.
func (g *guard) makeGood(cl *mqtt.Client, c *conn) {
	if !c.owed.any.Load() || cl.State.Inflight.Len() >= g.maxInflight/2 {
		return
	}
	topic, ok := c.owed.next(func() {
		g.srv.Topics.Subscribe(cl.ID, packets.Subscription{Filter: owedTopic + cl.ID, Qos: 1})
	})
	if !ok {
		return
	}
	qos, wanted := byte(0), false
	for filter, sub := range cl.State.Subscriptions.GetAll() {
		if access.Matches(filter, topic) {
			qos, wanted = max(qos, min(sub.Qos, 1)), true
		}
	}
	if doc, kept := g.srv.Topics.Retained.Get(topic); kept {
		qos = min(qos, doc.FixedHeader.Qos)
	}
	if !wanted || !c.who.Load().rights.MayRead(topic) {
		c.owed.done(topic)
		return
	}
	if err := g.publish(owedTopic+cl.ID, []byte(topic), qos, false); err != nil {
		g.log.Error("note a document that is owed", "client", cl.ID, "error", err)
	}
}

// unroute ends the way of notes to a client that is gone.
func (g *guard) unroute(c *conn) {
	if w := c.who.Load(); w != nil {
		g.srv.Topics.Unsubscribe(owedTopic+w.ClientID, w.ClientID)
	}
}

// redeem turns a note that is about to be written into its document. One that is
// gone by now is sent as its deletion was, and instead of a void one goes what says
// nothing.
func (g *guard) redeem(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	topic := string(pk.Payload)
	// Read before the note ends: what changes from here on is queued behind, and makes
	// it void, or is owed anew.
	doc, kept := g.srv.Topics.Retained.Get(topic)
	if c := connOf(cl); c != nil && c.owed.done(topic) {
		if pk.FixedHeader.Qos > 0 && cl.State.Inflight.Delete(pk.PacketID) {
			atomic.AddInt64(&g.srv.Info.Inflight, -1)
		}
		c.tally.queued.Add(-1)
		return nothing
	}
	pk.TopicName, pk.Payload, pk.FixedHeader.Retain = topic, doc.Payload, kept
	g.counters.add(madeGood)
	return pk
}
