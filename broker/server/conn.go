package server

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
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

	readAhead  []byte // CONNECT, passed to the library first
	userName   string // in CONNECT; not authenticated
	timeout    atomic.Int64
	unsent     unsent
	counters   *counters
	gate       *gate // counts the connections that process a packet; shut when the broker closes (drain.go)
	insideGate bool  // it is counted by the gate; owned by the reading goroutine

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
// any CONNECT needs to be. Of a packet that is no CONNECT it reads the header, from which the library refuses it.
func (c *conn) readConnect() error {
	var b [1]byte
	size := 0
	for i := 0; i < 5; i++ {
		if _, err := io.ReadFull(c.Conn, b[:]); err != nil {
			return fmt.Errorf("wait for CONNECT: %w", err)
		}
		c.readAhead = append(c.readAhead, b[0])
		if i == 0 {
			continue
		}
		size |= int(b[0]&0x7f) << (7 * (i - 1))
		if size > maxConnect {
			return fmt.Errorf("first packet has at least %d bytes: at most %d are allowed", size, maxConnect)
		}
		if b[0]&0x80 == 0 {
			return c.readBody(size)
		}
	}
	return errors.New("first packet with a malformed length")
}

// readBody reads the rest of a CONNECT, which has size bytes.
func (c *conn) readBody(size int) error {
	if c.readAhead[0]>>4 != packets.Connect {
		return nil
	}
	head := len(c.readAhead)
	c.readAhead = slices.Grow(c.readAhead, size)[:head+size]
	if _, err := io.ReadFull(c.Conn, c.readAhead[head:]); err != nil {
		return fmt.Errorf("wait for the rest of CONNECT: %w", err)
	}
	// What is malformed has no name, and the library refuses it. Names refer to the bytes that it decodes.
	pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Connect, Remaining: size}}
	if pk.ConnectDecode(c.readAhead[head:]) == nil {
		c.userName = string(pk.Connect.Username)
	}
	return nil
}

// Read accepts nothing more once the gate is shut. It then goes on reading and discards,
// because a socket that is closed with unread bytes may also lose what was written to it.
func (c *conn) Read(b []byte) (n int, err error) {
	c.leave()
	if len(c.readAhead) > 0 {
		n = copy(b, c.readAhead)
		if c.readAhead = c.readAhead[n:]; len(c.readAhead) == 0 {
			c.readAhead = nil // it may contain a password
		}
	} else {
		n, err = c.Conn.Read(b)
	}
	if c.insideGate = c.gate.enter(); c.insideGate {
		return n, err
	}
	for err == nil {
		_, err = c.Conn.Read(b)
	}
	c.markFlushed() // the peer has closed, so it reads nothing more
	return 0, err
}

// leave is called by the reading goroutine only.
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
