package link

import (
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	coalesceBurst    = 32                    // urgent messages with the same key that are handed over one by one
	coalesceInterval = 20 * time.Millisecond // beyond them: interval at which the newest one is handed over
	maxCoalesceKeys  = 256                   // keys that are remembered
)

// coalesced limits urgent messages with the same key: a button that is pressed a thousand times
// stops a robot once, and must not keep other messages from being handed over. A message
// that is held is handed over before everything that arrived after it and might undo it.
type coalesced struct {
	key        string
	tokens     float64 // how many may be handed over now
	refilledAt time.Time
	held       *Message // the newest, which waits for a token
	heldSince  time.Time
}

func (a *coalesced) refill(now time.Time) {
	a.tokens = min(coalesceBurst, a.tokens+now.Sub(a.refilledAt).Seconds()/coalesceInterval.Seconds())
	a.refilledAt = now
}

// coalesce holds m back if many messages with the same key were handed over lately. m replaces
// the message that was held until now.
func (d *dispatcher) coalesce(m Message, now time.Time) bool {
	key := ""
	if d.dedupKey != nil {
		key = d.dedupKey(m)
	}
	if key == "" { // m may undo held messages, so these go first
		for old, ok := d.takeHeld(true, now); ok; old, ok = d.takeHeld(true, now) {
			d.urgent = append(d.urgent, old)
		}
		return false
	}
	i := slices.IndexFunc(d.coalesced, func(a *coalesced) bool { return a.key == key })
	if i < 0 {
		if len(d.coalesced) >= maxCoalesceKeys {
			d.coalesced = slices.DeleteFunc(d.coalesced,
				func(a *coalesced) bool { a.refill(now); return a.held == nil && a.tokens == coalesceBurst })
		}
		if len(d.coalesced) >= maxCoalesceKeys {
			return false
		}
		d.coalesced = append(d.coalesced, &coalesced{key: key, tokens: coalesceBurst, refilledAt: now})
		i = len(d.coalesced) - 1
	}
	a := d.coalesced[i]
	if a.refill(now); a.held == nil && a.tokens >= 1 {
		a.tokens--
		return false
	}
	if a.held == nil {
		a.heldSince = now
		time.AfterFunc(coalesceInterval, d.wakeUp)
	} else {
		d.limitedLog.add("urgent message replaced by a newer one with the same content", m.Topic)
	}
	a.held = &m
	return true
}

// takeHeld takes the oldest held message that has waited long enough; with all, regardless
// of how long.
func (d *dispatcher) takeHeld(all bool, now time.Time) (m Message, ok bool) {
	var oldest *coalesced
	for _, a := range d.coalesced {
		if a.held != nil && (all || now.Sub(a.heldSince) >= coalesceInterval) && (oldest == nil || a.held.N < oldest.held.N) {
			oldest = a
		}
	}
	if oldest == nil {
		return m, false
	}
	m, oldest.held = *oldest.held, nil
	oldest.refill(now)
	oldest.tokens = max(0, oldest.tokens-1)
	return m, true
}

// logLimiter logs frequent events once a second, with their number.
type logLimiter struct {
	log    *slog.Logger
	mu     sync.Mutex
	counts map[[2]string]int // by message and topic
}

const logInterval = time.Second

func (c *logLimiter) add(what, topic string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[[2]string]int{}
		time.AfterFunc(logInterval, c.flush)
	}
	c.counts[[2]string{what, topic}]++
}

func (c *logLimiter) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for of, n := range c.counts {
		c.log.Error(of[0], "topic", of[1], "times", n)
	}
	c.counts = nil
}
