package server

import (
	"maps"
	"slices"
	"sync"
	"time"

	"troupe/broker/access"
)

// takeOver bounds how long a connection waits for an older one of the same id to
// end. Ending takes no longer than the slowest write under way.
const takeOver = 5 * time.Second

// sessions knows which connection has which client id, and hands an id from one
// to the next without overlap. The library does neither atomically: of two
// connections at once both may stay, and an old one that ends on its own may take
// the new one's subscriptions with it. Either leaves a robot that is connected
// and hears nothing.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*conn
}

func newSessions() *sessions { return &sessions{byID: map[string]*conn{}} }

// take gives id to c, ends the connection that had it, and waits until the
// library is done with that. The older one's will is silenced: what it would tell
// is no longer so.
func (s *sessions) take(id string, c *conn) (old *conn, gone bool) {
	s.mu.Lock()
	old = s.byID[id]
	s.byID[id] = c
	s.mu.Unlock()
	if old == nil {
		return nil, true
	}
	old.takenOver.Store(true)
	old.Close()
	t := time.NewTimer(takeOver)
	defer t.Stop()
	select {
	case <-old.gone:
		return old, true
	case <-t.C:
		return old, false
	}
}

// all are the connections that have an id.
func (s *sessions) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.byID))
}

// kinds counts the connections by role, and robots' second ones for themselves.
func (s *sessions) kinds() map[string]int64 {
	out := map[string]int64{"blobs": 0}
	for _, r := range access.Roles {
		out[string(r)] = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.byID {
		if w := c.who.Load(); w.Blobs {
			out["blobs"]++
		} else {
			out[string(w.Role)]++
		}
	}
	return out
}

// drop forgets c.
func (s *sessions) drop(id string, c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[id] == c {
		delete(s.byID, id)
	}
}
