package rollout

import (
	"cmp"
	"fmt"
	"time"

	"troupe/fleetd/presence"
	"troupe/schema"
)

// soon is when Step runs again after something changed, which may allow more.
const soon = time.Millisecond

// step is one call of Step.
type step struct {
	*Run
	now   time.Time
	facts Facts
	blind bool  // nothing is known of robots
	ready []int // robots that wait for their offer, and were looked at already
	// pending counts, by wave, the robots that are reachable and not decided, without those that are PLANNED.
	pending []int
	offer   []string
	back    []Restore
	nextAt  time.Time
}

// Step decides what changes now.
func Step(r *Run, now time.Time, f Facts) Changes {
	s := step{Run: r, now: now, facts: f, pending: make([]int, len(r.Rollout.Waves))}
	if heard := f.Fleetd.Since.Add(presence.Grace); !f.Fleetd.Connected {
		s.blind = true
	} else if now.Before(heard) {
		s.blind = true
		s.wake(heard)
	}
	o := &r.Rollout
	if o.State == Scheduled {
		s.wake(o.NotBefore)
		if !now.Before(o.NotBefore) && r.move(OnStart, "its time has come", now) {
			r.note(OnStart, o.Why, "")
		}
	}
	switch {
	case o.State == Running:
		s.judgeAll()
		s.advance()
		if o.State == Running && (!s.blind || o.Spec.AllAtOnce) {
			s.offerDue()
		}
		s.end()
	case o.State == Paused:
		s.judgeAll()
	case o.State == Aborted && o.EndedAt.IsZero():
		s.judgeAll()
		s.endAborted()
	case o.State == RollingBack:
		s.judgeAll()
		s.restore()
	}
	if len(r.changed) > 0 || r.row {
		s.wake(now.Add(soon))
	}
	o.NextAt = s.nextAt
	c := r.take()
	c.Offers, c.Restore = s.offer, s.back
	return c
}

// wake has Step run at t, unless it runs earlier.
func (s *step) wake(t time.Time) {
	if t.After(s.now) && (s.nextAt.IsZero() || t.Before(s.nextAt)) {
		s.nextAt = t
	}
}

// judgeAll judges the robots that facts may change, and drops the others.
func (s *step) judgeAll() {
	kept := s.watched[:0]
	for _, i := range s.watched {
		b := &s.robots[i]
		if b.State == Planned || !mayChange(b.State) {
			continue // it was decided, or a person offers it the content again
		}
		if !s.blind && s.judge(i) && b.State.Open() {
			s.pending[b.Wave]++
		}
		if mayChange(b.State) {
			kept = append(kept, i)
		}
	}
	s.watched = kept
}

// offerDue offers the content to robots whose turn has come: first to those that waited, then by wave and place.
func (s *step) offerDue() {
	budget, more := s.budget()
	hold := false // a robot would be offered the content if the rate allowed it
	for _, i := range s.ready {
		if s.turn(i, len(s.offer) < budget) {
			hold = true
		}
	}
	for w := range s.Rollout.Wave + 1 {
		next := s.next[w]
		for next < s.first[w+1] && s.robots[next].State != Planned {
			next++
		}
		s.next[w] = next
		for i := next; i < s.first[w+1] && !hold; i++ {
			if s.robots[i].State == Planned && s.turn(i, len(s.offer) < budget) {
				hold = true
			}
		}
	}
	if hold {
		s.wake(more)
	}
}

// turn offers the content to a robot whose turn has come, or says what it waits for. It returns true if only the
// number of offers is in the way.
func (s *step) turn(i int, allowed bool) (hold bool) {
	b, spec := &s.robots[i], &s.Rollout.Spec
	fact, there := s.facts.robot(b.ID)
	switch {
	case !there:
		s.moveRobot(i, OnDecommission, "", s.now)
		return false
	case fact.Newer != "":
		s.moveRobot(i, OnSupersede, "rollout "+fact.Newer+" gives it something newer", s.now)
		return false
	case fact.Pinned && spec.Pinned == PinnedLeave:
		s.moveRobot(i, OnPinned, "", s.now)
		return false
	case spec.AllAtOnce && b.Rev == 0:
		s.offer = append(s.offer, b.ID)
		return false
	case !fact.Online:
		s.away(i)
		return false
	case spec.InWindows && !fact.InWindow:
		why := "no maintenance window of its site opens"
		if !fact.WindowOpens.IsZero() {
			why = "it waits for the maintenance window of its site"
		}
		s.wait(i, fact.WindowOpens, why)
		return false
	case spec.OnlyIdle && !fact.Idle:
		s.wait(i, time.Time{}, "it performs; only robots that do not perform are offered the content")
		return false
	case !allowed:
		return true
	}
	s.offer = append(s.offer, b.ID)
	return false
}

// away decides about a robot that is not reachable when its turn comes.
func (s *step) away(i int) {
	b := &s.robots[i]
	switch s.Rollout.Spec.Offline {
	case OfflineSkip:
		s.moveRobot(i, OnExpire, "it was not reachable when its turn came", s.now)
	case OfflineFail:
		if s.moveRobot(i, OnFail, "it was not reachable when its turn came", s.now) {
			b.Group = groupOffline
		}
	default:
		if b.Rev == 0 && b.State != WaitingOffline {
			s.moveRobot(i, OnOffline, "it is not reachable; it is offered the content when it returns", s.now)
			s.wake(b.ChangedAt.Add(s.expiry()))
		}
	}
}

// wait lets a robot wait for its offer until a time, zero = not known.
func (s *step) wait(i int, until time.Time, why string) {
	b := &s.robots[i]
	if b.State != Deferred {
		s.moveRobot(i, OnDefer, why, s.now)
	}
	if !b.RetryAt.Equal(until) || b.Why != why {
		b.RetryAt, b.Why = until, why
		s.change(i)
	}
	s.wake(until)
}

// budget is how many robots may be offered the content now, and when there may be more.
func (s *step) budget() (n int, more time.Time) {
	if s.Rollout.Spec.AllAtOnce {
		return len(s.robots), time.Time{}
	}
	passed := 0
	for _, w := range s.Rollout.Waves {
		if w.State == WavePassed {
			passed++
		}
	}
	rate := s.Rollout.Spec.rate(passed)
	if n := len(s.offers); n > 0 && s.offers[n-1].After(s.now) { // the clock was set back
		s.offers = nil
	}
	for len(s.offers) > 0 && s.now.Sub(s.offers[0]) >= time.Minute {
		s.offers = s.offers[1:]
	}
	between := time.Minute / time.Duration(rate)
	if len(s.offers) == 0 {
		n = max(1, rate/60)
		return n, s.now.Add(time.Duration(n) * between)
	}
	last, together := s.offers[len(s.offers)-1], 0
	for j := len(s.offers) - 1; j >= 0 && s.offers[j].Equal(last); j-- {
		together++
	}
	due := last.Add(time.Duration(together) * between)
	if s.now.Before(due) {
		return 0, due
	}
	// A step that comes late makes up for a few seconds at most: robots share a network.
	n = min(1+int(s.now.Sub(due)/between), max(1, rate*catchUpS/60))
	if left := rate - len(s.offers); n > left {
		return left, s.offers[0].Add(time.Minute)
	}
	return n, s.now.Add(time.Duration(n) * between)
}

// catchUpS is for how many seconds a late step makes up.
const catchUpS = 5

// expiry is how long a robot may stay away.
func (s *step) expiry() time.Duration {
	return time.Duration(s.Rollout.Spec.OfflineExpiryS) * time.Second
}

// end ends a rollout all of whose robots are decided.
func (s *step) end() {
	o := &s.Rollout
	if o.State != Running || len(s.offer) > 0 {
		return
	}
	for _, w := range o.Waves {
		if !w.over() || w.open() > 0 {
			return
		}
	}
	on, why := OnAllDone, ""
	if n := o.Failures(); n > 0 {
		on, why = OnDoneFailed, fmt.Sprintf("every robot is decided, and %s failed", robotsText(n))
	}
	if s.move(on, why, s.now) {
		s.note(on, o.Why, "")
	}
}

// open is the number of robots for which the rollout waits.
func (w Wave) open() (n int) {
	for state, robots := range w.Counts {
		if state.Open() {
			n += robots
		}
	}
	return n
}

func robotsText(n int) string {
	if n == 1 {
		return "1 robot"
	}
	return fmt.Sprintf("%d robots", n)
}

// Assigned completes the changes of a step with what the robots were given. Robots that are not in the map were given
// nothing, and are tried again.
func Assigned(r *Run, c Changes, given map[string]Given, now time.Time) Changes {
	for _, id := range c.Offers {
		if g, ok := given[id]; ok {
			r.offered(r.index[id], g, now)
		}
	}
	for _, back := range c.Restore {
		for _, id := range back.Robots {
			if g, ok := given[id]; ok {
				r.givenBack(r.index[id], g, now)
			}
		}
	}
	if len(r.changed) > 0 {
		r.Rollout.NextAt = now.Add(soon)
	}
	done := r.take()
	done.Robots = joinRobots(c.Robots, done.Robots)
	done.Notes = append(c.Notes, done.Notes...)
	done.Row = done.Row || c.Row
	done.Offers, done.Restore = c.Offers, c.Restore
	return done
}

// joinRobots joins rows that change; the later one of a robot counts.
func joinRobots(earlier, later []Robot) []Robot {
	if len(earlier) == 0 || len(later) == 0 {
		return append(earlier, later...)
	}
	again := make(map[string]bool, len(later))
	for _, b := range later {
		again[b.ID] = true
	}
	var out []Robot
	for _, b := range earlier {
		if !again[b.ID] {
			out = append(out, b)
		}
	}
	return append(out, later...)
}

// offered records that a robot was assigned the content.
func (r *Run) offered(i int, g Given, now time.Time) {
	b := &r.robots[i]
	switch {
	case g.Refused != "":
		if r.moveRobot(i, OnReject, g.Refused, now) {
			b.Group = cmp.Or(string(g.Reason), string(schema.ReasonPrecondition))
		}
		return
	case g.Unchanged && b.Rev == 0:
		r.moveRobot(i, OnUnchanged, "", now)
		return
	case !r.moveRobot(i, OnOffer, "", now):
		return
	}
	if b.Rev == 0 { // a later offer replaces the content, not what it had before
		b.Had = g.Had
	}
	if b.Tries++; !g.Unchanged {
		b.OfferedAt = now
		r.offers = append(r.offers, now)
	}
	b.Rev, b.Phase, b.ActiveAt, b.RetryAt = g.Rev, "", time.Time{}, time.Time{}
	b.Spent, b.SpentAt = 0, now
}

// givenBack records that a robot was assigned what it had.
func (r *Run) givenBack(i int, g Given, now time.Time) {
	b := &r.robots[i]
	if g.Refused != "" {
		if r.moveRobot(i, OnNotBack, g.Refused, now) {
			b.Group, b.RetryAt = string(g.Reason), time.Time{}
		}
		return
	}
	if r.moveRobot(i, OnRestore, "", now) {
		b.Rev, b.Phase, b.RetryAt = g.Rev, "", time.Time{}
		b.Spent, b.SpentAt = 0, now
	}
}
