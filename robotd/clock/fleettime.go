package clock

import (
	"cmp"
	"slices"
	"time"

	"troupe/schema"
)

const (
	window      = 8               // heartbeats of one sender that are compared
	maxAhead    = 5 * time.Second // a heartbeat that is ahead of its like by more is wrong, not fast
	maxSenders  = 8               // senders that count; the one that was silent longest leaves
	forgetAfter = time.Minute     // a sender that was silent for longer does not count any more
	differBy    = 30 * time.Second
)

// FleetTime estimates the fleet's time. Only differences to the time since boot count:
// the robot's own clock may be wrong by years.
//
// Of one sender's heartbeats the one that travelled fastest is the best: it gives the
// greatest time, for a delay only makes the fleet look earlier. But a single heartbeat
// with a wrong time must not expire every command, so one that lies far ahead of the
// sender's others does not count. Between senders the one in the middle counts, and of
// two the one that counted so far.
type FleetTime struct {
	senders []timeSource
	zero    int64 // ms: the fleet's time when the robot booted
	known   bool
}

// timeSource is one sender of heartbeats.
type timeSource struct {
	client string
	heard  time.Duration
	n      int
	seen   [window]int64 // ms: its time at the robot's boot, as each heartbeat has it
}

// Learn takes the time of a heartbeat of client.
func (c *FleetTime) Learn(now Now, client string, fleet schema.Time) {
	c.senders = slices.DeleteFunc(c.senders, func(w timeSource) bool { return w.client != client && now.Mono-w.heard > forgetAfter })
	w := c.senderOf(client)
	w.seen[w.n%window] = int64(fleet) - now.Mono.Milliseconds()
	w.n++
	w.heard = now.Mono
	c.zero, c.known = c.middle(), true
}

func (c *FleetTime) senderOf(client string) *timeSource {
	i := slices.IndexFunc(c.senders, func(w timeSource) bool { return w.client == client })
	if i < 0 && len(c.senders) == maxSenders {
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
	window := sorted[:min(w.n, window)]
	slices.Sort(window)
	limit := window[(len(window)-1)/2] + maxAhead.Milliseconds()
	best := window[0]
	for _, s := range window {
		if s <= limit {
			best = s
		}
	}
	return best
}

// middle is the time of the sender in the middle.
func (c *FleetTime) middle() int64 {
	var said [maxSenders]int64
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

// At is the fleet's time now, when it is known.
func (c *FleetTime) At(now Now) (schema.Time, bool) {
	return schema.Time(c.zero + now.Mono.Milliseconds()), c.known
}

// Differs reports whether client's clock is not the fleet's.
func (c *FleetTime) Differs(client string) bool {
	z := c.senderOf(client).zero()
	return max(z-c.zero, c.zero-z) > differBy.Milliseconds()
}

// Knows reports whether client's heartbeats count still.
func (c *FleetTime) Knows(client string) bool {
	return slices.ContainsFunc(c.senders, func(w timeSource) bool { return w.client == client })
}
