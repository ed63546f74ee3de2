package server

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"troupe/broker/access"
	"troupe/schema"
)

// takeOver bounds how long a connection waits for an older one with the same id to end.
// That takes no longer than the slowest write under way.
const takeOver = 5 * time.Second

// sessions maps client ids to connections, and passes an id from one to the next without
// overlap. The library does neither atomically: of two simultaneous connections both may
// stay, and an old one that ends on its own may remove the new one's subscriptions. Both
// would leave a robot that is connected but receives nothing.
type sessions struct {
	slots
	mu     sync.Mutex
	byID   map[string]*conn
	byName map[string]map[string]*conn // user name -> client id
}

// slots limits the number of sessions. The reserved slots are for clients of role stop
// and fleetd instances, through which stops arrive, so that no number of other clients can
// keep them out.
type slots struct {
	total, reserved int // all sessions, and those of them that are reserved
	perName         int // sessions of one user name
}

func newSessions(p slots) *sessions {
	return &sessions{slots: p, byID: map[string]*conn{}, byName: map[string]map[string]*conn{}}
}

// errNoSlot and errNameFull refuse a new session although its id is free.
var (
	errNoSlot   = errors.New("connection limit reached: the remaining slots are reserved for stop clients and fleetd")
	errNameFull = errors.New("too many connections of this user name: close some, or give each program a name of its own")
)

// refuses returns why one more session of that role has no slot.
func (p slots) refuses(role schema.Role, sessions, ofName int) error {
	most := p.total
	if role != schema.RoleStop && role != schema.RoleFleetd {
		most -= p.reserved
	}
	switch {
	case ofName >= p.perName:
		return errNameFull
	case sessions >= most:
		return errNoSlot
	}
	return nil
}

// errOtherRole refuses a takeover: client ids begin with user names, and a client with the
// same name in another role is a different one.
var errOtherRole = errors.New("a client with this name is connected in another role: give each client a name of its own")

// errOldConnectionOpen refuses a connection that would overlap with an older one.
var errOldConnectionOpen = errors.New("the older connection with this id does not end")

// noticeTimeout bounds how long the new connection waits until the old one is sent the
// notice that says why it ends.
const noticeTimeout = 100 * time.Millisecond

// take assigns id to c, ends the connection that had it, and waits until the library has
// finished with that one. The older one's will is not sent if it would no longer be
// true (isReplaced). A connection that was kicked may be taken over by any role. notify sends the older
// connection the notice that says why it ends.
func (s *sessions) take(id string, c *conn, notify func(old *conn)) (old *conn, err error) {
	s.mu.Lock()
	old = s.byID[id]
	if old != nil && old.kicked.Load() == nil && old.client.Load().Role != c.client.Load().Role {
		s.mu.Unlock()
		return old, errOtherRole
	}
	w := c.client.Load()
	if old == nil {
		if err := s.refuses(w.Role, len(s.byID), len(s.byName[w.Name])); err != nil {
			s.mu.Unlock()
			return nil, err
		}
		if s.byName[w.Name] == nil {
			s.byName[w.Name] = map[string]*conn{}
		}
	}
	s.byID[id], s.byName[w.Name][id] = c, c
	s.mu.Unlock()
	if old == nil {
		return nil, nil
	}
	old.successor.Store(c)
	old.takenOver.Store(true)
	notified := make(chan struct{})
	go func() {
		defer close(notified)
		notify(old)
	}()
	t := time.NewTimer(noticeTimeout)
	defer t.Stop()
	select {
	case <-notified:
	case <-old.done:
	case <-t.C: // it does not read; the close below aborts the write
	}
	old.Close()
	t.Reset(takeOver)
	select {
	case <-old.done:
		return old, nil
	case <-t.C:
		old.successor.Store(nil)
		return old, errOldConnectionOpen
	}
}

// all returns the connections that have an id.
func (s *sessions) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.byID))
}

// kinds counts the connections by role, and a robot's connections for blobs and for robotd doctor as "blobs".
func (s *sessions) kinds() map[string]int64 {
	out := map[string]int64{"blobs": 0}
	for _, r := range access.Roles {
		out[string(r)] = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.byID {
		if w := c.client.Load(); w.Blobs {
			out["blobs"]++
		} else {
			out[string(w.Role)]++
		}
	}
	return out
}

// sumOf adds up n over all connections of a user name.
func (s *sessions) sumOf(name string, n func(id string, c *conn) int) (all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.byName[name] {
		all += n(id, c)
	}
	return all
}

// drop removes c, unless a newer connection has its id.
func (s *sessions) drop(id string, c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[id] == c {
		delete(s.byID, id)
		name := c.client.Load().Name
		if delete(s.byName[name], id); len(s.byName[name]) == 0 {
			delete(s.byName, name)
		}
	}
}
