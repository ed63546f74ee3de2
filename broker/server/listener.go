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

// limits of a listener.
type limits struct {
	connect   time.Duration // from accept to the end of CONNECT, TLS and WebSocket included
	write     time.Duration
	total     int // connections
	waiting   int // of them, those whose CONNECT is not finished
	waitingIP int // of them, from one address
	each      int // accepted a second
	eachIP    int // of them, from one address
}

// acceptBurst is how many seconds' worth of connections are taken at once: a fleet
// that lost its network comes back in one moment.
const acceptBurst = 4

// listener accepts connections and runs each on a goroutine of its own, from
// which nothing escapes: neither a panic nor a connection that never says who it
// is.
type listener struct {
	limits   limits
	log      *slog.Logger
	counters *counters
	// establish runs a connection to its end.
	establish func(*conn) error
	// expired is told when what a connection is believed by has ended.
	expired func(*conn)
	// cleanUp tidies up after establish panicked.
	cleanUp func(*conn)
	// ended is told when establish is done with a connection.
	ended func(*conn)

	doors []*endpoint // none: in-process only
	wg    sync.WaitGroup
	gate  gate

	pace     *rate.Limiter
	paceIP   limiters[netip.Addr]
	complain rate.Sometimes // about who was turned away

	mu      sync.Mutex
	closed  bool
	conns   map[*conn]struct{}
	waiting map[netip.Addr]map[*conn]struct{} // have not said CONNECT
	waits   int                               // of all addresses
}

// open lets in whoever comes through the doors.
func (l *listener) open() {
	for _, d := range l.doors {
		l.wg.Go(func() { l.accept(d) })
	}
}

// accept runs until the door is closed. An error of Accept is not the end:
// out of file descriptors passes, and a broker that looks alive but takes nobody
// is worse than none.
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
		l.log.Error("accept", "door", d.kind, "error", err, "again_in", pause)
		time.Sleep(pause)
		pause = min(2*pause, most)
	}
}

// start admits a connection, or closes it when a cap is reached. It comes through
// a door, or, without one, from within the process.
func (l *listener) start(nc net.Conn, d *endpoint) {
	c := &conn{Conn: nc, raw: nc, door: d, since: time.Now(), counters: l.counters, gate: &l.gate, gone: make(chan struct{}), flushed: make(chan struct{})}
	c.flush = sync.OnceFunc(func() { close(c.flushed) })
	c.timeout.Store(int64(l.limits.write))
	c.unsent.sending = make(chan struct{}, 1)
	addr := addrOf(nc)
	e, why := tooFast, l.hurries(addr)
	if why == "" {
		e, why = capped, l.admit(c, addr)
	}
	if why != "" {
		l.counters.add(e)
		l.complain.Do(func() { l.log.Warn("connection refused", "remote", remote(nc), "why", why) })
		nc.Close()
		return
	}
	go l.serve(c, addr)
}

// hurries says why a connection comes too soon after others, if it does. An
// address that has used up its own share takes nothing of what is for all; a
// connection within the process, which has no address, is no unknown client's.
func (l *listener) hurries(addr netip.Addr) (refused string) {
	switch {
	case !addr.IsValid():
	case !l.paceIP.allow(addr):
		return fmt.Sprintf("more than %d connections a second from this address", l.limits.eachIP)
	case !l.pace.Allow():
		return fmt.Sprintf("more than %d connections a second", l.limits.each)
	}
	return ""
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
		return fmt.Sprintf("%d connections from this address have not said CONNECT", len(l.waiting[addr]))
	case l.waits >= l.limits.waiting && !l.makesRoom(addr):
		return fmt.Sprintf("%d connections have not said CONNECT", l.waits)
	}
	l.conns[c] = struct{}{}
	l.waits++
	if l.waiting[addr] == nil {
		l.waiting[addr] = map[*conn]struct{}{}
	}
	l.waiting[addr][c] = struct{}{}
	c.finished = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.spoke(c, addr)
	}
	l.wg.Add(1)
	l.counters.add(accepted)
	return ""
}

// spoke ends the time in which a connection counts as waiting. It is called under
// the lock.
func (l *listener) spoke(c *conn, addr netip.Addr) {
	if _, waits := l.waiting[addr][c]; !waits {
		return
	}
	l.waits--
	if delete(l.waiting[addr], c); len(l.waiting[addr]) == 0 {
		delete(l.waiting, addr)
	}
}

// makesRoom ends the oldest silent connection of the address that has most, for one
// of an address that has fewer: a few unknown clients who say nothing keep nobody else
// out. It is called under the lock.
func (l *listener) makesRoom(addr netip.Addr) bool {
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
	l.spoke(oldest, most)
	_ = oldest.raw.Close() // whoever reads there learns of it
	return true
}

func (l *listener) serve(c *conn, addr netip.Addr) {
	defer l.wg.Done()
	defer func() {
		c.Close()
		c.leave()
		c.finished()
		l.ended(c)
		close(c.gone)
		l.mu.Lock()
		delete(l.conns, c)
		l.mu.Unlock()
	}()
	defer func() {
		if p := recover(); p != nil {
			l.counters.add(panicked)
			l.log.Error("connection panicked", "remote", remote(c.raw), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			l.cleanUp(c)
		}
	}()
	if err := c.greet(time.Now().Add(l.limits.connect)); err != nil {
		l.counters.add(notGreeted)
		l.log.Debug("connection ended", "remote", remote(c.raw), "error", err)
		return
	}
	if !c.ends.IsZero() { // with the last second
		end := time.AfterFunc(time.Until(c.ends)+time.Second, func() { l.expired(c) })
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

// refuse takes no more connections.
func (l *listener) refuse() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = closeDoors(l.doors) // an error says that they are
}

// all are the connections that there are.
func (l *listener) all() []*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.conns))
}

// close ends every connection and waits for their goroutines.
func (l *listener) close() {
	l.refuse()
	for _, c := range l.all() {
		c.Close()
	}
	l.wg.Wait()
}

// addrOf is the peer's address, of IPv6 the network of it, for whoever has one
// address there has 2^64. Invalid for a connection within the process, which
// counts for no address.
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
