package clock

import (
	"cmp"
	"slices"
	"time"

	"troupe/schema"
)

const (
	window      = 8               // heartbeats of one sender that are compared
	maxAhead    = 5 * time.Second // a heartbeat that is further ahead of the sender's others is wrong
	maxSenders  = 8               // beyond it, the sender that was silent longest is dropped
	forgetAfter = time.Minute     // a sender that was silent for longer does not count
	differBy    = 30 * time.Second
)

// FleetTime estimates the fleet's time, as a difference to the time since boot, because the
// robot's own clock may be wrong by years.
//
// Of the heartbeats of one sender the fastest one is the best: it gives the latest time,
// because a delay only makes the time too early. But one heartbeat with a wrong time must
// not let every command expire, so a heartbeat that is far ahead of the sender's others
// does not count. Of several senders the median counts; of two, the one that was used
// before.
type FleetTime struct {
	senders []timeSource
	zero    int64 // ms: the fleet's time when the robot booted
	known   bool
}

// timeSource is one sender of heartbeats.
type timeSource struct {
	client string
	at     time.Duration
	n      int
	seen   [window]int64 // ms: the fleet's time at the robot's boot, computed from each heartbeat
}

// Learn takes the time of a heartbeat of client.
func (c *FleetTime) Learn(now Now, client string, fleet schema.Time) {
	c.senders = slices.DeleteFunc(c.senders, func(w timeSource) bool { return w.client != client && now.Mono-w.at > forgetAfter })
	w := c.senderOf(client)
	w.seen[w.n%window] = int64(fleet) - now.Mono.Milliseconds()
	w.n++
	w.at = now.Mono
	c.zero, c.known = c.middle(), true
}

func (c *FleetTime) senderOf(client string) *timeSource {
	i := slices.IndexFunc(c.senders, func(w timeSource) bool { return w.client == client })
	if i < 0 && len(c.senders) == maxSenders {
		longest := slices.MinFunc(c.senders, func(a, b timeSource) int { return cmp.Compare(a.at, b.at) })
		i = slices.IndexFunc(c.senders, func(w timeSource) bool { return w.client == longest.client })
		c.senders[i] = timeSource{client: client}
	}
	if i < 0 {
		i = len(c.senders)
		c.senders = append(c.senders, timeSource{client: client})
	}
	return &c.senders[i]
}

// zero is the fleet's time at the robot's boot, computed from this sender.
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

// middle is the median of the senders.
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

// At is the fleet's time now, if it is known.
func (c *FleetTime) At(now Now) (schema.Time, bool) {
	return schema.Time(c.zero + now.Mono.Milliseconds()), c.known
}

// Differs reports whether client's clock differs from the fleet's time.
func (c *FleetTime) Differs(client string) bool {
	z := c.senderOf(client).zero()
	return max(z-c.zero, c.zero-z) > differBy.Milliseconds()
}

// Knows reports whether client's heartbeats still count.
func (c *FleetTime) Knows(client string) bool {
	return slices.ContainsFunc(c.senders, func(w timeSource) bool { return w.client == client })
}
