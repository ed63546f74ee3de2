package server

import (
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// gate is what a packet passes to be dealt with. A connection is inside from the
// bytes that it read until it reads again, so while nobody is inside, whatever
// was acknowledged has been routed: the library acknowledges before it routes.
type gate struct {
	mu     sync.Mutex
	shut   bool
	inside int
	empty  chan struct{} // made by close, closed once nobody is inside
}

// enter lets a connection in, unless the gate is shut.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.shut && g.inside == 0 {
		close(g.empty)
	}
}

// close shuts the gate for good; the answer is closed once nobody is inside.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.empty = true, make(chan struct{})
	if g.inside == 0 {
		close(g.empty)
	}
	return g.empty
}

// endTopic is that of the last thing in a client's queue. Nobody can publish or
// subscribe to it.
const endTopic = "$end"

// drain lets go out what was taken before the broker closes, for at most limit.
// From here on nothing more is taken, so nothing is acknowledged that nobody will
// hear: first all packets under way are routed, then a mark is put behind what
// waits for each client, and drain returns when the last mark was written.
func (s *Server) drain(limit time.Duration) {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-s.listen.gate.close():
	case <-late.C:
		s.cfg.Logger.Warn("broker closes in the middle of messages", "after", limit)
		return
	}
	open := s.listen.all()
	for _, c := range open {
		if w := c.who.Load(); w != nil {
			s.mochi.Topics.Subscribe(w.ClientID, packets.Subscription{Filter: endTopic})
		}
	}
	if err := s.guard.publish(endTopic, nil, 0, false); err != nil {
		s.cfg.Logger.Error("put the last mark", "error", err)
		return
	}
	for i, c := range open {
		if w := c.who.Load(); w == nil || !s.established(c) {
			continue
		}
		select {
		case <-c.flushed:
		case <-c.gone:
		case <-late.C:
			s.cfg.Logger.Warn("broker closes while clients have not taken all", "after", limit, "of_clients", len(open)-i)
			return
		}
	}
}

// lingering bounds how long clients are given to hang up by themselves.
const lingering = time.Second

// hangUp says to each client that nothing more follows, and lets it hang up. A
// socket that is closed while its client still writes, if only acknowledgements,
// is reset by the system, and what the client has not read by then is taken back
// from it.
func (s *Server) hangUp() {
	late := time.NewTimer(lingering)
	defer late.Stop()
	var told []*conn
	for _, c := range s.listen.all() {
		half, ok := c.raw.(interface{ CloseWrite() error }) // a pipe within the process keeps what was written
		if ok && c.who.Load() != nil && half.CloseWrite() == nil {
			told = append(told, c)
		}
	}
	for _, c := range told {
		select {
		case <-c.gone:
		case <-late.C:
			return
		}
	}
}

// established says whether the library routes to c.
func (s *Server) established(c *conn) bool {
	cl, known := s.mochi.Clients.Get(c.who.Load().ClientID)
	return known && connOf(cl) == c
}

// nothing is what is sent where there is nothing to say: clients of MQTT 3.1.1 take
// a PINGRESP for what it says, that the line is well.
var nothing = packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pingresp}}

// OnPacketEncode sends the mark as a PINGRESP, for clients of MQTT 3.1.1 know no
// goodbye of a broker. A note of what is owed becomes what is owed.
func (g *guard) OnPacketEncode(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	switch {
	case pk.TopicName == endTopic:
		pk.FixedHeader = packets.FixedHeader{Type: packets.Pingresp}
	case isOwed(pk.TopicName):
		return g.redeem(cl, pk)
	}
	return pk
}
