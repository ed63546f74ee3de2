package rollout

import (
	"time"
)

// Step decides what changes now.
func Step(r *Run, now time.Time, f Facts) Changes {
	var offers []string
	if r.Rollout.State == Running {
		for i := range r.robots {
			if b := &r.robots[i]; b.State == Planned && b.Wave <= r.Rollout.Wave {
				offers = append(offers, b.ID)
			}
		}
	}
	c := r.take()
	c.Offers = offers
	return c
}

// Assigned completes the changes of a step with what the robots were given.
func Assigned(r *Run, c Changes, given map[string]Given, now time.Time) Changes {
	for _, id := range c.Offers {
		g, ok := given[id]
		if !ok {
			continue
		}
		i := r.index[id]
		b := &r.robots[i]
		switch {
		case g.Unchanged:
			r.moveRobot(i, OnUnchanged, "", now)
		case r.moveRobot(i, OnOffer, "", now):
			b.Rev, b.Had, b.OfferedAt = g.Rev, g.Had, now
			b.Tries++
		}
	}
	done := r.take()
	done.Robots = append(c.Robots, done.Robots...)
	done.Notes = append(c.Notes, done.Notes...)
	done.Offers, done.Restore = c.Offers, c.Restore
	return done
}

// Health compares the robots that have the content active with the rest; why says in which way they are worse off,
// empty if they are not.
func (r *Run) Health(f Facts) (updated, rest Health, why string) {
	for i := range r.robots {
		if b := &r.robots[i]; b.updated() {
			if fact, ok := f.robot(b.ID); ok {
				updated = updated.Add(fact.Health)
			}
		}
	}
	return updated, f.Rest, ""
}

// Waits says what an open rollout waits for; empty if it is over.
func (r Rollout) Waits() string {
	if r.State.Over() {
		return ""
	}
	return r.Why
}
