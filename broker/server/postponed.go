package server

import (
	"strings"
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
)

// postponedDocs holds the documents that did not fit into a client's queue. For each one
// a placeholder, which names it, is queued as soon as there is room, and when the placeholder is about to be written, the
// document in its present state takes its place. So the client cannot get it after a newer
// or before an older version, and a document that changed a thousand times while the
// client was slow is sent once. If a newer version of the document was queued behind its
// placeholder, the placeholder is void: the present state, sent in the placeholder's place, would come before
// that version, and the client would see the document go backwards.
type postponedDocs struct {
	dropped         atomic.Bool // a delivery was dropped since the last time when nothing was postponed
	hasWaiting      atomic.Bool // some documents wait for their placeholder to be queued
	hasPlaceholders atomic.Bool // there are placeholders

	mu           sync.Mutex
	placeholders map[string]placeholder // by topic of the document
	waiting      []string               // topics whose placeholder is not in the queue
	routed       bool                   // the client is subscribed to its placeholders
}

// placeholder is the state of the placeholder of one document.
type placeholder struct {
	place placeholderPlace
	// behind is how many versions of the document were queued behind the placeholder.
	behind int
}

// placeholderPlace says where a placeholder is.
type placeholderPlace uint8

const (
	placeholderWaiting placeholderPlace = iota
	placeholderQueued
	// placeholderOutdated: the placeholder is in the queue, but the document was dropped again since, and an
	// older version may be in the queue behind the placeholder. Another placeholder is needed.
	placeholderOutdated
)

// placeholderTopic is the prefix of the topics of placeholders; the client id follows. No client can
// publish or subscribe below it. The payload is the topic of the document.
const placeholderTopic = "$postponed/"

func isPlaceholder(topic string) bool { return strings.HasPrefix(topic, placeholderTopic) }

// firstDrop reports whether this is the first drop since nothing was postponed, for the log.
func (o *postponedDocs) firstDrop() bool { return !o.dropped.Swap(true) }

// add adds a document, and reports whether the caller has to queue a placeholder at once: the
// queue may have become empty meanwhile, and then no write would trigger it.
func (o *postponedDocs) add(topic string) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, known := o.placeholders[topic]; known {
		if n.place == placeholderQueued {
			n.place = placeholderOutdated
			o.placeholders[topic] = n
		}
		return false
	}
	return o.addWaiting(topic)
}

// versionQueued records that a version of a document is about to be queued, or with -1
// that it was not. Messages that are no documents have no placeholders.
func (o *postponedDocs) versionQueued(topic string, versions int) {
	if !o.hasPlaceholders.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, known := o.placeholders[topic]; known && n.place != placeholderWaiting {
		n.behind = max(0, n.behind+versions)
		o.placeholders[topic] = n
	}
}

// addWaiting adds a placeholder that is to be queued, and reports whether no other was waiting.
func (o *postponedDocs) addWaiting(topic string) (first bool) {
	if o.placeholders == nil {
		o.placeholders = map[string]placeholder{}
	}
	o.placeholders[topic] = placeholder{place: placeholderWaiting}
	o.hasPlaceholders.Store(true)
	o.waiting = append(o.waiting, topic)
	return !o.hasWaiting.Swap(true)
}

// requeue takes back a placeholder for which the queue had no room.
func (o *postponedDocs) requeue(topic string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addWaiting(topic)
}

// next returns a document whose placeholder is to be queued. Before the first one it calls route,
// and returns no other before that is done: a placeholder without a route would be lost.
func (o *postponedDocs) next(route func()) (topic string, ok bool) {
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
	o.hasWaiting.Store(len(o.waiting) > 0)
	o.placeholders[topic] = placeholder{place: placeholderQueued}
	return topic, true
}

// done removes a placeholder: its document is being written, or the client no longer wants it.
// The placeholder is void if a newer version is queued behind it.
func (o *postponedDocs) done(topic string) (void bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.placeholders[topic]
	if n.place == placeholderOutdated {
		o.addWaiting(topic)
	} else if delete(o.placeholders, topic); len(o.placeholders) == 0 {
		o.waiting = nil
		o.dropped.Store(false)
		o.hasPlaceholders.Store(false)
	}
	return n.behind > 0
}

// postpone adds a document that did not reach the client; it returns false if topic is
// not that of a document.
func (g *guard) postpone(cl *mqtt.Client, c *conn, topic string) bool {
	if row, _, ok := g.ns.Match(topic); !ok || !row.Retain {
		return false
	}
	if c.postponed.add(topic) {
		g.queuePlaceholder(cl, c)
	}
	return true
}

// queuePlaceholder queues one placeholder, if one is due. It is called after each packet written or
// read, so either there is room in the queue or there will be another call.
func (g *guard) queuePlaceholder(cl *mqtt.Client, c *conn) {
	if c.postponed.hasWaiting.Load() { // rarely; the rest needs a larger stack
		g.queueNextPlaceholder(cl, c)
	}
}

func (g *guard) queueNextPlaceholder(cl *mqtt.Client, c *conn) {
	if cl.State.Inflight.Len() >= g.maxInflight/2 {
		return
	}
	topic, ok := c.postponed.next(func() {
		g.srv.Topics.Subscribe(cl.ID, packets.Subscription{Filter: placeholderTopic + cl.ID, Qos: 1})
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
	if !wanted || !c.client.Load().rights.MayRead(topic) {
		c.postponed.done(topic)
		return
	}
	if err := g.publish(placeholderTopic+cl.ID, []byte(topic), qos, false); err != nil {
		g.log.Error("retained document not queued for a slow client; it may miss the newest version", "client", cl.ID, "topic", topic, "error",
			err)
	}
}

// unroute removes the subscription to the placeholders of a client that has ended.
func (g *guard) unroute(c *conn) {
	if w := c.client.Load(); w != nil {
		g.srv.Topics.Unsubscribe(placeholderTopic+w.ClientID, w.ClientID)
	}
}

// replacePlaceholder replaces a placeholder that is about to be written by its document. A document that
// was deleted is sent as its deletion, and a void placeholder is replaced by a PINGRESP.
func (g *guard) replacePlaceholder(cl *mqtt.Client, pk *packets.Packet) {
	topic := string(pk.Payload)
	// Read the document before the placeholder is removed: a later change is queued behind the
	// placeholder and makes it void, or is postponed again.
	doc, kept := g.srv.Topics.Retained.Get(topic)
	if c := connOf(cl); c != nil && c.postponed.done(topic) {
		if pk.FixedHeader.Qos > 0 && cl.State.Inflight.Delete(pk.PacketID) {
			atomic.AddInt64(&g.srv.Info.Inflight, -1)
		}
		c.tally.queued.Add(-1)
		*pk = noPacket
		return
	}
	pk.TopicName, pk.Payload, pk.FixedHeader.Retain = topic, doc.Payload, kept
	g.counters.add(postponedSent)
}
