package server

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// session reads the packets of a connection and passes each to the library. It takes the place of the library's own
// loop, which costs each connection 32 KiB of stack while it waits for the next packet, and copies each packet once
// more. A robot sends little, so its packets are processed on stacks that all robots share.
type session struct {
	guard *guard
	conn  *conn
	cl    *mqtt.Client

	// Of the packet that is processed.
	header  packets.FixedHeader
	body    []byte
	outcome chan outcome // capacity 1; of a packet that a shared stack processes
}

// outcome is the end of the processing of a packet.
type outcome struct {
	err      error
	panicked *handlerPanic
}

// handlerPanic is a panic on another goroutine than that of the connection, which contains it.
type handlerPanic struct {
	value any
	stack []byte
}

// serve runs a connection from its CONNECT until it ends.
func (g *guard) serve(c *conn) error {
	// Until it is known who connects, the queue is short: a long one is taken whole, and anybody may send a CONNECT.
	s := &session{guard: g, conn: c, cl: g.robots.NewClient(c, "tcp", "", false)}
	defer func() { s.cl.Stop(nil) }()
	if err := s.connect(); err != nil {
		return err
	}
	go s.cl.WriteLoop()
	atomic.AddInt64(&g.srv.Info.ClientsConnected, 1)
	defer atomic.AddInt64(&g.srv.Info.ClientsConnected, -1)
	g.srv.Clients.Add(s.cl)
	err := g.srv.SendConnack(s.cl, packets.CodeSuccess, false, nil)
	if err == nil {
		g.established(s.cl)
		err = s.read()
	}
	s.end(err)
	return err
}

// connect processes CONNECT. If it returns nil, the client is authenticated and its id is its own.
func (s *session) connect() error {
	c, cl := s.conn, s.cl
	if !c.enter() {
		return c.discard()
	}
	pk := c.hello
	if c.hello = nil; pk == nil {
		return packets.ErrProtocolViolationRequireFirstConnect
	}
	if err := s.guard.checkConnect(cl, pk); err != nil {
		return err
	}
	cl.ParseConnect("tcp", *pk)
	if code := pk.ConnectValidate(); code != packets.CodeSuccess {
		_ = s.guard.srv.SendConnack(cl, code, false, nil) // the connection ends
		return code
	}
	if err := s.guard.authenticate(cl, pk); err != nil {
		return err
	}
	if srv := s.guard.serverFor(clientOf(cl)); srv != s.guard.robots {
		s.cl = srv.NewClient(c, "tcp", "", false)
		s.cl.ParseConnect("tcp", *pk)
		s.cl.ID, s.cl.Properties.Clean = cl.ID, cl.Properties.Clean
		cl = s.cl
	}
	_ = c.SetDeadline(s.keepAlive())
	if !s.guard.takeID(cl) {
		_ = s.guard.srv.SendConnack(cl, packets.ErrBadUsernameOrPassword, false, nil)
		return packets.ErrBadUsernameOrPassword
	}
	return nil
}

// keepAlive is the time until which the client has to send something.
func (s *session) keepAlive() time.Time {
	return time.Now().Add(time.Duration(s.cl.State.Keepalive) * time.Second * 3 / 2)
}

// read processes packets until the connection ends. It returns nil after DISCONNECT.
func (s *session) read() error {
	in, process := packetReader{from: s.conn}, s.process
	if s.guard.serverFor(clientOf(s.cl)) == s.guard.robots {
		in.buf, process = make([]byte, robotReadBuffer), s.processShared
		s.outcome = make(chan outcome, 1)
	} else {
		in.buf = make([]byte, readBuffer)
	}
	for !s.cl.Closed() {
		_ = s.conn.SetDeadline(s.keepAlive()) // on a closed connection the read fails
		var err error
		if s.header, s.body, err = in.next(); err != nil {
			return err
		}
		atomic.AddInt64(&s.guard.srv.Info.BytesReceived, int64(2+len(s.body)))
		if s.header.Type == packets.Puback {
			err = s.acknowledged()
		} else {
			err = process()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// acknowledged processes a PUBACK, every second packet of a robot that is sent commands, on the connection's own stack.
func (s *session) acknowledged() error {
	if len(s.body) < 2 {
		return packets.ErrMalformedPacketID
	}
	atomic.AddInt64(&s.guard.srv.Info.PacketsReceived, 1)
	id := binary.BigEndian.Uint16(s.body)
	s.guard.stopAcknowledged(s.conn, id)
	if s.cl.State.Inflight.Delete(id) {
		atomic.AddInt64(&s.guard.srv.Info.Inflight, -1)
	}
	s.guard.queuePlaceholder(s.cl, s.conn)
	return nil
}

// process decodes a packet and passes it to the library.
func (s *session) process() error {
	pk := packets.Packet{FixedHeader: s.header, ProtocolVersion: s.cl.Properties.ProtocolVersion}
	if err := decode(&pk, s.body); err != nil {
		return err
	}
	if err := s.guard.checkPacket(s.cl, s.conn, &pk); err != nil {
		return err
	}
	if pk.FixedHeader.Type == packets.Publish {
		return s.publish(&pk)
	}
	return s.guard.srv.InjectPacket(s.cl, pk)
}

// publish routes a PUBLISH. One of QoS 1 is acknowledged when it has been routed, and the acknowledgement is written
// when the broker has nothing more to read (conn.Read), together with those of others. The library does it the other way
// round and puts each acknowledgement in flight until it has written it; it does neither for a client that is inline,
// which is all that the flag changes once the guard has checked the topic and the rights.
func (s *session) publish(pk *packets.Packet) error {
	if s.guard.answerUnroutable(s.cl, pk) {
		return nil
	}
	s.cl.Net.Inline = pk.FixedHeader.Qos == 1
	if err := s.guard.srv.InjectPacket(s.cl, *pk); err != nil || !s.cl.Net.Inline {
		return err
	}
	s.conn.acknowledge(pk.PacketID)
	atomic.AddInt64(&s.guard.srv.Info.BytesSent, 4)
	atomic.AddInt64(&s.guard.srv.Info.PacketsSent, 1)
	return nil
}

// processShared is process on a shared stack. The messages of robots take turns (guard.turns): the library takes the lock of a
// subscriber once for each message that it routes to it and once for each that it writes to it, and locks are handed over in the order
// of waiting. If a thousand robots waited for the lock of fleetd, a thousand messages would be routed to it for one that is written, and
// its queue would overflow although it reads. Messages of QoS 2 take no turn, because their acknowledgement may wait for the robot's
// network, and those of other clients need none: a stop waits for no robot.
func (s *session) processShared() error {
	if s.header.Type == packets.Publish && s.header.Qos < 2 {
		s.guard.turns <- struct{}{}
		defer func() { <-s.guard.turns }()
	}
	return s.guard.stacks.process(s)
}

// end does for a connection that ended what the library would do.
func (s *session) end(err error) {
	srv, cl := s.guard.srv, s.cl
	if err != nil {
		sendWill(srv, cl)
		cl.Stop(err)
	}
	s.guard.disconnected(cl, err)
	cl.ClearInflights()
	srv.UnsubscribeClient(cl)
	srv.Clients.Delete(cl.ID) // takeID has waited until the older connection was here
}

// sendWill sends the will of a client, unless it has been sent. A second CONNECT is what makes the library send it;
// it then refuses the packet.
func sendWill(srv *mqtt.Server, cl *mqtt.Client) {
	if atomic.LoadUint32(&cl.Properties.Will.Flag) != 0 {
		_ = srv.InjectPacket(cl, packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect}})
	}
}

var errPacketType = errors.New("packet of a type that clients do not send")

func decode(pk *packets.Packet, body []byte) error {
	switch pk.FixedHeader.Type {
	case packets.Publish:
		return pk.PublishDecode(body)
	case packets.Pubrec:
		return pk.PubrecDecode(body)
	case packets.Pubrel:
		return pk.PubrelDecode(body)
	case packets.Pubcomp:
		return pk.PubcompDecode(body)
	case packets.Subscribe:
		return pk.SubscribeDecode(body)
	case packets.Unsubscribe:
		return pk.UnsubscribeDecode(body)
	case packets.Connect: // a second one, which the library refuses
		return pk.ConnectDecode(body)
	case packets.Disconnect:
		return pk.DisconnectDecode(body)
	case packets.Pingreq:
		return nil
	}
	return errPacketType
}

// packetReader reads packets without decoding them.
type packetReader struct {
	from     io.Reader
	buf      []byte // what was read and not used yet is between pos and end
	pos, end int
}

// next returns the next packet. Nothing else refers to its body.
func (r *packetReader) next() (h packets.FixedHeader, body []byte, err error) {
	first, err := r.ReadByte()
	if err != nil {
		return h, nil, err
	}
	if err := h.Decode(first); err != nil {
		return h, nil, err
	}
	if h.Remaining, _, err = packets.DecodeLength(r); err != nil {
		return h, nil, err
	}
	if h.Remaining >= maxPacket {
		return h, nil, packets.ErrPacketTooLarge
	}
	body = make([]byte, h.Remaining)
	n := copy(body, r.buf[r.pos:r.end])
	r.pos += n
	_, err = io.ReadFull(r.from, body[n:])
	return h, body, err
}

func (r *packetReader) ReadByte() (byte, error) {
	for r.pos == r.end {
		n, err := r.from.Read(r.buf)
		if r.pos, r.end = 0, n; n == 0 && err != nil {
			return 0, err
		}
	}
	r.pos++
	return r.buf[r.pos-1], nil
}

// maxIdleStacks is how many goroutines wait for packets of robots. When more packets come at once, more are started.
const maxIdleStacks = 64

// stacks processes packets of robots on goroutines that are reused: a stack that has grown to what the library needs
// stays so large until the garbage collector has shrunk it step by step.
type stacks struct {
	sessions chan *session // unbuffered: only those that wait receive
	closed   chan struct{}
	idle     atomic.Int64
}

func newStacks() *stacks { return &stacks{sessions: make(chan *session), closed: make(chan struct{})} }

// process processes the packet of s and returns when that is done.
func (p *stacks) process(s *session) error {
	select {
	case p.sessions <- s:
	default:
		go p.run(s)
	}
	o := <-s.outcome
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.err
}

// run processes packets until enough others wait for some.
func (p *stacks) run(s *session) {
	for {
		s.outcome <- s.contained()
		if s = nil; p.idle.Add(1) > maxIdleStacks {
			p.idle.Add(-1)
			return
		}
		select {
		case s = <-p.sessions:
			p.idle.Add(-1)
		case <-p.closed:
			return
		}
	}
}

// close ends those that wait. No session may be left.
func (p *stacks) close() { close(p.closed) }

func (s *session) contained() (o outcome) {
	defer func() {
		if value := recover(); value != nil {
			o.panicked = &handlerPanic{value, debug.Stack()}
		}
	}()
	return outcome{err: s.process()}
}
