package latch

import (
	"maps"
	"slices"

	"troupe/fleetd/stop"
	"troupe/schema"
)

const (
	// maxNames bounds the ids that one client's live stops have at a time, since a person
	// who releases them has to read them all. Further stops are held under one more id, as
	// robots do.
	maxNames = 16
	// maxCalls bounds the live stops of one client that wait to be persisted. Further ones
	// become one stop of all robots, which any live stop may be anyway.
	maxCalls = 256
)

// gather gives a live stop the id under which it is held. fresh are those that arrived with
// it and do not wait yet.
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
		s.deps.Log.Warn("client uses too many stop ids; its further stops are held under one id", "client", o.Client, "stop", schema.MoreStops)
	}
	o.ID, o.Anew = schema.MoreStops, true
	return o
}

// repeatsWaiting reports whether the same stop waits already, and if so moves that one to the
// time of this one: a release that is under way does not include it.
func (s *Stops) repeatsWaiting(o stop.Order) bool {
	for i := range s.waiting {
		if w := &s.waiting[i].Order; same(w, &o) {
			w.At = o.At
			s.due, s.dirty = true, true
			return true
		}
	}
	return false
}

// same reports whether two live stops differ only in their time.
func same(a, b *stop.Order) bool {
	return a.Client != "" && a.Client == b.Client && a.ID == b.ID && a.Level == b.Level && a.All == b.All && a.By == b.By && a.Why == b.Why &&
		slices.Equal(a.Robots, b.Robots) && maps.Equal(a.Labels, b.Labels)
}

// calls counts the stops of a client that wait to be persisted.
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

// recount finds the ids that are still in use.
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
