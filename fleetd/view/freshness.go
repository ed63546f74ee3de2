package view

import (
	"slices"
	"time"

	"troupe/fleetd/presence"
)

// outdatedGrace is how long a robot's newest state may be older than its heartbeat says: the
// newer state may still be under way.
const outdatedGrace = 2 * time.Second

// noteOutdated records since when the newest state is older than the robot's heartbeat says. A
// broker may have dropped the newer one, because it was too large or the queue was full.
func (e *entry) noteOutdated(now time.Time) {
	s, h := e.state, e.heartbeat
	switch {
	case s == nil || h == nil || s.Boot == h.Boot && s.StateSeq >= h.StateSeq:
		e.outdatedSince = time.Time{}
	case e.outdatedSince.IsZero():
		e.outdatedSince = now
	}
}

// isOutdated reports whether the state is not the robot's newest.
func (e *entry) isOutdated(now time.Time) bool {
	return !e.outdatedSince.IsZero() && now.Sub(e.outdatedSince) > outdatedGrace
}

// StatesOutdated lists the online robots whose newest state has not arrived, sorted.
func (v *View) StatesOutdated(now time.Time) []string {
	return v.online(now, func(_ string, e *entry) bool { return e.isOutdated(now) })
}

// online lists the adopted robots that are online and for which holds reports true,
// sorted.
func (v *View) online(now time.Time, holds func(id string, e *entry) bool) (ids []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, e := range v.robots {
		if e.adopted && presence.Assess(e.facts, v.fleetd, now).Status == presence.Online && holds(id, e) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
