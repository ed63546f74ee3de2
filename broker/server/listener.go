package server

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limits are the limits of a listener.
type limits struct {
	connect     time.Duration // from accept to the end of CONNECT, TLS and WebSocket included
	write       time.Duration
	total       int // connections
	waiting     int // of them, those whose CONNECT is not complete
	waitingIP   int // of these, from one address
	perSecond   int // accepted a second
	perSecondIP int // of them, from one address
}

// acceptBurst is how many seconds' worth of connections may come at once: a fleet that
// lost its network reconnects in one moment.
const acceptBurst = 4

// listener accepts connections and runs each on its own goroutine, which contains panics
// and ends connections that never send CONNECT.
type listener struct {
	limits   limits
	log      *slog.Logger
	counters *counters
	// establish runs a connection until it ends.
	establish func(*conn) error
	// onExpiry is called when the client certificate of a connection has expired.
	onExpiry func(*conn)
	// cleanUp removes what is left of a connection after establish panicked.
	cleanUp func(*conn)
	// onEnd is called when establish has returned.
	onEnd func(*conn)
	// onClose is called when the listener is closed and all connections have ended.
	onClose func()

	endpoints []*endpoint // none: in-process connections only
	wg        sync.WaitGroup
	gate      gate

	acceptRate   *rate.Limiter
	acceptRateIP limiters[netip.Addr]
	refusalLog   rate.Sometimes // limits the log of refused connections

	mu           sync.Mutex
	closed       bool
	conns        map[*conn]struct{}
	waiting      map[netip.Addr]map[*conn]struct{} // have not sent CONNECT, by address
	waitingTotal int                               // number of these connections
}

// open accepts connections on all endpoints.
func (l *listener) open() {
	for _, d := range l.endpoints {
		l.wg.Go(func() { l.accept(d) })
	}
}

// accept runs until the endpoint is closed. It retries after an error of Accept: a lack of
// file descriptors passes, and a broker that looks alive but accepts no client is worse
// than none.
func (l *listener) accept(d *endpoint) {
	const least, most = 5 * time.Millisecond, time.Second
	for pause := least; ; {
		c, err := d.ln.Accept()
		if err == nil {
			pause = least
			l.start(c, d)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		l.counters.add(acceptError)
		l.log.Error("connection not accepted; the listener tries again", "endpoint", d.kind, "error", err, "retry_in", pause)
		time.Sleep(pause)
		pause = min(2*pause, most)
	}
}

// start admits a connection, or closes it when a limit is reached. d is nil for an
// in-process connection.
func (l *listener) start(nc net.Conn, d *endpoint) {
	c := &conn{Conn: nc, raw: nc, endpoint: d, since: time.Now(), counters: l.counters, gate: &l.gate, done: make(chan struct{}),
		flushed: make(chan struct{})}
	c.markFlushed = sync.OnceFunc(func() { close(c.flushed) })
	c.timeout.Store(int64(l.limits.write))
	c.unsent.sending = make(chan struct{}, 1)
	addr := addrOf(nc)
	c.uncount = func() { l.uncount(addr) }
	e, why := tooFast, l.exceedsRate(addr)
	if why == "" {
		e, why = capped, l.admit(c, addr)
	}
	if why != "" {
		l.counters.add(e)
		l.refusalLog.Do(func() { l.log.Warn("connection refused", "remote", remote(nc), "why", why) })
		nc.Close()
		return
	}
	go l.serve(c)
}

// exceedsRate returns why a connection comes too soon after others, or nothing. An address
// that has used up its own rate does not use up the common one. In-process connections
// have no address and are not limited.
func (l *listener) exceedsRate(addr netip.Addr) (refused string) {
	switch {
	case !addr.IsValid():
	case !l.acceptRateIP.allow(addr):
		return fmt.Sprintf("more than %d connections per second from this address", l.limits.perSecondIP)
	case !l.acceptRate.Allow():
		return fmt.Sprintf("more than %d connections per second", l.limits.perSecond)
	}
	return ""
}

// uncount takes a connection out of the rates: its client turned out to be a robot of the fleet. So a fleet behind one
// address comes as fast as it authenticates, and clients that do not stay limited.
func (l *listener) uncount(addr netip.Addr) {
	if addr.IsValid() {
		l.acceptRateIP.giveBack(addr)
		l.acceptRate.AllowN(time.Now(), -1)
	}
}

func (l *listener) admit(c *conn, addr netip.Addr) (refused string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return "closing"
	case len(l.conns) >= l.limits.total:
		return fmt.Sprintf("%d connections are open", len(l.conns))
	case addr.IsValid() && len(l.waiting[addr]) >= l.limits.waitingIP:
		return fmt.Sprintf("%d connections from this address have not sent CONNECT", len(l.waiting[addr]))
	case l.waitingTotal >= l.limits.waiting && !l.evictSilent(addr):
		return fmt.Sprintf("%d connections have not sent CONNECT", l.waitingTotal)
	}
	l.conns[c] = struct{}{}
	l.waitingTotal++
	if l.waiting[addr] == nil {
		l.waiting[addr] = map[*conn]struct{}{}
	}
	l.waiting[addr][c] = struct{}{}
	c.connectDone = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.removeWaiting(c, addr)
	}
	l.wg.Add(1)
	l.counters.add(accepted)
	return ""
}

// removeWaiting stops counting a connection as waiting for CONNECT. It is called with
// the lock held.
func (l *listener) removeWaiting(c *conn, addr netip.Addr) {
	if _, waits := l.waiting[addr][c]; !waits {
		return
	}
	l.waitingTotal--
	if delete(l.waiting[addr], c); len(l.waiting[addr]) == 0 {
		delete(l.waiting, addr)
	}
}

// evictSilent closes the oldest silent connection of the address that has most of them, in
// favour of an address that has fewer: unknown clients that send nothing (slow loris) keep
// no other client out. It is called with the lock held.
func (l *listener) evictSilent(addr netip.Addr) bool {
	var most netip.Addr
	for a, silent := range l.waiting {
		if len(silent) > len(l.waiting[most]) {
			most = a
		}
	}
	if len(l.waiting[most]) <= len(l.waiting[addr])+1 {
		return false
	}
	var oldest *conn
	for c := range l.waiting[most] {
		if oldest == nil || c.since.Before(oldest.since) {
			oldest = c
		}
	}
	l.removeWaiting(oldest, most)
	_ = oldest.raw.Close() // its pending read fails
	return true
}

func (l *listener) serve(c *conn) {
	defer l.wg.Done()
	defer func() {
		c.Close()
		c.leave()
		c.connectDone()
		l.onEnd(c)
		close(c.done)
		l.mu.Lock()
		delete(l.conns, c)
		l.mu.Unlock()
	}()
	defer func() {
		if p := recover(); p != nil {
			l.counters.add(panicked)
			stack := debug.Stack()
			if h, other := p.(*handlerPanic); other {
				p, stack = h.value, h.stack
			}
			l.log.Error("connection panicked", "remote", remote(c.raw), "panic", fmt.Sprint(p), "stack", string(stack))
			l.cleanUp(c)
		}
	}()
	if err := c.handshake(time.Now().Add(l.limits.connect)); err != nil {
		l.counters.add(noHandshake)
		l.log.Debug("connection ended", "remote", remote(c.raw), "error", err)
		return
	}
	if !c.expires.IsZero() { // NotAfter includes its last second
		end := time.AfterFunc(time.Until(c.expires)+time.Second, func() { l.onExpiry(c) })
		defer end.Stop()
	}
	if err := c.readConnect(); err != nil {
		l.counters.add(noConnect)
		l.log.Debug("connection ended", "remote", remote(c.raw), "error", err)
		return
	}
	if err := l.establish(c); err != nil {
		l.log.Debug("connection ended", "remote", remote(c.raw), "error", err)
	}
}

// stopAccepting stops accepting connections.
func (l *listener) stopAccepting() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = closeEndpoints(l.endpoints) // an error means that they are closed already
}

// all returns the open connections.
func (l *listener) all() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.conns))
}

// close ends every connection and waits for their goroutines.
func (l *listener) close() {
	l.stopAccepting()
	for _, c := range l.all() {
		c.Close()
	}
	l.wg.Wait()
	l.onClose()
}

// addrOf is the peer's address, for IPv6 its /64 network, since one host there has 2^64
// addresses. It is invalid for an in-process connection, which no address limit concerns.
func addrOf(c net.Conn) netip.Addr {
	ta, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	a := ta.AddrPort().Addr().Unmap()
	if a.Is6() {
		network, _ := a.Prefix(64) // which every IPv6 address has
		a = network.Addr()
	}
	return a
}

func remote(c net.Conn) string {
	if a := c.RemoteAddr(); a != nil {
		return a.String()
	}
	return ""
}
