package server

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"
)

// maxConnect bounds the CONNECT packet, in bytes. The library would allocate the length
// that an unknown client's header declares, up to 256 MB, before it is authenticated.
const maxConnect = 4 << 10

// conn is a client's connection as the library sees it. Writing is explained in unsent.go.
type conn struct {
	net.Conn                     // after the TLS and WebSocket handshakes; owned by the reading goroutine until the library has it
	raw      net.Conn            // the socket below
	endpoint *endpoint           // nil: in-process
	chain    []*x509.Certificate // certificates of the client, its own first
	expires  time.Time           // expiry of the client's certificate; zero: none
	since    time.Time

	hello      *packets.Packet // CONNECT, until it is processed; nil: the first packet was another one
	timeout    atomic.Int64
	unsent     unsent
	counters   *counters
	gate       *gate // counts the connections that process a packet; shut when the broker closes (drain.go)
	insideGate bool  // it is counted by the gate; owned by the reading goroutine

	acknowledged bool // there is an acknowledgement that was not sent yet; owned by the reading goroutine

	emptyWill bool // the will has no payload, see checkConnect; owned by the reading goroutine

	client      atomic.Pointer[client] // set once authenticated
	takenOver   atomic.Bool            // a newer connection has its client id
	successor   atomic.Pointer[conn]   // that connection, until it is refused
	kicked      atomic.Pointer[kick]   // set once the client has lost the right to be connected
	cut         atomic.Pointer[error]  // why the guard ended it, if it did
	subscribing atomic.Bool            // the library processes its SUBSCRIBE, and has not written SUBACK; set by the reading goroutine
	searching   atomic.Bool            // the library searches retained documents for it; set by the reading goroutine
	tally       tally                  // of the deliveries in its queue (delivery.go)
	postponed   postponedDocs
	stops       stopsInFlight
	uncount     func()        // takes it out of the rates of new connections
	connectDone func()        // stops counting it as waiting for CONNECT; idempotent
	done        chan struct{} // closed when the library has finished with it
	markFlushed func()        // closes flushed; idempotent
	flushed     chan struct{} // closed when everything is written
}

// readConnect reads the first packet before anything is allocated for the client, and refuses one that is larger than
// any CONNECT needs to be. Of a packet that is no CONNECT it reads the header only.
func (c *conn) readConnect() error {
	var b [1]byte
	var header packets.FixedHeader
	for i := 0; i < 5; i++ {
		if _, err := io.ReadFull(c.Conn, b[:]); err != nil {
			return fmt.Errorf("wait for CONNECT: %w", err)
		}
		if i == 0 {
			if err := header.Decode(b[0]); err != nil {
				return fmt.Errorf("decode the first packet: %w", err)
			}
			continue
		}
		header.Remaining |= int(b[0]&0x7f) << (7 * (i - 1))
		if header.Remaining > maxConnect {
			return fmt.Errorf("first packet has at least %d bytes: at most %d are allowed", header.Remaining, maxConnect)
		}
		if b[0]&0x80 == 0 {
			return c.readHello(header)
		}
	}
	return errors.New("first packet with a malformed length")
}

// readHello reads and decodes the rest of the first packet, unless it is no CONNECT.
func (c *conn) readHello(header packets.FixedHeader) error {
	if header.Type != packets.Connect {
		return nil
	}
	body := make([]byte, header.Remaining)
	if _, err := io.ReadFull(c.Conn, body); err != nil {
		return fmt.Errorf("wait for the rest of CONNECT: %w", err)
	}
	pk := &packets.Packet{FixedHeader: header, ProtocolVersion: 4}
	if err := pk.ConnectDecode(body); err != nil {
		return fmt.Errorf("decode CONNECT: %w", err)
	}
	c.hello = pk
	return nil
}

// acknowledge is called by the goroutine that processes a packet. The acknowledgement is sent with the next packet for
// the client, or before the broker waits for more of its packets.
func (c *conn) acknowledge(id uint16) {
	_, _ = c.Write([]byte{byte(packets.Puback) << 4, 2, byte(id >> 8), byte(id)}) // if it fails, so does the next read
	c.acknowledged = true
}

// Read accepts nothing more once the gate is shut.
func (c *conn) Read(b []byte) (n int, err error) {
	if c.acknowledged {
		c.acknowledged = false
		_ = c.send() // if it fails, so does the read
	}
	c.leave()
	n, err = c.Conn.Read(b)
	if c.enter() {
		return n, err
	}
	if err == nil {
		err = c.discard()
	}
	c.markFlushed() // the peer has closed, so it reads nothing more
	return 0, err
}

// discard goes on reading, after the gate was shut, until the peer closes: a socket that is closed with unread bytes
// may also lose what was written to it.
func (c *conn) discard() error {
	b := make([]byte, 512)
	for {
		if _, err := c.Conn.Read(b); err != nil {
			return err
		}
	}
}

// enter is called by the reading goroutine only, like leave, before it processes something. It returns false once the gate is shut.
func (c *conn) enter() bool {
	c.insideGate = c.gate.enter()
	return c.insideGate
}

func (c *conn) leave() {
	if c.insideGate {
		c.insideGate = false
		c.gate.leave()
	}
}

// Close closes the socket without the close messages of TLS and WebSocket, which could
// block on a peer that does not read.
func (c *conn) Close() error { return c.raw.Close() }

// end ends a connection like a lost one. It does not stop the client in the library's way,
// because the library treats a client that is stopped while its packet is processed as one
// that sent DISCONNECT, and discards its will.
func (c *conn) end(why error) {
	c.cut.CompareAndSwap(nil, &why)
	c.Close()
}

// SetDeadline sets the read deadline only: the library calls it for the keep-alive.
func (c *conn) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }

// SetWriteDeadline does nothing: every write sets its own.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
