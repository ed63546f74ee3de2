package view

import (
	"slices"
	"time"

	"troupe/fleetd/presence"
)

// behindPatience is how long a robot's state may be older than its heartbeat says
// before people are told: a state may still be on its way.
const behindPatience = 2 * time.Second

// compare notes since when the newest state is older than the robot's heartbeat
// says. A broker may have left the state out, because it was too large or one of too
// many.
func (e *entry) compare(now time.Time) {
	s, h := e.state, e.heartbeat
	switch {
	case s == nil || h == nil || s.Boot == h.Boot && s.StateSeq >= h.StateSeq:
		e.behind = time.Time{}
	case e.behind.IsZero():
		e.behind = now
	}
}

// isBehind reports whether the state is not the robot's newest.
func (e *entry) isBehind(now time.Time) bool {
	return !e.behind.IsZero() && now.Sub(e.behind) > behindPatience
}

// behind lists the robots that are there and whose newest state is not, sorted.
func (v *View) Behind(now time.Time) []string {
	return v.among(now, func(_ string, e *entry) bool { return e.isBehind(now) })
}

// among lists the adopted robots that are there now and of which a thing holds,
// sorted.
func (v *View) among(now time.Time, holds func(id string, e *entry) bool) (ids []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, e := range v.robots {
		if e.adopted && presence.Of(e.facts, v.fleetd, now).View == presence.Online && holds(id, e) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
