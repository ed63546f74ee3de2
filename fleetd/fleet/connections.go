package fleet

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"troupe/fleetd/accounts"
	"troupe/fleetd/api"
	"troupe/fleetd/auth"
)

const (
	// maxConnections bounds the connections to the address of the API and the page.
	maxConnections = 1024
	// reservedConnections is how many of them only stops, releases of stops and sign-ins can use.
	reservedConnections = 128
	// maxShare is how many requests of one account, or of one address of people who are not signed in, are served at
	// once: such as the streams of its windows.
	maxShare = 224
	// maxRobotConnections bounds the connections to the address for robots: after an
	// assignment the whole fleet may fetch files at once.
	maxRobotConnections = 2048
	// maxMetricsConnections bounds the connections to the address for metrics, which few programs read.
	maxMetricsConnections = 32
)

// connections bounds the connections of one address. At the limit a new connection evicts the
// one that has been idle longest and whose requests hold no slot from admit. So a client that
// opens connections, or sends half a request on each, locks nobody out. With a
// reserve there are fewer slots than connections, so a stop always gets one; the address for
// robots takes no stops and has no reserve and no shares.
type connections struct {
	most     int
	share    int           // requests that one account or address may have in requests; 0 = no limit
	requests chan struct{} // slots for other requests than these
	stops    chan struct{} // slots for stops and releases; one without a slot is served too
	signIns  chan struct{} // the same for sign-ins

	mu        sync.Mutex
	evictable *list.List // of *connection, the oldest first
	open      map[net.Conn]*connection
	shares    map[string]int // of requests, by account or address
}

// connection is a connection that counts against the limit.
type connection struct {
	net.Conn
	slots int           // that its requests hold; over HTTP/2 there may be several
	at    *list.Element // in evictable; nil while it holds a slot
}

type connectionKey struct{}

// newConnections allows most connections, of which reserved are for stops, releases and sign-ins. These get half as
// many slots, because a connection with a slot is not evicted: the other half makes room for the next ones.
func newConnections(most, reserved, share int) *connections {
	return &connections{
		most: most, share: share,
		requests: make(chan struct{}, most-reserved), stops: make(chan struct{}, reserved*3/8), signIns: make(chan struct{}, reserved/8),
		evictable: list.New(), open: map[net.Conn]*connection{}, shares: map[string]int{},
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

// take takes a slot for a request of an account or address, which keeps its connection open until
// release is called. Of a reserve, sharer is empty. full says why there is no slot.
func (c *connections) take(slots chan struct{}, sharer string, r *http.Request) (release func(), full string) {
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	if sharer != "" && c.shares[sharer] >= c.share {
		return nil, fmt.Sprintf("fleetd serves %d requests of one account or address at once, and has these", c.share)
	}
	select {
	case slots <- struct{}{}:
	default:
		return nil, "fleetd serves as many requests as it may"
	}
	if sharer != "" {
		c.shares[sharer]++
	}
	n := c.open[conn] // nil if it was evicted a moment ago: nobody reads the answer
	if n != nil {
		if n.slots++; n.at != nil {
			c.evictable.Remove(n.at)
			n.at = nil
		}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		<-slots
		if sharer != "" {
			if c.shares[sharer]--; c.shares[sharer] == 0 {
				delete(c.shares, sharer)
			}
		}
		if n == nil {
			return
		}
		if n.slots--; n.slots == 0 && c.open[conn] == n {
			n.at = c.evictable.PushBack(n)
		}
	}, ""
}

// cut closes a connection without a TLS close_notify, which would block on a peer that does
// not read.
func cut(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close() // its goroutine gets an error
}

// admit bounds the requests that are served at once. It is behind the authentication, so that each account
// has a share. A request takes its slot when it has arrived whole: a client that sends half of each of many requests
// holds none. A connection is safe from eviction only while a request on it holds a slot: not before, not when the
// request is refused, and not afterwards, when the server may wait for the rest of a body.
func (c *connections) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.StopSocketPath { // its stop takes a slot
			next.ServeHTTP(w, r)
			return
		}
		slots, sharer := c.slotsOf(r)
		arrive := func() (release func(), refusal *api.Problem) {
			release, full := c.take(slots, sharer, r)
			switch {
			case release != nil:
				return release, nil
			case slots != c.requests:
				return func() {}, nil // it is served all the same, on a connection that may be evicted
			}
			return nil, api.KindOverload.Problem(full, "try again; fleetd stop and STOP on the page get through")
		}
		if r.ContentLength == 0 || r.Method == http.MethodGet || r.Method == http.MethodHead { // nobody waits for a body
			release, refusal := arrive()
			if refusal != nil {
				overloaded(w, refusal)
				return
			}
			defer release()
			next.ServeHTTP(w, r)
			return
		}
		body := &arrivingBody{ReadCloser: r.Body, arrive: arrive}
		defer body.done()
		r = r.WithContext(r.Context()) // the server reads the body of its own request after the answer
		r.Body = body
		next.ServeHTTP(&bodyAnswer{ResponseWriter: w, body: body}, r)
	})
}

// slotsOf returns the slots of which a request takes one, and whose share it is; empty: of nobody.
func (c *connections) slotsOf(r *http.Request) (slots chan struct{}, sharer string) {
	path := strings.TrimPrefix(r.URL.Path, api.Prefix)
	switch {
	case r.Method == http.MethodPost && (r.URL.Path == api.StopPath || path == "/stops/release"):
		return c.stops, ""
	case r.Method != http.MethodDelete && (strings.HasPrefix(path, "/session") || strings.HasPrefix(path, "/logins")):
		return c.signIns, ""
	case c.share == 0:
		return c.requests, ""
	}
	if p := auth.Of(r.Context()); p.SignedIn() {
		return c.requests, "account " + p.ID
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return c.requests, "address " + accounts.Network(host)
}

// overloaded refuses a request, and its connection with it.
func overloaded(w http.ResponseWriter, why *api.Problem) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", "1")
	api.Write(w, why)
}

// errNoSlot is what a handler gets in the place of the end of the body of a request without a slot.
var errNoSlot = errors.New("no slot is left for the request")

// arrivingBody takes the slot of a request when its body has arrived in full. Only the handler's
// goroutine uses it.
type arrivingBody struct {
	io.ReadCloser
	arrive  func() (release func(), refusal *api.Problem)
	release func()
	refusal *api.Problem
}

func (b *arrivingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.release == nil && b.refusal == nil {
		b.release, b.refusal = b.arrive()
	}
	if b.refusal != nil && err != nil {
		err = errNoSlot
	}
	return n, err
}

func (b *arrivingBody) done() {
	if b.release != nil {
		b.release()
	}
}

// bodyAnswer is the answer to a request with a body: the refusal if the request got no slot, whatever its
// handler answers.
type bodyAnswer struct {
	http.ResponseWriter
	body    *arrivingBody
	refused bool
}

// Unwrap is for http.ResponseController.
func (a *bodyAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *bodyAnswer) WriteHeader(status int) {
	switch {
	case a.body.refusal == nil:
		a.ResponseWriter.WriteHeader(status)
	case !a.refused:
		a.refused = true
		overloaded(a.ResponseWriter, a.body.refusal)
	}
}

func (a *bodyAnswer) Write(p []byte) (int, error) {
	if a.body.refusal == nil {
		return a.ResponseWriter.Write(p)
	}
	a.WriteHeader(0)
	return len(p), nil
}
