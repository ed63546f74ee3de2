package link

import (
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	alikeBurst = 32                    // urgent messages that say the same and are handed over one by one
	alikeEvery = 20 * time.Millisecond // beyond them: the newest of those that came meanwhile
	alikeKeys  = 256                   // things said that are watched
)

// coalesced is urgent messages that say the same: who presses a button a thousand times
// stops a robot once, and must not keep everything else from being heard. One that
// waits goes before all that came after it and might undo it.
type coalesced struct {
	says  string
	room  float64 // how many may be handed over now
	at    time.Time
	held  *Message // the newest, which waits for room
	since time.Time
}

func (a *coalesced) refill(now time.Time) {
	a.room = min(alikeBurst, a.room+now.Sub(a.at).Seconds()/alikeEvery.Seconds())
	a.at = now
}

// holds keeps m back if it says what was just said many times. The one that waited
// until now is covered by it.
func (d *dispatcher) holds(m Message, now time.Time) bool {
	says := ""
	if d.says != nil {
		says = d.says(m)
	}
	if says == "" { // it may take back what was said before it
		for old, ok := d.released(true, now); ok; old, ok = d.released(true, now) {
			d.urgent = append(d.urgent, old)
		}
		return false
	}
	i := slices.IndexFunc(d.alike, func(a *coalesced) bool { return a.says == says })
	if i < 0 {
		if len(d.alike) >= alikeKeys {
			d.alike = slices.DeleteFunc(d.alike, func(a *coalesced) bool { a.refill(now); return a.held == nil && a.room == alikeBurst })
		}
		if len(d.alike) >= alikeKeys {
			return false
		}
		d.alike = append(d.alike, &coalesced{says: says, room: alikeBurst, at: now})
		i = len(d.alike) - 1
	}
	a := d.alike[i]
	if a.refill(now); a.held == nil && a.room >= 1 {
		a.room--
		return false
	}
	if a.held == nil {
		a.since = now
		time.AfterFunc(alikeEvery, d.poke)
	} else {
		d.crowd.add("an urgent message says what a newer one does, and gives way to it", m.Topic)
	}
	a.held = &m
	return true
}

// released is the oldest that has waited long enough, or has to go before others.
func (d *dispatcher) released(all bool, now time.Time) (m Message, ok bool) {
	var oldest *coalesced
	for _, a := range d.alike {
		if a.held != nil && (all || now.Sub(a.since) >= alikeEvery) && (oldest == nil || a.held.N < oldest.held.N) {
			oldest = a
		}
	}
	if oldest == nil {
		return m, false
	}
	m, oldest.held = *oldest.held, nil
	oldest.refill(now)
	oldest.room = max(0, oldest.room-1)
	return m, true
}

// logLimiter tells once a second of what happens often, and how often.
type logLimiter struct {
	log *slog.Logger
	mu  sync.Mutex
	n   map[[2]string]int // by what happened, and on which topic
}

const crowdEvery = time.Second

func (c *logLimiter) add(what, topic string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[[2]string]int{}
		time.AfterFunc(crowdEvery, c.tell)
	}
	c.n[[2]string{what, topic}]++
}

func (c *logLimiter) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for of, n := range c.n {
		c.log.Error(of[0], "topic", of[1], "times", n)
	}
	c.n = nil
}
