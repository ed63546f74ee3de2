package link

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// writeChunk is how many bytes must be written within one write deadline: the deadline
// checks progress, so that a large document on a slow network is no failure.
const writeChunk = 16 << 10

// guardedConn is a connection that cannot block its user for ever: every write has its own
// deadline, a failed write ends the connection (the library would keep it), and received
// packets are checked before the library allocates them.
//
// It reads through a buffer: the library reads each packet in at least three pieces, which
// would be a system call each.
//
// It also remembers why it was ended. The library does not report why a connection was
// closed on this side, so a read after that returns the cause.
type guardedConn struct {
	net.Conn
	reader        io.Reader // of Conn, buffered
	writeTimeout  time.Duration
	checker       packetChecker
	disconnecting atomic.Bool   // DISCONNECT is being sent
	requested     atomic.Int64  // number of filters of the newest SUBSCRIBE, which packetChecker expects
	closed        atomic.Bool   // nothing is read any more, not even from the buffer
	readToken     chan struct{} // capacity 1: one reader at a time, as Config.Dial's connection may not allow two
	writeToken    chan struct{} // capacity 1: one writer at a time, who writes whole packets

	mu    sync.Mutex
	cause error
}

// readBuffer is the size of the read buffer in bytes. Nearly all packets are smaller; the
// rest of a larger one is read past the buffer.
const readBuffer = 4 << 10

func newGuardedConn(c net.Conn, writeTimeout time.Duration, checker packetChecker) *guardedConn {
	g := &guardedConn{
		Conn: c, reader: bufio.NewReaderSize(c, readBuffer), writeTimeout: writeTimeout, checker: checker, readToken: make(chan struct{}, 1),
		writeToken: make(chan struct{}, 1),
	}
	g.requested.Store(int64(checker.filters))
	return g
}

// fail ends the connection for a reason on this side; the first reason is kept.
func (c *guardedConn) fail(err error) {
	c.mu.Lock()
	if c.cause == nil {
		c.cause = err
	}
	c.mu.Unlock()
	c.closed.Store(true)
	c.Conn.Close()
}

// linger bounds how long the peer may take to close its side after a DISCONNECT.
const linger = time.Second

// Close ends the connection. After a DISCONNECT the peer closes first: it may still be
// writing, and a broker whose write fails may never read the DISCONNECT and send the will.
func (c *guardedConn) Close() error {
	if c.disconnecting.Load() && c.Conn.SetReadDeadline(time.Now().Add(linger)) == nil {
		c.readToken <- struct{}{}
		_, _ = io.Copy(io.Discard, c.Conn) // until the peer closes
		<-c.readToken
	}
	c.closed.Store(true)
	return c.Conn.Close()
}

func (c *guardedConn) endCause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

func (c *guardedConn) Read(b []byte) (int, error) {
	c.readToken <- struct{}{}
	defer func() { <-c.readToken }()
	n, err := 0, net.ErrClosed
	if !c.closed.Load() {
		n, err = c.reader.Read(b)
	}
	if n > 0 {
		c.checker.filters = int(c.requested.Load())
		if bad := c.checker.check(b[:n]); bad != nil {
			c.fail(bad)
			return 0, bad
		}
	}
	if err != nil {
		if cause := c.endCause(); cause != nil {
			return n, cause
		}
	}
	return n, err
}

// Write writes whole packets: the library and session.acknowledge write on goroutines of their own.
func (c *guardedConn) Write(b []byte) (int, error) {
	c.writeToken <- struct{}{}
	defer func() { <-c.writeToken }()
	done := 0
	for done < len(b) {
		part := b[done:min(len(b), done+writeChunk)]
		if err := c.Conn.SetWriteDeadline(time.Now().Add(c.writeTimeout)); err != nil {
			return done, err
		}
		n, err := c.Conn.Write(part)
		done += n
		if err != nil {
			err = fmt.Errorf("write to the broker: %w", err)
			c.fail(err)
			return done, err
		}
	}
	return done, nil
}

// SetWriteDeadline does nothing: the library sets it for some packets and removes it for
// all.
func (c *guardedConn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline sets the read deadline only; see SetWriteDeadline.
func (c *guardedConn) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }

const (
	packetPuback = 0x40
	packetSuback = 0x90
)

// packetChecker follows the packet boundaries of what the broker sends. The library
// allocates whatever length a header declares, up to 256 MB, and panics with an index out
// of range on a SUBACK that has more return codes than filters were requested.
type packetChecker struct {
	max     int // bytes of one packet
	filters int // number of filters of the SUBSCRIBE that is not answered yet

	first byte // fixed header of the packet being read
	shift int  // bits of its length read so far
	size  int  // its length, then the remaining bytes of its body
	part  packetPart
}

type packetPart uint8

const (
	inFirstByte packetPart = iota
	inLength
	inBody
)

var errLength = errors.New("malformed packet length from the broker")

func (p *packetChecker) check(b []byte) error {
	for len(b) > 0 {
		switch p.part {
		case inFirstByte:
			p.first, p.size, p.shift, p.part = b[0], 0, 0, inLength
			b = b[1:]
		case inLength:
			p.size |= int(b[0]&0x7f) << p.shift
			more := b[0]&0x80 != 0
			b = b[1:]
			if more {
				if p.shift += 7; p.shift > 21 {
					return errLength
				}
				continue
			}
			if p.size > p.max {
				return fmt.Errorf("packet of %d bytes from the broker exceeds the limit of %d", p.size, p.max)
			}
			if p.first == packetSuback && p.size > 2+p.filters {
				return fmt.Errorf("broker grants %d subscriptions, %d were requested", p.size-2, p.filters)
			}
			p.part = inBody
			if p.size == 0 {
				p.part = inFirstByte
			}
		case inBody:
			n := min(p.size, len(b))
			if p.size, b = p.size-n, b[n:]; p.size == 0 {
				p.part = inFirstByte
			}
		}
	}
	return nil
}
