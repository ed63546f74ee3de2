package server

import (
	"strings"
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// retainedDocs limits the bytes of retained documents, and prevents a search of them while
// one is being retained. The library adds the topic of each retained message to its tree
// under a lock that the search for a new subscriber does not take.
//
// Both critical sections are as short as the hooks allow and never wait for a network:
// that of a document lasts from the guard's decision until it is retained, that of a
// search from the written SUBACK until the found documents are queued.
type retainedDocs struct {
	sync.RWMutex
	find func(topic string) (kept string, size int) // the topic and size of the document retained on topic, if there is one

	maxBytes int64        // maximum bytes of all documents together
	bytes    atomic.Int64 // written only under the lock
	delta    int64        // change of bytes by the message being retained
}

// begin locks for a message that is to be retained, unless there is no room.
// OnRetainMessage, on the same goroutine, unlocks. With must, or if the document becomes
// smaller, there is always room.
//
// It replaces the topic by a copy of its own: that of a packet refers to the bytes of the whole packet, and the
// library would keep these beside the document, which it copies.
func (k *retainedDocs) begin(topic *string, size int, must bool) bool {
	k.Lock()
	kept, was := k.find(*topic)
	k.delta = int64(size - was)
	if !must && k.delta > 0 && k.bytes.Load()+k.delta > k.maxBytes {
		k.Unlock()
		return false
	}
	if kept == "" {
		kept = strings.Clone(*topic)
	}
	*topic = kept
	return true
}

// OnRetainMessage is called when a document was retained or deleted.
func (g *guard) OnRetainMessage(cl *mqtt.Client, pk packets.Packet, _ int64) {
	g.recordWriter(clientOf(cl), &pk)
	g.retained.bytes.Add(g.retained.delta)
	g.retained.Unlock()
}

// OnPacketSent writes the library's output to the socket. After a SUBACK the library
// searches the retained documents on the same goroutine, so the read lock is taken here.
// It also notices that the end mark of a client was written (see drain), and that its
// queue has room.
func (g *guard) OnPacketSent(cl *mqtt.Client, pk packets.Packet, _ []byte) {
	c := connOf(cl)
	if c == nil {
		return
	}
	err := c.send()
	switch {
	case pk.FixedHeader.Type == packets.Suback:
		g.retained.RLock()
		c.searching.Store(true)
	case err != nil: // what is queued for it is lost, and counted when it has ended
	case pk.TopicName == endTopic:
		c.markFlushed()
	default:
		g.afterWrite(cl, c, &pk)
	}
}

// OnPacketProcessed ends the search of a SUBSCRIBE.
func (g *guard) OnPacketProcessed(cl *mqtt.Client, pk packets.Packet, _ error) {
	if pk.FixedHeader.Type == packets.Subscribe {
		g.searched(connOf(cl))
	}
	if c := connOf(cl); c != nil {
		if pk.FixedHeader.Type == packets.Subscribe {
			g.sendKeptStops(cl, c)
		}
		g.queuePlaceholder(cl, c)
	}
}

// searched ends the search for c, if one is under way. It is also called for a connection
// that panicked during its search.
func (g *guard) searched(c *conn) {
	if c != nil && c.searching.Swap(false) {
		g.retained.RUnlock()
	}
}
