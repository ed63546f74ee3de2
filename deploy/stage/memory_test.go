package stage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// memoryListener accepts connections within the process.
type memoryListener struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once

	mu    sync.Mutex
	conns []*frozenConn
}

func newMemoryListener() *memoryListener {
	return &memoryListener{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memoryListener) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	c := &frozenConn{Conn: near}
	select {
	case l.accepted <- far:
		l.mu.Lock()
		l.conns = append(l.conns, c)
		l.mu.Unlock()
		return c, nil
	case <-l.closed:
		return nil, errors.New("nobody listens")
	}
}

// freeze makes every connection deliver nothing any more, without closing it.
func (l *memoryListener) freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.frozen.Store(true)
	}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, fmt.Errorf("accept: %w", net.ErrClosed)
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (*memoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// frozenConn is a connection that may cease to deliver.
type frozenConn struct {
	net.Conn
	frozen atomic.Bool
}

func (c *frozenConn) Write(b []byte) (int, error) {
	if c.frozen.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}
