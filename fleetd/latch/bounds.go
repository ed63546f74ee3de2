package latch

import (
	"maps"
	"slices"

	"troupe/fleetd/stop"
	"troupe/schema"
)

const (
	// maxNames bounds the names that one client's live stops have at a time. What it
	// stops beyond them is held under one name more, as robots do: whoever releases
	// them has to read them all.
	maxNames = 16
	// maxCalls bounds the live stops of one client that wait. Beyond it they are
	// gathered into one of all robots, which each of them may stop anyway.
	maxCalls = 256
)

// gather gives a live stop the name under which it is held. fresh are those that come
// with it.
func (s *Stops) gather(o stop.Order, fresh []stop.Order) stop.Order {
	names := s.names[o.Client]
	if names == nil {
		names = map[string]bool{}
		s.names[o.Client] = names
	}
	switch {
	case s.calls(o.Client, fresh) >= maxCalls:
		o.All, o.Robots, o.Labels = true, nil, nil
	case names[o.ID]:
		return o
	case len(names) < maxNames:
		names[o.ID] = true
		return o
	}
	if !names[schema.MoreStops] {
		names[schema.MoreStops] = true
		s.deps.Log.Warn("a client has given its stops too many names; what it stops besides is held under one", "client", o.Client, "stop", schema.MoreStops)
	}
	o.ID, o.Anew = schema.MoreStops, true
	return o
}

// wasAsked reports whether the same stop waits already. Then it is as if that one
// had come now: a release that is under way has not seen it, and does not forget it.
func (s *Stops) wasAsked(o stop.Order) bool {
	for i := range s.waiting {
		if w := &s.waiting[i].Order; same(w, &o) {
			w.At = o.At
			s.due, s.dirty = true, true
			return true
		}
	}
	return false
}

// same reports whether two live stops ask for the same.
func same(a, b *stop.Order) bool {
	return a.Client != "" && a.Client == b.Client && a.ID == b.ID && a.Level == b.Level && a.All == b.All && a.By == b.By && a.Why == b.Why &&
		slices.Equal(a.Robots, b.Robots) && maps.Equal(a.Labels, b.Labels)
}

// calls are how many stops of a client are on their way to the record.
func (s *Stops) calls(client string, fresh []stop.Order) (n int) {
	for i := range fresh {
		if fresh[i].Client == client {
			n++
		}
	}
	for i := range s.waiting {
		if s.waiting[i].Order.Client == client {
			n++
		}
	}
	return n
}

// recount learns which names are still in use.
func (s *Stops) recount() {
	s.names = map[string]map[string]bool{}
	add := func(client, id string) {
		if client == "" {
			return
		}
		if s.names[client] == nil {
			s.names[client] = map[string]bool{}
		}
		s.names[client][id] = true
	}
	for i := range s.waiting {
		add(s.waiting[i].Order.Client, s.waiting[i].Order.ID)
	}
	for _, l := range s.latched {
		add(l.Client, l.ID)
	}
}
