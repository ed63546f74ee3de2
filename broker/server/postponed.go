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
// a note is queued as soon as there is room, and when the note is about to be written, the
// document in its present state takes its place. So the client cannot get it after a newer
// or before an older version, and a document that changed a thousand times while the
// client was slow is sent once. If a newer version of the document was queued behind its
// note, the note is void: the present state, sent in the note's place, would come before
// that version, and the client would see the document go backwards.
type postponedDocs struct {
	dropped    atomic.Bool // a delivery was dropped since the last time when nothing was postponed
	hasWaiting atomic.Bool // some documents wait for their note to be queued
	hasNotes   atomic.Bool // there are notes

	mu      sync.Mutex
	notes   map[string]note // by topic of the document
	waiting []string        // topics whose note is not in the queue
	routed  bool            // the client is subscribed to its notes
}

// note is the state of the note of one document.
type note struct {
	place notePlace
	// behind is how many versions of the document were queued behind the note.
	behind int
}

// notePlace says where a note is.
type notePlace uint8

const (
	noteWaiting notePlace = iota
	noteQueued
	// noteOutdated: the note is in the queue, but the document was dropped again since, and an
	// older version may be in the queue behind the note. Another note is needed.
	noteOutdated
)

// noteTopic is the prefix of the topics of notes; the client id follows. No client can
// publish or subscribe below it. The payload is the topic of the document.
const noteTopic = "$postponed/"

func isNote(topic string) bool { return strings.HasPrefix(topic, noteTopic) }

// firstDrop reports whether this is the first drop since nothing was postponed, for the log.
func (o *postponedDocs) firstDrop() bool { return !o.dropped.Swap(true) }

// add adds a document, and reports whether the caller has to queue a note at once: the
// queue may have become empty meanwhile, and then no write would trigger it.
func (o *postponedDocs) add(topic string) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, known := o.notes[topic]; known {
		if n.place == noteQueued {
			n.place = noteOutdated
			o.notes[topic] = n
		}
		return false
	}
	return o.addWaiting(topic)
}

// versionQueued records that a version of a document is about to be queued, or with -1
// that it was not. Messages that are no documents have no notes.
func (o *postponedDocs) versionQueued(topic string, versions int) {
	if !o.hasNotes.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if n, known := o.notes[topic]; known && n.place != noteWaiting {
		n.behind = max(0, n.behind+versions)
		o.notes[topic] = n
	}
}

// addWaiting adds a note that is to be queued, and reports whether no other was waiting.
func (o *postponedDocs) addWaiting(topic string) (first bool) {
	if o.notes == nil {
		o.notes = map[string]note{}
	}
	o.notes[topic] = note{place: noteWaiting}
	o.hasNotes.Store(true)
	o.waiting = append(o.waiting, topic)
	return !o.hasWaiting.Swap(true)
}

// requeue takes back a note for which the queue had no room.
func (o *postponedDocs) requeue(topic string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addWaiting(topic)
}

// next returns a document whose note is to be queued. Before the first one it calls route,
// and returns no other before that is done: a note without a route would be lost.
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
	o.notes[topic] = note{place: noteQueued}
	return topic, true
}

// done removes a note: its document is being written, or the client no longer wants it.
// The note is void if a newer version is queued behind it.
func (o *postponedDocs) done(topic string) (void bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.notes[topic]
	if n.place == noteOutdated {
		o.addWaiting(topic)
	} else if delete(o.notes, topic); len(o.notes) == 0 {
		o.waiting = nil
		o.dropped.Store(false)
		o.hasNotes.Store(false)
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
		g.queueNote(cl, c)
	}
	return true
}

// queueNote queues one note, if one is due. It is called after each packet written or
// read, so either there is room in the queue or there will be another call.
func (g *guard) queueNote(cl *mqtt.Client, c *conn) {
	if !c.postponed.hasWaiting.Load() || cl.State.Inflight.Len() >= g.maxInflight/2 {
		return
	}
	topic, ok := c.postponed.next(func() {
		g.srv.Topics.Subscribe(cl.ID, packets.Subscription{Filter: noteTopic + cl.ID, Qos: 1})
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
	if err := g.publish(noteTopic+cl.ID, []byte(topic), qos, false); err != nil {
		g.log.Error("retained document not queued for a slow client; it may miss the newest version", "client", cl.ID, "topic", topic, "error", err)
	}
}

// unroute removes the subscription to the notes of a client that has ended.
func (g *guard) unroute(c *conn) {
	if w := c.client.Load(); w != nil {
		g.srv.Topics.Unsubscribe(noteTopic+w.ClientID, w.ClientID)
	}
}

// replaceNote replaces a note that is about to be written by its document. A document that
// was deleted is sent as its deletion, and a void note is replaced by a PINGRESP.
func (g *guard) replaceNote(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	topic := string(pk.Payload)
	// Read the document before the note is removed: a later change is queued behind the
	// note and makes it void, or is postponed again.
	doc, kept := g.srv.Topics.Retained.Get(topic)
	if c := connOf(cl); c != nil && c.postponed.done(topic) {
		if pk.FixedHeader.Qos > 0 && cl.State.Inflight.Delete(pk.PacketID) {
			atomic.AddInt64(&g.srv.Info.Inflight, -1)
		}
		c.tally.queued.Add(-1)
		return noPacket
	}
	pk.TopicName, pk.Payload, pk.FixedHeader.Retain = topic, doc.Payload, kept
	g.counters.add(postponedSent)
	return pk
}
