package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"troupe/schema/bubble"
)

func TestIPv6NetworkCountsAsOneAddress(t *testing.T) {
	of := func(text string) netip.Addr {
		a := netip.MustParseAddrPort(text)
		return addrOf(connFrom{remote: net.TCPAddrFromAddrPort(a)})
	}
	if of("[2001:db8::1]:1") != of("[2001:db8::ffff:2]:2") {
		t.Error("two addresses of one network are counted separately")
	}
	if of("[2001:db8::1]:1") == of("[2001:db8:0:1::1]:1") || of("192.0.2.1:1") == of("192.0.2.2:1") {
		t.Error("two networks are counted as one")
	}
	if of("[::ffff:192.0.2.1]:1") != of("192.0.2.1:1") {
		t.Error("an IPv4 address and its IPv6 form are counted separately")
	}
}

// connFrom is a connection from a given address.
type connFrom struct {
	net.Conn
	remote net.Addr
}

func (a connFrom) RemoteAddr() net.Addr { return a.remote }

func TestFleetReconnectsDuringConnectFlood(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		cfg, err := Config{Dev: true}.complete()
		if err != nil {
			t.Fatal(err)
		}
		l := newListener(cfg, nil, &guard{})
		taken := func(n int, from func(i int) string) (took int) {
			for i := range n {
				if l.exceedsRate(netip.MustParseAddr(from(i))) == "" {
					took++
				}
			}
			return took
		}
		museum := func(int) string { return "192.0.2.1" }
		if got := taken(300, museum); got != 300 {
			t.Errorf("%d of 300 robots behind one address are accepted", got)
		}
		unknown := func(int) string { return "192.0.2.2" }
		if got := taken(100_000, unknown); got != 1000 {
			t.Errorf("%d connections of one address are accepted at once, want 1000", got)
		}
		if got := taken(300, museum); got != 300 {
			t.Errorf("%d of 300 robots are accepted during a flood", got)
		}
		time.Sleep(time.Second)
		if got := taken(1000, unknown); got != 250 {
			t.Errorf("%d connections of one address are accepted a second, want 250", got)
		}
		time.Sleep(time.Hour)
		if got := taken(10_000, func(i int) string { return fmt.Sprintf("198.51.%d.%d", i>>8, i&255) }); got != 4000 {
			t.Errorf("%d connections of as many addresses are accepted at once, want 4000", got)
		}
		if why := l.exceedsRate(addrOf(connFrom{remote: pipeAddr{}})); why != "" {
			t.Errorf("in-process connection refused: %s", why)
		}
	})
}

// flakyListener is a listener whose Accept fails a few times, as without file descriptors.
type flakyListener struct {
	net.Listener
	failures atomic.Int32
	conns    chan net.Conn
	closed   chan struct{}
}

func (f *flakyListener) Accept() (net.Conn, error) {
	if f.failures.Add(-1) >= 0 {
		return nil, errors.New("accept: too many open files")
	}
	select {
	case c := <-f.conns:
		return c, nil
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

func (f *flakyListener) Close() error { close(f.closed); return nil }

func TestFailingAcceptIsRetried(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &flakyListener{conns: make(chan net.Conn), closed: make(chan struct{})}
		f.failures.Store(20)
		var n counters
		served := make(chan struct{})
		l := &listener{
			limits: limits{connect: time.Second, write: time.Second, total: 1, waiting: 1, waitingIP: 1}, log: slog.New(slog.DiscardHandler),
			counters: &n, endpoints: []*endpoint{{kind: "mqtt", ln: f}}, conns: map[*conn]struct{}{}, waiting: map[netip.Addr]map[*conn]struct{}{},
			establish: func(*conn) error { close(served); return nil }, onEnd: func(*conn) {}, cleanUp: func(*conn) {}, onClose: func() {},
		}
		l.open()
		ours, theirs := newPipe()
		f.conns <- ours
		_, _ = theirs.Write([]byte{0xc0, 0}) // what it is matters to establish only
		<-served
		l.close()
		if got := n.get(acceptError); got != 20 {
			t.Errorf("%d errors counted", got)
		}
	})
}
