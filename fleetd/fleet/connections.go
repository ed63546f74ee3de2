package fleet

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"troupe/fleetd/api"
)

const (
	// maxConnections bounds the connections to the address of people and programs.
	maxConnections = 1024
	// reservedForStops is how many of them carry nothing but stops.
	reservedForStops = 64
	// maxRobotConnections bounds those to the address where robots get certificates
	// and files: after an assignment the whole fleet may come at once.
	maxRobotConnections = 2048
)

// connections bounds what one address serves. At the limit a new connection takes
// the place of the one that has carried no request for the longest time: somebody who
// opens connections and says nothing keeps nobody out. Requests are bounded below the
// number of connections, so that a stop finds one.
type connections struct {
	most     int
	requests chan struct{} // places of requests that are no stops

	mu      sync.Mutex
	waiting *list.List // of net.Conn: without a request, the longest waiting first
	open    map[net.Conn]*list.Element
}

func newConnections(most, reserved int) *connections {
	return &connections{most: most, requests: make(chan struct{}, most-reserved), waiting: list.New(), open: map[net.Conn]*list.Element{}}
}

// track is told by the server what becomes of its connections.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.open[conn]; at != nil {
		c.waiting.Remove(at)
	}
	switch state {
	case http.StateNew:
		if len(c.open) >= c.most && !c.makeRoom() {
			cut(conn)
			return
		}
		c.open[conn] = c.waiting.PushBack(conn)
	case http.StateIdle:
		c.open[conn] = c.waiting.PushBack(conn)
	case http.StateActive:
		c.open[conn] = nil
	default:
		delete(c.open, conn)
	}
}

// makeRoom ends the connection that has waited the longest.
func (c *connections) makeRoom() bool {
	oldest := c.waiting.Front()
	if oldest == nil {
		return false
	}
	conn := c.waiting.Remove(oldest).(net.Conn)
	delete(c.open, conn)
	cut(conn)
	return true
}

// cut closes a connection without a word, for which a peer that does not read would
// have to be waited for.
func cut(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close() // whoever serves it learns of it
}

// admit bounds the requests that are served at once.
func (c *connections) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == api.StopPath {
			next.ServeHTTP(w, r)
			return
		}
		select {
		case c.requests <- struct{}{}:
			defer func() { <-c.requests }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "1")
			api.Write(w, api.KindOverload.Problem("the desk serves as many requests as it may", "try again; fleetd stop and STOP on the page get through"))
		}
	})
}
