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

// takeOver bounds how long a connection waits for an older one of the same id to
// end. Ending takes no longer than the slowest write under way.
const takeOver = 5 * time.Second

// sessions knows which connection has which client id, and hands an id from one
// to the next without overlap. The library does neither atomically: of two
// connections at once both may stay, and an old one that ends on its own may take
// the new one's subscriptions with it. Either leaves a robot that is connected
// and hears nothing.
type sessions struct {
	places
	mu     sync.Mutex
	byID   map[string]*conn
	byName map[string]map[string]*conn // by id
}

// places bound how many have an id. What is kept is for those who stop and for
// fleetd instances, which is how stops arrive: nobody else can be so many that they find no
// place.
type places struct {
	most, kept int
	each       int // under one name
}

func newSessions(p places) *sessions {
	return &sessions{places: p, byID: map[string]*conn{}, byName: map[string]map[string]*conn{}}
}

// errNoPlace and errNameFull are why an id is not given though nobody has it.
var (
	errNoPlace  = errors.New("no place is left but those that are kept for who stops and for fleetd instances")
	errNameFull = errors.New("too many are connected under this name")
)

// refuses says why one more of c's name and role has no place.
func (p places) refuses(role schema.Role, all, ofName int) error {
	most := p.most
	if role != schema.RoleStop && role != schema.RoleFleetd {
		most -= p.kept
	}
	switch {
	case ofName >= p.each:
		return errNameFull
	case all >= most:
		return errNoPlace
	}
	return nil
}

// errOtherRole is why an id is not handed over: ids begin with names, and who has
// the name in another role is somebody else.
var errOtherRole = errors.New("somebody else is connected under this name, in another role")

// errLingers is why a connection cannot begin: it would overlap with an older one.
var errLingers = errors.New("its older connection does not end")

// tellTakenOver bounds how long a connection that is taken over keeps the newer one
// waiting while it is told why it ends.
const tellTakenOver = 100 * time.Millisecond

// take gives id to c, ends the connection that had it, and waits until the
// library is done with that. The older one's will is silenced: what it would tell
// is no longer so. Of who was kicked, nothing is left to be protected. tell tells the
// older connection that it ends for a newer one.
func (s *sessions) take(id string, c *conn, tell func(old *conn)) (old *conn, err error) {
	s.mu.Lock()
	old = s.byID[id]
	if old != nil && old.kicked.Load() == nil && old.who.Load().Role != c.who.Load().Role {
		s.mu.Unlock()
		return old, errOtherRole
	}
	w := c.who.Load()
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
	old.takenOver.Store(true)
	told := make(chan struct{})
	go func() {
		defer close(told)
		tell(old)
	}()
	t := time.NewTimer(tellTakenOver)
	defer t.Stop()
	select {
	case <-told:
	case <-old.gone:
	case <-t.C: // it does not read, and the close below ends the writing
	}
	old.Close()
	t.Reset(takeOver)
	select {
	case <-old.gone:
		return old, nil
	case <-t.C:
		return old, errLingers
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

// sum adds up n of all connections under a name.
func (s *sessions) sum(name string, n func(id string, c *conn) int) (all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.byName[name] {
		all += n(id, c)
	}
	return all
}

// drop forgets c.
func (s *sessions) drop(id string, c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[id] == c {
		delete(s.byID, id)
		name := c.who.Load().Name
		if delete(s.byName[name], id); len(s.byName[name]) == 0 {
			delete(s.byName, name)
		}
	}
}
