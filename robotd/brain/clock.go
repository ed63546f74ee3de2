package brain

import (
	"cmp"
	"slices"
	"time"

	"troupe/schema"
)

const (
	clockWindow = 8               // heartbeats of one sender that are compared
	clockAhead  = 5 * time.Second // a heartbeat that is ahead of its like by more is wrong, not fast
	witnesses   = 8               // senders that are listened to; who was silent longest leaves
	clockMemory = time.Minute     // who was silent for longer is no witness any more
	clocksApart = 30 * time.Second
)

// clock estimates the fleet's time. Only differences to the time since boot count:
// the robot's own clock may be wrong by years.
//
// Of one sender's heartbeats the one that travelled fastest is the best witness:
// it is the greatest, for a delay only makes the fleet look earlier. But a single
// heartbeat with a wrong time must not expire every command, so what lies far
// ahead of the sender's others does not count. Between senders the middle one is
// believed, and of two the one that was believed so far.
type clock struct {
	senders []timeSource
	zero    int64 // ms: the fleet's time when the robot booted
	known   bool
}

// timeSource is one sender of heartbeats.
type timeSource struct {
	client string
	heard  time.Duration
	n      int
	seen   [clockWindow]int64 // ms: its time at the robot's boot, as each heartbeat has it
}

// learn takes the time that a heartbeat of client tells.
func (c *clock) learn(now Now, client string, fleet schema.Time) {
	c.senders = slices.DeleteFunc(c.senders, func(w timeSource) bool { return w.client != client && now.Mono-w.heard > clockMemory })
	w := c.witness(client)
	w.seen[w.n%clockWindow] = int64(fleet) - now.Mono.Milliseconds()
	w.n++
	w.heard = now.Mono
	c.zero, c.known = c.middle(), true
}

func (c *clock) witness(client string) *timeSource {
	i := slices.IndexFunc(c.senders, func(w timeSource) bool { return w.client == client })
	if i < 0 && len(c.senders) == witnesses {
		longest := slices.MinFunc(c.senders, func(a, b timeSource) int { return cmp.Compare(a.heard, b.heard) })
		i = slices.IndexFunc(c.senders, func(w timeSource) bool { return w.client == longest.client })
		c.senders[i] = timeSource{client: client}
	}
	if i < 0 {
		i = len(c.senders)
		c.senders = append(c.senders, timeSource{client: client})
	}
	return &c.senders[i]
}

// zero is the fleet's time at the robot's boot, as this sender has it.
func (w *timeSource) zero() int64 {
	sorted := w.seen
	window := sorted[:min(w.n, clockWindow)]
	slices.Sort(window)
	limit := window[(len(window)-1)/2] + clockAhead.Milliseconds()
	best := window[0]
	for _, s := range window {
		if s <= limit {
			best = s
		}
	}
	return best
}

// middle is what the sender in the middle says.
func (c *clock) middle() int64 {
	var said [witnesses]int64
	for i := range c.senders {
		said[i] = c.senders[i].zero()
	}
	all := said[:len(c.senders)]
	first := all[0]
	slices.Sort(all)
	low, high := all[(len(all)-1)/2], all[len(all)/2]
	believed := c.zero
	if !c.known {
		believed = first
	}
	if believed-low <= high-believed {
		return low
	}
	return high
}

// fleet is the fleet's time now, when it is known.
func (c *clock) fleet(now Now) (schema.Time, bool) {
	return schema.Time(c.zero + now.Mono.Milliseconds()), c.known
}

// apart reports whether client's clock is not the fleet's.
func (c *clock) apart(client string) bool {
	z := c.witness(client).zero()
	return max(z-c.zero, c.zero-z) > clocksApart.Milliseconds()
}

// hears reports whether client is a witness still.
func (c *clock) hears(client string) bool {
	return slices.ContainsFunc(c.senders, func(w timeSource) bool { return w.client == client })
}

const clockDiffers = "clock_differs" // alert of a fleetd instance

// learnTime takes the fleet's time from a heartbeat, and tells of a fleetd instance whose
// commands would be too old or not yet due.
func (t *step) learnTime(client string, fleet schema.Time) {
	t.clock.learn(t.now, client, fleet)
	for _, a := range slices.Clone(t.alerts) {
		if a.Type == clockDiffers && !t.clock.hears(a.Source) {
			t.clear(a.Type, a.Source)
		}
	}
	if t.clock.apart(client) {
		t.raise(clockDiffers, schema.AlertWarn, client, "the clock of "+client+" is not the one that the robot goes by", "set the clocks of the fleetd instances by the same source; until then commands with a ts are refused or expire")
		return
	}
	t.clear(clockDiffers, client)
}

// FleetTime is the fleet's time, as the operators' heartbeats of this run tell it.
func (s *State) FleetTime(now Now) (_ time.Time, known bool) {
	fleet, known := s.clock.fleet(now)
	return fleet.Time(), known
}

// clockOffset is the fleet's time minus the robot's.
func (t *step) clockOffset() (time.Duration, bool) {
	fleet, ok := t.clock.fleet(t.now)
	return fleet.Sub(t.now.Wall), ok
}
