package fleet

import (
	"container/list"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"

	"troupe/fleetd/api"
)

const (
	// maxConnections bounds the connections to the address of the API and the page.
	maxConnections = 1024
	// reservedForStops is how many of them only stops can use.
	reservedForStops = 64
	// maxRobotConnections bounds the connections to the address for robots: after an
	// assignment the whole fleet may fetch files at once.
	maxRobotConnections = 2048
)

// connections bounds the connections of one address. At the limit a new connection evicts the
// one that has been idle longest and whose requests hold no slot from admit. So a client that
// opens connections, or sends half a request on each, locks nobody out. With a
// reserve there are fewer slots than connections, so a stop always gets one; the address for
// robots takes no stops and has no reserve.
type connections struct {
	most     int
	requests chan struct{} // slots for other requests than stops
	stops    chan struct{} // slots for stops that have arrived in full; a stop without a slot is served too

	mu        sync.Mutex
	evictable *list.List // of *connection, the oldest first
	open      map[net.Conn]*connection
}

// connection is a connection that counts against the limit.
type connection struct {
	net.Conn
	slots int           // that its requests hold; over HTTP/2 there may be several
	at    *list.Element // in evictable; nil while it holds a slot
}

type connectionKey struct{}

// newConnections allows most connections, of which reserved are for stops. Stops get half as many slots,
// because a connection with a slot is not evicted: the other half makes room for the next stop.
func newConnections(most, reserved int) *connections {
	return &connections{
		most: most, requests: make(chan struct{}, most-reserved), stops: make(chan struct{}, reserved/2),
		evictable: list.New(), open: map[net.Conn]*connection{},
	}
}

// with puts a connection into the context of its requests.
func (c *connections) with(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// track is the server's ConnState hook.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.open[conn]
	switch {
	case state == http.StateNew:
		if len(c.open) >= c.most && !c.makeRoom() {
			cut(conn)
			return
		}
		n := &connection{Conn: conn}
		n.at = c.evictable.PushBack(n)
		c.open[conn] = n
	case known == nil: // evicted
	case state == http.StateIdle || state == http.StateActive:
		if known.at != nil {
			c.evictable.MoveToBack(known.at)
		}
	default:
		c.forget(known)
	}
}

// forget stops counting a connection. It is called under the lock.
func (c *connections) forget(n *connection) {
	if n.at != nil {
		c.evictable.Remove(n.at)
	}
	delete(c.open, n.Conn)
}

// makeRoom closes the oldest evictable connection. It is called under the lock.
func (c *connections) makeRoom() bool {
	oldest := c.evictable.Front()
	if oldest == nil {
		return false
	}
	n := oldest.Value.(*connection)
	c.forget(n)
	cut(n.Conn)
	return true
}

// take takes a slot for a request, which keeps its connection open until release is
// called. It reports false if there is no slot.
func (c *connections) take(slots chan struct{}, r *http.Request) (release func(), ok bool) {
	select {
	case slots <- struct{}{}:
	default:
		return nil, false
	}
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.open[conn]
	if n == nil { // evicted a moment ago: nobody reads the answer
		return func() { <-slots }, true
	}
	if n.slots++; n.at != nil {
		c.evictable.Remove(n.at)
		n.at = nil
	}
	return func() {
		<-slots
		c.mu.Lock()
		defer c.mu.Unlock()
		if n.slots--; n.slots == 0 && c.open[conn] == n {
			n.at = c.evictable.PushBack(n)
		}
	}, true
}

// cut closes a connection without a TLS close_notify, which would block on a peer that does
// not read.
func cut(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close() // its goroutine gets an error
}

// admit bounds the requests that are served at once. A connection is safe from eviction only
// while a request on it holds a slot: not before, not when the request is refused, and not
// afterwards, when the server may wait for the rest of a body.
func (c *connections) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == api.StopPath {
			body := &stopBody{ReadCloser: r.Body, arrived: func() (func(), bool) { return c.take(c.stops, r) }}
			defer body.done()
			r = r.WithContext(r.Context()) // the server reads the body of its own request after the answer
			r.Body = body
			next.ServeHTTP(w, r)
			return
		}
		if release, ok := c.take(c.requests, r); ok {
			defer release()
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		w.Header().Set("Retry-After", "1")
		api.Write(w, api.KindOverload.Problem("fleetd serves as many requests as it may", "try again; fleetd stop and STOP on the page get through"))
	})
}

// stopBody takes a slot for a stop when its body has arrived in full. Only the handler's
// goroutine uses it.
type stopBody struct {
	io.ReadCloser
	arrived func() (release func(), ok bool)
	release func()
}

func (b *stopBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.release == nil {
		b.release, _ = b.arrived()
	}
	return n, err
}

func (b *stopBody) done() {
	if b.release != nil {
		b.release()
	}
}
