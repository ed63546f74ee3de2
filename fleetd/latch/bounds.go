package latch

import (
	"maps"
	"slices"

	"troupe/fleetd/stop"
	"troupe/schema"
)

const (
	// maxStopIDs bounds the ids that one client's live stops have at a time, since a person
	// who releases them has to read them all. Further stops are latched under one more id, as
	// robots do.
	maxStopIDs = 16
	// maxWaiting bounds the live stops of one client that wait to be persisted. Further ones
	// are kept as one stop of all robots: who may publish a live stop may stop all robots.
	maxWaiting = 256
)

// assignID gives a live stop the id under which it is latched. arrived are those that arrived with
// it and do not wait yet.
func (s *Stops) assignID(o stop.Request, arrived []stop.Request) stop.Request {
	ids := s.stopIDs[o.Client]
	if ids == nil {
		ids = map[string]bool{}
		s.stopIDs[o.Client] = ids
	}
	switch {
	case s.countWaiting(o.Client, arrived) >= maxWaiting:
		o.All, o.Robots, o.Labels = true, nil, nil
	case ids[o.ID]:
		return o
	case len(ids) < maxStopIDs:
		ids[o.ID] = true
		return o
	}
	if !ids[schema.MoreStops] {
		ids[schema.MoreStops] = true
		s.deps.Log.Warn("client uses too many stop ids; its further stops are latched under one id", "client", o.Client, "stop", schema.MoreStops)
	}
	o.ID, o.NoOwnID = schema.MoreStops, true
	return o
}

// mergeWithWaiting merges a stop into a waiting one that includes it, and reports whether there is
// one. The merged stop has the later time, so that a release that is under way does not end it.
func (s *Stops) mergeWithWaiting(o stop.Request) bool {
	for i := range s.waiting {
		if w := &s.waiting[i].Request; same(w, &o) || bothOverLimit(w, &o) {
			merge(w, &o)
			s.due, s.dirty = true, true
			return true
		}
	}
	return false
}

// same reports whether two live stops differ only in their time.
func same(a, b *stop.Request) bool {
	return a.Client != "" && a.Client == b.Client && a.ID == b.ID && a.Level == b.Level && a.All == b.All && a.By == b.By && a.Why == b.Why &&
		slices.Equal(a.Robots, b.Robots) && maps.Equal(a.Labels, b.Labels)
}

// bothOverLimit reports whether two stops of one client stop all robots under the id of stops beyond its
// limits, whatever their reasons, and the first is at least as strong as the second. A stronger second
// one is spooled by itself, because the spool has the first one with its own level.
func bothOverLimit(a, b *stop.Request) bool {
	return a.Client != "" && a.Client == b.Client && a.ID == schema.MoreStops && b.ID == schema.MoreStops && a.All && b.All &&
		a.Level.Stronger(b.Level) == a.Level
}

// merge makes a stop that includes another one as late and as strong as both. The first reason stays.
func merge(into, o *stop.Request) {
	into.At, into.Level = o.At, into.Level.Stronger(o.Level)
}

// countWaiting counts the stops of a client that wait to be persisted.
func (s *Stops) countWaiting(client string, arrived []stop.Request) (n int) {
	for i := range arrived {
		if arrived[i].Client == client {
			n++
		}
	}
	for i := range s.waiting {
		if s.waiting[i].Request.Client == client {
			n++
		}
	}
	return n
}

// recountStopIDs finds the ids that are still in use.
func (s *Stops) recountStopIDs() {
	s.stopIDs = map[string]map[string]bool{}
	add := func(client, id string) {
		if client == "" {
			return
		}
		if s.stopIDs[client] == nil {
			s.stopIDs[client] = map[string]bool{}
		}
		s.stopIDs[client][id] = true
	}
	for i := range s.waiting {
		add(s.waiting[i].Request.Client, s.waiting[i].Request.ID)
	}
	for _, l := range s.latched {
		add(l.Client, l.ID)
	}
}
