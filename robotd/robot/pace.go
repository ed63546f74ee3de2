package robot

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"troupe/schema"
)

// The rates of a robot are below those that a broker accepts, because the broker drops what
// exceeds them. One document may exceed the byte rate, since documents are not split. What is not
// delayed and may come beside them at once are 40 events and 20 states.
const (
	documentRate  = schema.RobotMessages * 4 / 5
	documentBurst = schema.RobotMessages * schema.RobotMessagesBurstSeconds * 2 / 5

	documentBytes      = schema.RobotBytes * 4 / 5
	documentBytesBurst = schema.RobotBytes * schema.RobotBytesBurstSeconds / 2
)

// pace delays retained documents when the robot publishes much. Of each document only the
// newest waits, so nothing current is lost. Answers, events, urgent messages and the state
// (answers depend on it, and it has an interval of its own) are published at once; those that pass
// through the writer count against the limits, except answers, which brokers do not count. Urgent
// messages that go past it do not count either: the limits are below the broker's by what they need.
type pace struct {
	messages, bytes *rate.Limiter
	wake            chan struct{} // capacity 1: something waits

	mu   sync.Mutex
	late map[schema.TopicKind]numberedPublish
}

func newPace() *pace {
	return &pace{
		messages: rate.NewLimiter(documentRate, documentBurst), bytes: rate.NewLimiter(documentBytes, documentBytesBurst),
		wake: make(chan struct{}, 1), late: map[schema.TopicKind]numberedPublish{},
	}
}

// size returns how many bytes the broker counts for p, or a few more.
func size(p numberedPublish) int { return len(p.Payload) + schema.MaxTopicBytes }

// holds reports whether a publication has to wait. If so, it replaces an older one of its
// topic that waits.
func (c *pace) holds(p numberedPublish) bool {
	now := time.Now()
	if p.First || p.Topic == schema.TopicState || !schema.TopicOf(p.Topic).Retain {
		if p.Topic != schema.TopicAck {
			c.messages.AllowN(now, 1) // no reservation for the future: documents must not wait for ever
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

// next takes the publication that has waited longest.
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

// run publishes waiting documents at the limited rates until ctx ends, and then the rest at
// once, because the robot ends and publishes nothing after them.
func (c *pace) run(ctx context.Context, publish func(numberedPublish)) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-c.wake:
		}
		for c.waits() && c.messages.Wait(ctx) == nil && c.bytes.WaitN(ctx, 1) == nil { // p is taken after the wait, when it may be a newer one
			if p, ok := c.next(); ok {
				c.bytes.ReserveN(time.Now(), size(p)-1)
				publish(p)
			}
		}
	}
	for p, ok := c.next(); ok; p, ok = c.next() {
		publish(p)
	}
}
