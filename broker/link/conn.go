package link

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// writeChunk is how much must get through within one write deadline: the
// deadline watches progress, so that a large document on a slow line is no
// fault.
const writeChunk = 16 << 10

// guarded is a connection that cannot hang its user: every write has a deadline
// of its own, a failed write ends the connection (the library would keep it),
// and inward packets are looked at before they are allocated.
//
// It also remembers why it was ended. The library keeps silent about a
// connection that was closed on this side, so a read after such an end answers
// with the cause.
type guarded struct {
	net.Conn
	writeTimeout time.Duration
	in           inward
	leaving      atomic.Bool   // goodbye is being said
	reading      chan struct{} // 1: one reader at a time; what is dialled need not stand two

	mu    sync.Mutex
	cause error
}

// fail ends the connection for a reason of ours; the first reason stays.
func (c *guarded) fail(err error) {
	c.mu.Lock()
	if c.cause == nil {
		c.cause = err
	}
	c.mu.Unlock()
	c.Conn.Close()
}

// linger bounds how long the other side may take to hang up after a goodbye.
const linger = time.Second

// Close ends the connection. After a goodbye the other side hangs up first: it may
// still be writing, and whoever is cut off while he writes may never read the
// goodbye and send the will.
func (c *guarded) Close() error {
	if c.leaving.Load() && c.Conn.SetReadDeadline(time.Now().Add(linger)) == nil {
		c.reading <- struct{}{}
		_, _ = io.Copy(io.Discard, c.Conn) // its end is all that matters
		<-c.reading
	}
	return c.Conn.Close()
}

func (c *guarded) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

func (c *guarded) Read(b []byte) (int, error) {
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	n, err := c.Conn.Read(b)
	if n > 0 {
		if bad := c.in.look(b[:n]); bad != nil {
			c.fail(bad)
			return 0, bad
		}
	}
	if err != nil {
		if cause := c.why(); cause != nil {
			return n, cause
		}
	}
	return n, err
}

func (c *guarded) Write(b []byte) (int, error) {
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

// SetWriteDeadline does nothing: the library sets it for some packets and
// removes it for all.
func (c *guarded) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline bounds reads only; see SetWriteDeadline.
func (c *guarded) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }

const packetSuback = 0x90

// inward follows the packet boundaries of what the broker sends. The library
// allocates whatever length a header declares, up to 256 MB, and indexes out of
// range on a SUBACK that grants more than was asked.
type inward struct {
	max     int // bytes of one packet
	filters int // subscriptions that may be granted

	first byte // fixed header of the packet being read
	shift int  // bits of its length read so far
	size  int  // its length, then what is left of its body
	where inwardPart
}

type inwardPart uint8

const (
	atFirst inwardPart = iota
	atLength
	atBody
)

var errLength = errors.New("malformed packet length from the broker")

func (p *inward) look(b []byte) error {
	for len(b) > 0 {
		switch p.where {
		case atFirst:
			p.first, p.size, p.shift, p.where = b[0], 0, 0, atLength
			b = b[1:]
		case atLength:
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
				return fmt.Errorf("packet of %d bytes from the broker is over the limit of %d", p.size, p.max)
			}
			if p.first == packetSuback && p.size > 2+p.filters {
				return fmt.Errorf("broker grants %d subscriptions, %d were asked for", p.size-2, p.filters)
			}
			p.where = atBody
			if p.size == 0 {
				p.where = atFirst
			}
		case atBody:
			n := min(p.size, len(b))
			if p.size, b = p.size-n, b[n:]; p.size == 0 {
				p.where = atFirst
			}
		}
	}
	return nil
}
