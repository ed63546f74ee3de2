package crowd

import (
	"bufio"
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// The times of a connection are those of package link.
const (
	keepAlive      = 10 * time.Second
	connectTimeout = 5 * time.Second // each for the dial, the handshake, the subscriptions and the echo
	quiet          = 15 * time.Second
	renewal        = time.Minute
	writeTimeout   = 3 * time.Second // without progress
	backoffFirst   = time.Second
	backoffMost    = 10 * time.Second
	linger         = time.Second // in which the broker closes after a DISCONNECT
)

const (
	readBuffer = 256 // bytes; what a packet has beyond is read past the buffer
	mostUnsent = 1 << 20
)

// conn is a connection to the broker. One goroutine reads it, whatever the robot does; the shard writes to it without
// waiting, and leaves what the network does not take at once to a goroutine that lives as long as that takes.
type conn struct {
	net.Conn
	raw     syscall.RawConn // nil: it cannot be written to without waiting
	gate    atomic.Pointer[chan struct{}]
	writing bool   // a goroutine writes
	unsent  []byte // for that goroutine, once it is done with what it has
	ending  bool   // closed for writing once everything is written
	started func() // of a robot's own connection: it is up, or has ended; idempotent
}

func newConn(c net.Conn) *conn {
	n := &conn{Conn: c}
	if s, ok := c.(syscall.Conn); ok {
		n.raw, _ = s.SyscallConn()
	}
	return n
}

// writeNow writes as much as the network takes without waiting.
func (c *conn) writeNow(b []byte) (n int, err error) {
	if c.raw == nil {
		return 0, nil
	}
	var failed error
	err = c.raw.Write(func(fd uintptr) bool {
		for n < len(b) {
			m, err := syscall.Write(int(fd), b[n:])
			if err == syscall.EINTR {
				continue
			}
			if m > 0 {
				n += m
			}
			if err != nil {
				if err != syscall.EAGAIN {
					failed = err
				}
				return true
			}
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return n, err
}

// write writes b and waits, at most writeTimeout without progress.
func (c *conn) write(b []byte) error {
	const chunk = 16 << 10
	for len(b) > 0 {
		if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		n, err := c.Write(b[:min(len(b), chunk)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return c.SetWriteDeadline(time.Time{}) // writeNow has none
}

// end lets the broker close, which it does after a DISCONNECT; the reader closes this side.
func (c *conn) end() {
	_ = c.SetReadDeadline(time.Now().Add(linger))
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
}

// read reads packets until the connection ends, and gives each to take.
func (c *conn) read(take func(packet) bool) error {
	defer c.Close()
	r := bufio.NewReaderSize(c.Conn, readBuffer)
	for {
		if stalled := c.gate.Load(); stalled != nil {
			<-*stalled
		}
		p, err := readPacket(r)
		if err != nil {
			return err
		}
		if !take(p) {
			return net.ErrClosed
		}
	}
}

// dial opens a connection and writes the CONNECT.
func (c *Crowd) dial(ctx context.Context, r *robot, connect []byte) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	opened, err := c.cfg.dial(ctx, r.n)
	if err != nil {
		return nil, err
	}
	n := newConn(opened)
	if err := n.write(connect); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}
