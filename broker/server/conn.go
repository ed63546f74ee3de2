package server

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// maxConnect bounds the CONNECT packet, in bytes. The library would allocate
// what a unknown client's header declares, up to 256 MB, before it knows who he is.
const maxConnect = 4 << 10

// conn is a client's connection as the library sees it. How it is written to is
// told in write.go.
type conn struct {
	net.Conn                     // as the door made it: plain, encrypted, WebSocket; of the goroutine that reads until the library has it
	raw      net.Conn            // the socket below
	door     *endpoint           // nil within the process
	chain    []*x509.Certificate // that the client showed, its own first
	ends     time.Time           // of what it is believed by; zero: never
	since    time.Time

	head     []byte // read ahead, given to the library first
	timeout  atomic.Int64
	unsent   unsent
	counters *counters
	gate     *gate
	inside   bool // the gate; of the goroutine that reads

	emptyWill bool // the will has no payload, whatever the library is told; of the goroutine that reads

	who       atomic.Pointer[client] // once identified
	takenOver atomic.Bool            // a newer connection has the session
	kicked    atomic.Pointer[kick]   // once it has lost the right to be here
	cut       atomic.Pointer[error]  // why the guard ended it, if it did
	searching atomic.Bool            // reads retained documents; set by the goroutine that reads packets
	tally     tally
	owed      pendingRetained
	finished  func()        // no longer waits for its CONNECT; idempotent
	gone      chan struct{} // closed when the library is done with it
	flush     func()        // closes flushed; idempotent
	flushed   chan struct{} // closed when all was written that ever will be
}

// readConnect reads the first fixed header, before anything is allocated for the
// client, and refuses a packet larger than any CONNECT needs to be.
func (c *conn) readConnect() error {
	var b [1]byte
	size := 0
	for i := 0; i < 5; i++ {
		if _, err := io.ReadFull(c.Conn, b[:]); err != nil {
			return fmt.Errorf("wait for CONNECT: %w", err)
		}
		c.head = append(c.head, b[0])
		if i == 0 {
			continue // its type is the library's to check
		}
		size |= int(b[0]&0x7f) << (7 * (i - 1))
		if size > maxConnect {
			return fmt.Errorf("first packet of at least %d bytes: at most %d are taken", size, maxConnect)
		}
		if b[0]&0x80 == 0 {
			return nil
		}
	}
	return errors.New("first packet with a malformed length")
}

// Read takes nothing more once the gate is shut. It goes on reading then, for a
// socket that is closed with bytes unread may take back what was written to it.
func (c *conn) Read(b []byte) (n int, err error) {
	c.leave()
	if len(c.head) > 0 {
		n = copy(b, c.head)
		c.head = c.head[n:]
	} else {
		n, err = c.Conn.Read(b)
	}
	if c.inside = c.gate.enter(); c.inside {
		return n, err
	}
	for err == nil {
		_, err = c.Conn.Read(b)
	}
	c.flush() // whoever is gone reads nothing
	return 0, err
}

// leave is for the goroutine that reads.
func (c *conn) leave() {
	if c.inside {
		c.inside = false
		c.gate.leave()
	}
}

// Close ends the socket. What would have to be said before, in TLS or WebSocket,
// could wait for a peer that does not read.
func (c *conn) Close() error { return c.raw.Close() }

// end ends a connection that cannot go on, as one that is lost. The library's own
// way to stop a client is not taken: who is stopped while his packet is dealt with
// is taken for one who said goodbye, and his will is thrown away.
func (c *conn) end(why error) {
	c.cut.CompareAndSwap(nil, &why)
	c.Close()
}

// SetDeadline bounds reads only: the library calls it for the keep-alive.
func (c *conn) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }

// SetWriteDeadline does nothing: every write sets its own.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
