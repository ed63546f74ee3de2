package robot

import (
	"context"
	"sync"

	"golang.org/x/time/rate"

	"troupe/schema"
)

const (
	// tellRate and tellBurst keep the robot below what a broker takes of one client,
	// which is 50 messages a second with twice as many at once: what it leaves out
	// nobody tells again.
	tellRate  = 40
	tellBurst = 60
)

// pace lets retained documents wait for their turn when the robot has much to tell.
// Of each only the newest waits, so nothing is lost that is still true. The state,
// which answers rest on and which is gathered by itself, answers, events and what is
// urgent go at once and are counted.
type pace struct {
	bucket *rate.Limiter
	wake   chan struct{} // 1: something waits

	mu   sync.Mutex
	late map[schema.TopicKind]numbered
}

func newPace() *pace {
	return &pace{bucket: rate.NewLimiter(tellRate, tellBurst), wake: make(chan struct{}, 1), late: map[schema.TopicKind]numbered{}}
}

// holds reports whether a publication has to wait. It waits then, in the place of
// an older one of its topic.
func (c *pace) holds(p numbered) bool {
	if p.First || p.Topic == schema.TopicState || !schema.TopicOf(p.Topic).Retain {
		c.bucket.Allow()
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.late) == 0 && c.bucket.Allow() {
		return false
	}
	c.late[p.Topic] = p
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return true
}

// next takes the oldest that waits.
func (c *pace) next() (oldest numbered, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.late {
		if !ok || p.n < oldest.n {
			oldest, ok = p, true
		}
	}
	delete(c.late, oldest.Topic)
	return oldest, ok
}

func (c *pace) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.late) > 0
}

// run tells what waits, each in its turn, until ctx ends, and then the rest at once:
// the robot goes, and nothing comes after it.
func (c *pace) run(ctx context.Context, tell func(numbered)) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-c.wake:
		}
		for c.waits() && c.bucket.Wait(ctx) == nil { // the newest then, not now
			if p, ok := c.next(); ok {
				tell(p)
			}
		}
	}
	for p, ok := c.next(); ok; p, ok = c.next() {
		tell(p)
	}
}
