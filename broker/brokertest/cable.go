package brokertest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Cable is a client's network path to a broker, with the faults that a network and a
// broker can have. With a dialer and nothing else it has no faults.
type Cable struct {
	To Dialer

	mu    sync.Mutex
	cut   bool
	ends  []*cableEnd
	drops func(topic string) bool
}

// ErrCut is the error of dialling over a cut cable.
var ErrCut = errors.New("the cable is cut")

// Dial connects over the cable.
func (c *Cable) Dial(ctx context.Context) (net.Conn, error) {
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if cut {
		return nil, ErrCut
	}
	conn, err := c.To(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &cableEnd{Conn: conn, from: bufio.NewReader(conn), drops: c.drops}
	c.ends = append(c.ends, e)
	return e, nil
}

// Dials is the number of connections made.
func (c *Cable) Dials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ends)
}

// Cut closes every connection without DISCONNECT, and fails new ones until Mend.
func (c *Cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for _, e := range c.ends {
		e.Close()
	}
}

// Mend lets new connections succeed again.
func (c *Cable) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = false
}

// Drop drops what the broker publishes on such topics over the connections made from now on;
// everything else, including pings, gets through, as after a broker has lost subscriptions. Nil
// drops nothing.
func (c *Cable) Drop(topics func(topic string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops = topics
}

// DropExisting does the same to the existing connections, and to no later one.
func (c *Cable) DropExisting(topics func(topic string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.ends {
		e.set(func() { e.drops = topics })
	}
}

// forgetID is the packet id of the UNSUBSCRIBE that Forget sends.
const forgetID = 0xfffe

// Forget makes the broker lose a subscription of the existing connections, without their
// clients noticing.
func (c *Cable) Forget(filter string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.ends {
		// a connection that has ended has no subscription to lose
		_, _ = e.Conn.Write(Packet(packetUnsubscribe, appendString([]byte{forgetID >> 8, forgetID & 0xff}, filter)))
	}
}

// Swallow discards what is sent over the existing connections.
func (c *Cable) Swallow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.ends {
		e.set(func() { e.swallows = true })
	}
}

// Slow delays every packet in each direction by d, one after the other.
func (c *Cable) Slow(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.ends {
		e.set(func() { e.takes = d })
	}
}

// Everything matches every topic.
func Everything(string) bool { return true }

type cableEnd struct {
	net.Conn
	from *bufio.Reader
	rest bytes.Buffer // of the packet being handed over

	mu       sync.Mutex
	drops    func(string) bool
	swallows bool
	takes    time.Duration
}

func (e *cableEnd) set(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do()
}

func (e *cableEnd) Write(b []byte) (int, error) {
	e.delay()
	e.mu.Lock()
	swallows := e.swallows
	e.mu.Unlock()
	if swallows {
		return len(b), nil
	}
	return e.Conn.Write(b)
}

func (e *cableEnd) Read(b []byte) (int, error) {
	for e.rest.Len() == 0 {
		first, body, err := readPacket(e.from)
		if err != nil {
			return 0, err
		}
		if first&0xf0 == packetPublish && e.isDropped(first, body) ||
			first == packetUnsuback && bytes.Equal(body, []byte{forgetID >> 8, forgetID & 0xff}) {
			continue
		}
		e.delay()
		e.rest.Write(Packet(first, body))
	}
	return e.rest.Read(b)
}

func (e *cableEnd) delay() {
	e.mu.Lock()
	takes := e.takes
	e.mu.Unlock()
	if takes > 0 {
		<-time.After(takes)
	}
}

func (e *cableEnd) isDropped(first byte, body []byte) bool {
	e.mu.Lock()
	drops := e.drops
	e.mu.Unlock()
	if drops == nil {
		return false
	}
	m, _, err := parsePublish(first, body)
	return err == nil && drops(m.Topic)
}
