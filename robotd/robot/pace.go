package robot

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"troupe/schema"
)

// What a robot publishes is kept below what a broker takes of it; the broker drops the
// rest. The document that uses up the bytes is published whole, so one may exceed them.
const (
	tellRate  = schema.RobotMessages * 4 / 5
	tellBurst = schema.RobotMessages * schema.RobotMessagesBurst * 3 / 5

	tellBytes      = schema.RobotBytes * 4 / 5
	tellBytesBurst = schema.RobotBytes * schema.RobotBytesBurst / 2
)

// pace lets retained documents wait for their turn when the robot has much to publish. Of
// each only the newest waits, so nothing is lost that is still true. The state, which
// answers depend on and which is gathered by itself, answers, events and what is urgent
// go at once and are counted.
type pace struct {
	messages, bytes *rate.Limiter
	wake            chan struct{} // 1: something waits

	mu   sync.Mutex
	late map[schema.TopicKind]numberedPublish
}

func newPace() *pace {
	return &pace{
		messages: rate.NewLimiter(tellRate, tellBurst), bytes: rate.NewLimiter(tellBytes, tellBytesBurst),
		wake: make(chan struct{}, 1), late: map[schema.TopicKind]numberedPublish{},
	}
}

// size is what the broker counts of p, or a little more.
func size(p numberedPublish) int { return len(p.Payload) + schema.MaxTopicBytes }

// holds reports whether a publication has to wait. It waits then, in the place of
// an older one of its topic.
func (c *pace) holds(p numberedPublish) bool {
	now := time.Now()
	if p.First || p.Topic == schema.TopicState || !schema.TopicOf(p.Topic).Retain {
		c.messages.AllowN(now, 1)
		if p.Topic != schema.TopicAck { // no debt: documents are not to wait for ever
			c.bytes.AllowN(now, min(size(p), max(0, int(c.bytes.TokensAt(now)))))
		}
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.late) == 0 && c.bytes.TokensAt(now) >= 1 && c.messages.AllowN(now, 1) {
		c.bytes.ReserveN(now, size(p))
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
func (c *pace) next() (oldest numberedPublish, ok bool) {
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

// run publishes what waits, each in its turn, until ctx ends, and then the rest at once:
// the robot ends, and nothing comes after it.
func (c *pace) run(ctx context.Context, tell func(numberedPublish)) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-c.wake:
		}
		for c.waits() && c.messages.Wait(ctx) == nil && c.bytes.WaitN(ctx, 1) == nil { // the newest then, not now
			if p, ok := c.next(); ok {
				c.bytes.ReserveN(time.Now(), size(p)-1)
				tell(p)
			}
		}
	}
	for p, ok := c.next(); ok; p, ok = c.next() {
		tell(p)
	}
}
