package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A client is an MQTT 3.1.1 client that does as little as the protocol allows, so that what is measured is the broker
// and the other side. It has one goroutine.
type client struct {
	conn   net.Conn
	in     *bufio.Reader
	on     func(*client, message)
	subbed chan []byte // the codes of a SUBACK
	noAcks bool        // see clientOptions

	mu   sync.Mutex // of what follows, and of writes
	out  []byte     // the packet that is being written
	next uint16     // packet id
}

// A message is a PUBLISH that a client received. Topic and Payload are valid only until its callback returns.
type message struct {
	Topic, Payload []byte
	Retain         bool
}

// clientOptions say how a client connects. The user name is the client id up to the first dot.
type clientOptions struct {
	id, user string
	from     int // which of the machine's loopback addresses it has: brokers limit connections of one address
	on       func(*client, message)
	ended    func(error) // the connection ended; not called after close
	// keepAliveSeconds is 300 if it is 0.
	keepAliveSeconds uint16
	// noAcks leaves out the PUBACKs of what it receives.
	noAcks bool
}

// MQTT packet types, without flags.
const (
	packetConnect    = 0x10
	packetConnack    = 0x20
	packetPublish    = 0x30
	packetPuback     = 0x40
	packetSubscribe  = 0x82
	packetSuback     = 0x90
	packetDisconnect = 0xe0
)

const (
	dialTimeout = 30 * time.Second
	// clientBuffer is small because a bench has ten thousand clients.
	clientBuffer = 512
)

// dial connects.
func dial(addr string, o clientOptions) (*client, error) {
	d := net.Dialer{Timeout: dialTimeout, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(o.from/250), byte(1+o.from%250))}}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connect %s: %w", o.id, err)
	}
	c := &client{conn: conn, in: bufio.NewReaderSize(conn, clientBuffer), on: o.on, subbed: make(chan []byte, 1), noAcks: o.noAcks}
	if err := c.handshake(o); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("connect %s: %w", o.id, err)
	}
	go func() {
		err := c.read()
		if o.ended != nil && !errors.Is(err, net.ErrClosed) {
			o.ended(err)
		}
	}()
	return c, nil
}

func (c *client) handshake(o clientOptions) error {
	keepAlive := o.keepAliveSeconds
	if keepAlive == 0 {
		keepAlive = 300
	}
	body := appendText(nil, "MQTT")
	const cleanSession, hasUser = 0x02, 0x80
	body = append(body, 4, cleanSession|hasUser)
	body = binary.BigEndian.AppendUint16(body, keepAlive)
	body = appendText(appendText(body, o.id), o.user)
	if err := c.write(packetConnect, body); err != nil {
		return err
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(dialTimeout)); err != nil {
		return err
	}
	kind, answer, err := c.packet(nil)
	if err != nil {
		return err
	}
	if kind != packetConnack || len(answer) != 2 || answer[1] != 0 {
		return fmt.Errorf("the broker answers %x %x", kind, answer)
	}
	return c.conn.SetReadDeadline(time.Time{})
}

// write sends one packet.
func (c *client) write(kind byte, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = append(appendLength(append(c.out[:0], kind), len(body)), body...)
	_, err := c.conn.Write(c.out)
	return err
}

// publish sends a message. A broker's PUBACK is ignored: it proves nothing about its arrival.
func (c *client) publish(topic string, payload []byte, qos byte, retain bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := byte(packetPublish) | qos<<1
	if retain {
		first |= 1
	}
	length := 2 + len(topic) + len(payload)
	if qos > 0 {
		length += 2
	}
	c.out = appendText(appendLength(append(c.out[:0], first), length), topic)
	if qos > 0 {
		c.out = binary.BigEndian.AppendUint16(c.out, c.nextID())
	}
	c.out = append(c.out, payload...)
	_, err := c.conn.Write(c.out)
	if cap(c.out) > 4*clientBuffer {
		c.out = nil // one large message is not kept by each of ten thousand clients
	}
	return err
}

// nextID returns a packet id; the lock is held.
func (c *client) nextID() uint16 {
	if c.next++; c.next == 0 {
		c.next = 1
	}
	return c.next
}

// subscribe returns when the broker has granted all filters.
func (c *client) subscribe(qos byte, filters ...string) error {
	c.mu.Lock()
	body := binary.BigEndian.AppendUint16(nil, c.nextID())
	c.mu.Unlock()
	for _, f := range filters {
		body = append(appendText(body, f), qos)
	}
	if err := c.write(packetSubscribe, body); err != nil {
		return err
	}
	late := time.NewTimer(dialTimeout)
	defer late.Stop()
	select {
	case codes := <-c.subbed:
		for i, code := range codes {
			if code > 2 {
				return fmt.Errorf("the broker refuses the subscription %s", filters[i])
			}
		}
		return nil
	case <-late.C:
		return errors.New("no SUBACK came")
	}
}

// read handles packets until the connection ends.
func (c *client) read() error {
	var long []byte // for packets that do not fit into the reader's buffer
	for {
		kind, body, err := c.packet(&long)
		if err != nil {
			return err
		}
		switch kind & 0xf0 {
		case packetPublish:
			if err := c.received(kind, body); err != nil {
				return err
			}
		case packetSuback:
			c.subbed <- append([]byte(nil), body[2:]...)
		}
	}
}

func (c *client) received(kind byte, body []byte) error {
	if len(body) < 2 || len(body) < 2+int(binary.BigEndian.Uint16(body)) {
		return errors.New("a PUBLISH is too short")
	}
	topic, rest := body[2:2+binary.BigEndian.Uint16(body)], body[2+binary.BigEndian.Uint16(body):]
	var id [2]byte
	acked := kind>>1&3 == 1
	if acked {
		if len(rest) < 2 {
			return errors.New("a PUBLISH is too short")
		}
		id, rest = [2]byte(rest), rest[2:]
	}
	if c.on != nil {
		c.on(c, message{Topic: topic, Payload: rest, Retain: kind&1 != 0})
	}
	if acked && !c.noAcks {
		return c.write(packetPuback, id[:])
	}
	return nil
}

// packet reads one packet. Its body is valid until the next one. long, which may be nil, is used for one that is
// larger than the buffer.
func (c *client) packet(long *[]byte) (kind byte, body []byte, err error) {
	if kind, err = c.in.ReadByte(); err != nil {
		return 0, nil, err
	}
	length, err := binary.ReadUvarint(c.in) // MQTT's variable byte integer is a varint of at most 4 bytes
	if err != nil {
		return 0, nil, err
	}
	if length > 1<<28 {
		return 0, nil, errors.New("a packet is longer than MQTT allows")
	}
	if n := int(length); n <= c.in.Size() {
		body, err = c.in.Peek(n)
		if err == nil {
			_, err = c.in.Discard(n)
		}
		return kind, body, err
	}
	var fresh []byte
	if long == nil {
		long = &fresh
	}
	if cap(*long) < int(length) {
		*long = make([]byte, length)
	}
	*long = (*long)[:length]
	_, err = io.ReadFull(c.in, *long)
	return kind, *long, err
}

// ping sends a PINGREQ.
func (c *client) ping() error { return c.write(0xc0, nil) }

// close disconnects.
func (c *client) close() {
	_ = c.write(packetDisconnect, nil) // the connection ends in any case
	_ = c.conn.Close()
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// appendLength appends the remaining length of a packet.
func appendLength(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }
