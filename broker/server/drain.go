package server

import (
	"sync"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// gate counts the connections that are processing a packet, from the bytes that they read
// until they read again. While none is inside, whatever was acknowledged has been routed:
// an acknowledgement leaves before its connection does.
type gate struct {
	mu     sync.Mutex
	shut   bool
	inside int
	empty  chan struct{} // made by close, closed once no connection is inside
}

// enter admits a connection, unless the gate is shut.
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

// close shuts the gate for good and returns a channel that is closed once no connection is
// inside.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.empty = true, make(chan struct{})
	if g.inside == 0 {
		close(g.empty)
	}
	return g.empty
}

// endTopic is the topic of the last message in a client's queue. No client can publish or
// subscribe to it.
const endTopic = "$end"

// drain delivers what was accepted before the broker closes, for at most limit. From here
// on nothing more is accepted, so nothing is acknowledged that will not be delivered:
// first all packets in progress are routed, then an end mark is queued for each client,
// and drain returns when the last mark was written.
func (s *Server) drain(limit time.Duration) {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-s.listener.gate.close():
	case <-late.C:
		s.cfg.Logger.Warn("broker closes while messages are being routed", "after", limit)
		return
	}
	open := s.listener.all()
	for _, c := range open {
		if w := c.client.Load(); w != nil {
			s.mochi.Topics.Subscribe(w.ClientID, packets.Subscription{Filter: endTopic})
		}
	}
	if err := s.guard.publish(endTopic, nil, 0, false); err != nil {
		s.cfg.Logger.Error("the broker closes without waiting for clients to read what it sent: end marks not queued", "error", err)
		return
	}
	for i, c := range open {
		if w := c.client.Load(); w == nil || !s.routes(c) {
			continue
		}
		select {
		case <-c.flushed:
		case <-c.done:
		case <-late.C:
			s.cfg.Logger.Warn("broker closes before all clients have read what it sent", "after", limit, "clients_left", len(open)-i)
			return
		}
	}
}

// hangUpTimeout bounds how long clients have to close their connections themselves.
const hangUpTimeout = time.Second

// hangUp half-closes each connection and lets the client close it. If a socket is closed
// while its client still writes, if only acknowledgements, the system resets it and
// discards what the client has not read yet.
func (s *Server) hangUp() {
	late := time.NewTimer(hangUpTimeout)
	defer late.Stop()
	var halfClosed []*conn
	for _, c := range s.listener.all() {
		half, ok := c.raw.(interface{ CloseWrite() error }) // an in-process pipe keeps what was written
		if ok && c.client.Load() != nil && half.CloseWrite() == nil {
			halfClosed = append(halfClosed, c)
		}
	}
	for _, c := range halfClosed {
		select {
		case <-c.done:
		case <-late.C:
			return
		}
	}
}

// routes reports whether the library routes to c.
func (s *Server) routes(c *conn) bool {
	cl, known := s.mochi.Clients.Get(c.client.Load().ClientID)
	return known && connOf(cl) == c
}

// noPacket is sent in the place of a packet that must not be sent: to MQTT 3.1.1 clients a
// PINGRESP means only that the connection works.
var noPacket = packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Pingresp}}

// OnPacketEncode sends the end mark as a PINGRESP, since a broker has no DISCONNECT in
// MQTT 3.1.1, and replaces placeholders of postponed documents.
func (g *guard) OnPacketEncode(cl *mqtt.Client, pk packets.Packet) packets.Packet {
	switch {
	case pk.TopicName == endTopic:
		pk.FixedHeader = packets.FixedHeader{Type: packets.Pingresp}
	case isPlaceholder(pk.TopicName):
		g.replacePlaceholder(cl, &pk)
	}
	return pk
}
