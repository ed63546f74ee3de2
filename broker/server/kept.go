package server

import (
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// kept lets nobody search the retained documents while one is being kept. The
// library writes a document's topic into its tree with every message, under a
// lock that a new subscriber's search does not take.
//
// Both windows are as narrow as the hooks allow, and neither waits for a
// network: a document's is from the guard's yes until it is kept, a search's
// from the written SUBACK until what was found is queued.
type kept struct {
	sync.RWMutex
	size func(topic string) int // of the document that is kept there

	most   int64        // bytes of all documents together
	bytes  atomic.Int64 // changes only in a message's window
	change int64        // that the message of the present window makes
}

// keeping begins the window of a message that is to be kept, unless there is no
// room. OnRetainMessage, on the same goroutine, ends it. What must be kept is, and
// so is what makes a document smaller.
func (k *kept) keeping(topic string, size int, must bool) bool {
	k.Lock()
	k.change = int64(size - k.size(topic))
	if !must && k.change > 0 && k.bytes.Load()+k.change > k.most {
		k.Unlock()
		return false
	}
	return true
}

// OnRetainMessage comes when a document was kept, or deleted.
func (g *guard) OnRetainMessage(cl *mqtt.Client, pk packets.Packet, _ int64) {
	g.noteLeft(whoIs(cl), pk)
	g.kept.bytes.Add(g.kept.change)
	g.kept.Unlock()
}

// OnPacketSent sends what the library wrote. What follows a SUBACK, on the
// goroutine that reads the client's packets, is a search, and it begins here. It
// also learns that the last mark of a client was written (see drain), and that
// there is room in a queue.
func (g *guard) OnPacketSent(cl *mqtt.Client, pk packets.Packet, _ []byte) {
	c := connOf(cl)
	if c == nil {
		return
	}
	err := c.send()
	switch {
	case pk.FixedHeader.Type == packets.Suback && !c.searching.Load():
		g.kept.RLock()
		c.searching.Store(true)
	case err != nil: // what was queued for it is lost, and counted when it is gone
	case pk.TopicName == endTopic:
		c.flush()
	default:
		g.written(cl, c, pk)
	}
}

// OnPacketProcessed ends the search of a SUBSCRIBE.
func (g *guard) OnPacketProcessed(cl *mqtt.Client, pk packets.Packet, _ error) {
	if pk.FixedHeader.Type == packets.Subscribe {
		g.searched(connOf(cl))
	}
	if c := connOf(cl); c != nil {
		g.makeGood(cl, c)
	}
}

// searched ends the search that c is in, if it is in one. A connection that
// panics in it has to be ended here, too.
func (g *guard) searched(c *conn) {
	if c != nil && c.searching.Swap(false) {
		g.kept.RUnlock()
	}
}
