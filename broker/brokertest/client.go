package brokertest

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"regexp"
	"sync"
	"testing"
	"time"

	"troupe/broker/access"
)

// Timeout is how long a client waits for what it expects. A test that waits that long has
// failed; it is no performance limit.
const Timeout = 20 * time.Second

// Client is a plain MQTT client. Its methods fail the test if the broker does not answer.
type Client struct {
	t    testing.TB
	id   string
	conn net.Conn
	done chan struct{} // closed when the reader has ended

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a packet arrived
	inbox   []Message
	answers map[uint32][]byte // packet type and id to body
	lost    error
	nextID  uint16
	quiet   bool // does not acknowledge
	tap     func(Message)
}

var operatorOrTool = regexp.MustCompile(`^(op[1-9]|resp1|stop1|obs|admin|fleetd)$`)

// defaultID is a robot's name, or for other clients the name with a suffix.
func defaultID(name string) string {
	if operatorOrTool.MatchString(name) {
		return name + ".test"
	}
	return name
}

// WithWill sets the will.
func WithWill(w Message) func(*ConnectPacket) { return func(h *ConnectPacket) { h.Will = &w } }

// WithID sets the client id.
func WithID(id string) func(*ConnectPacket) { return func(h *ConnectPacket) { h.ClientID = id } }

// Connect connects a client that is closed at the end of its test.
func Connect(t testing.TB, dial Dialer, h ConnectPacket, options ...func(*ConnectPacket)) *Client {
	t.Helper()
	c, code := TryConnect(t, dial, h, options...)
	if code != 0 {
		t.Fatalf("connect as %q with id %q: refused with code %d", h.Name, h.ClientID, code)
	}
	return c
}

// TryConnect is Connect, but returns a refusal: the return code, or 255 if the broker
// closed the connection without a CONNACK.
func TryConnect(t testing.TB, dial Dialer, h ConnectPacket, options ...func(*ConnectPacket)) (*Client, byte) {
	t.Helper()
	return connect(t, dial, h, nil, options...)
}

// connect passes each message to tap instead of the inbox.
func connect(t testing.TB, dial Dialer, h ConnectPacket, tap func(Message), options ...func(*ConnectPacket)) (*Client, byte) {
	t.Helper()
	for _, o := range options {
		o(&h)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	conn, err := dial(ctx)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	_ = conn.SetDeadline(time.Now().Add(Timeout))
	if _, err := conn.Write(h.Bytes()); err != nil {
		conn.Close()
		return nil, 255
	}
	r := bufio.NewReader(conn)
	first, body, err := readPacket(r)
	if err != nil {
		conn.Close()
		return nil, 255
	}
	if first != packetConnack || len(body) < 2 {
		t.Fatalf("connect: answered with packet %#x %x", first, body)
	}
	if body[1] != 0 {
		conn.Close()
		return nil, body[1]
	}
	_ = conn.SetDeadline(time.Time{})
	c := &Client{t: t, id: h.ClientID, conn: conn, done: make(chan struct{}), changed: make(chan struct{}), answers: map[uint32][]byte{},
		tap: tap}
	go c.read(r)
	t.Cleanup(c.Close)
	return c, 0
}

// Close sends DISCONNECT and closes the connection.
func (c *Client) Close() {
	_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = c.conn.Write(Packet(packetDisconnect, nil))
	c.Cut()
}

// Cut closes the connection without DISCONNECT.
func (c *Client) Cut() {
	c.conn.Close()
	<-c.done
}

// Raw writes bytes as they are.
func (c *Client) Raw(b []byte) error {
	_ = c.conn.SetWriteDeadline(time.Now().Add(Timeout))
	_, err := c.conn.Write(b)
	return err
}

// Lost waits until the broker has closed the connection.
func (c *Client) Lost() {
	c.t.Helper()
	if !c.wait(func() bool { return c.lost != nil }) {
		c.t.Fatalf("%s: still connected", c.id)
	}
}

// Publish sends with QoS 1, not retained.
func (c *Client) Publish(topic, payload string) {
	c.t.Helper()
	c.Send(Message{Topic: topic, Payload: []byte(payload), QoS: 1})
}

// Retain sends with QoS 1, retained.
func (c *Client) Retain(topic, payload string) {
	c.t.Helper()
	c.Send(Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retain: true})
}

// Send sends m, waits for the acknowledgement of its QoS, and for the broker to have
// processed it: brokers acknowledge before they route.
func (c *Client) Send(m Message) {
	c.t.Helper()
	id := c.packetID()
	if err := c.Raw(m.bytes(id)); err != nil {
		c.t.Fatalf("%s: publish %v: %v", c.id, m, err)
	}
	switch m.QoS {
	case 1:
		c.answer(packetPuback, id, m.Topic)
	case 2:
		c.answer(packetPubrec, id, m.Topic)
		_ = c.Raw(Packet(packetPubrel, binary.BigEndian.AppendUint16(nil, id)))
		c.answer(packetPubcomp, id, m.Topic)
	}
	c.Ping()
}

// Subscribe subscribes with QoS 1 and fails unless everything is granted. When it returns,
// the retained messages are on their way, and no message comes both live and retained.
func (c *Client) Subscribe(filters ...string) {
	c.t.Helper()
	for i, code := range c.TrySubscribe(1, filters...) {
		if code > 2 {
			c.t.Fatalf("%s: subscription to %s refused", c.id, filters[i])
		}
	}
	c.Ping()
}

// TrySubscribe returns the SUBACK code of each filter: a QoS, or 128.
func (c *Client) TrySubscribe(qos byte, filters ...string) []byte {
	c.t.Helper()
	id := c.packetID()
	b := binary.BigEndian.AppendUint16(nil, id)
	for _, f := range filters {
		b = append(appendString(b, f), qos)
	}
	if err := c.Raw(Packet(packetSubscribe, b)); err != nil {
		c.t.Fatalf("%s: subscribe: %v", c.id, err)
	}
	codes := c.answer(packetSuback, id, "subscribe")[2:]
	if len(codes) != len(filters) {
		c.t.Fatalf("%s: subscribe: %d SUBACK codes for %d filters", c.id, len(codes), len(filters))
	}
	return codes
}

// Ping waits for a PINGRESP: by then the broker has processed all that this client sent
// before.
func (c *Client) Ping() {
	c.t.Helper()
	if err := c.Raw(Packet(packetPingreq, nil)); err != nil {
		c.t.Fatalf("%s: ping: %v", c.id, err)
	}
	c.answer(packetPingresp, 0, "ping")
}

// Expect waits for the next message on a topic that matches filter, and removes it from
// the inbox; messages on other topics stay there.
func (c *Client) Expect(filter string) Message {
	c.t.Helper()
	return c.ExpectThat(filter, func(Message) bool { return true })
}

// ExpectThat is Expect for the next message for which holds is true.
func (c *Client) ExpectThat(filter string, holds func(Message) bool) Message {
	c.t.Helper()
	var found Message
	if !c.wait(func() bool {
		for i, m := range c.inbox {
			if access.Matches(filter, m.Topic) && holds(m) {
				found, c.inbox = m, append(c.inbox[:i:i], c.inbox[i+1:]...)
				return true
			}
		}
		return false
	}) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.t.Fatalf("%s: no message on %s; inbox: %v; connection: %v", c.id, filter, c.inbox, c.lost)
	}
	return found
}

// Inbox removes and returns all messages on topics that match filter.
func (c *Client) Inbox(filter string) []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out, rest []Message
	for _, m := range c.inbox {
		if access.Matches(filter, m.Topic) {
			out = append(out, m)
		} else {
			rest = append(rest, m)
		}
	}
	c.inbox = rest
	return out
}

// StopAcknowledging makes the client stop acknowledging.
func (c *Client) StopAcknowledging() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quiet = true
}

func (c *Client) packetID() uint16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nextID++; c.nextID == 0 {
		c.nextID = 1
	}
	return c.nextID
}

// answer waits for the packet of that type and id.
func (c *Client) answer(kind byte, id uint16, about string) []byte {
	c.t.Helper()
	key := uint32(kind)<<16 | uint32(id)
	var body []byte
	if !c.wait(func() bool {
		var ok bool
		body, ok = c.answers[key]
		delete(c.answers, key)
		return ok
	}) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.t.Fatalf("%s: %s: no answer of type %#x; connection: %v", c.id, about, kind, c.lost)
	}
	return body
}

// wait returns true as soon as cond holds, and false when Timeout or the connection ends
// first.
func (c *Client) wait(cond func() bool) bool {
	limit := time.NewTimer(Timeout)
	defer limit.Stop()
	for {
		c.mu.Lock()
		ok, lost, changed := cond(), c.lost, c.changed
		c.mu.Unlock()
		if ok || lost != nil {
			return ok
		}
		select {
		case <-changed:
		case <-limit.C:
			return false
		}
	}
}

func (c *Client) read(r *bufio.Reader) {
	defer close(c.done)
	defer c.conn.Close() // as any client: a broker that ends waits for that
	for {
		first, body, err := readPacket(r)
		var reply []byte
		c.mu.Lock()
		switch {
		case err != nil:
			c.lost = err
		case first&0xf0 == packetPublish:
			m, id, bad := parsePublish(first, body)
			if bad != nil {
				c.lost = fmt.Errorf("malformed PUBLISH: %w", bad)
				break
			}
			if c.tap != nil {
				c.tap(m)
			} else {
				c.inbox = append(c.inbox, m)
			}
			if !c.quiet && m.QoS == 1 {
				reply = Packet(packetPuback, binary.BigEndian.AppendUint16(nil, id))
			} else if !c.quiet && m.QoS == 2 {
				reply = Packet(packetPubrec, binary.BigEndian.AppendUint16(nil, id))
			}
		case first == packetPubrel:
			reply = Packet(packetPubcomp, body)
		case first == packetPingresp:
			c.answers[uint32(first)<<16] = body
		case len(body) >= 2:
			c.answers[uint32(first)<<16|uint32(binary.BigEndian.Uint16(body))] = body
		}
		close(c.changed)
		c.changed = make(chan struct{})
		lost := c.lost
		c.mu.Unlock()
		if lost != nil {
			return
		}
		if reply != nil {
			_ = c.Raw(reply)
		}
	}
}
