package server

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"troupe/broker/access"
	"troupe/schema"
)

// rates are the limits of what a client may send.
type rates struct {
	robot, robotBurst     int // messages per second of a robot; see exceedsRate
	bytes, bytesBurst     int // bytes per second of them, topics included
	command               int // commands per second of a sender to each robot; stops are exempt
	frame                 int // frames of manual driving per second of a sender to each robot
	fleet                 int // robots for which a fleetd instance has separate limits
	refused, refusedBurst int // refusals per second before the connection is cut
	notice, noticeBurst   int // notices per second; omitted ones are counted in the next
	subscriptions         int // of one client
	robotSubscriptions    int // of a robot
	search, searchBurst   int // filters per second granted to one user name: each one searches all retained documents while publishers wait
}

// senderRates limits how often commands are sent: a sender has one limit for each robot, however
// many connections it uses and however often it reconnects. So addressing a whole hall at
// once is no problem, and no robot gets more commands of one sender than it can answer.
//
// The number of limits per sender is bounded: beyond maxRobotsPerSender robots, or for fleetd and
// admin beyond the size of a fleet, all further robots share one limit.
//
// Frames of manual driving have their own limit, well above what smooth driving needs, and
// a second's worth of them may arrive at once, because networks have jitter. An omitted
// frame is like one that the network lost: the robot goes on with the newest one that it
// has, and stops 400 ms after the last. So releasing the stick takes effect within that
// time, whichever frame was omitted. A sender that needs an immediate effect sends a stop,
// which is never limited.
type senderRates struct {
	rates rates

	mu       sync.Mutex
	bySender map[string]*senderRate // by sender
	pruneAt  int                    // number of senders at which idle ones are dropped
}

// senderRate holds the limits of one sender, by robot.
type senderRate struct{ commands, frames limiters[string] }

// maxRobotsPerSender is for how many robots a sender other than fleetd and admin has separate limits.
const maxRobotsPerSender = 256

func (p *senderRates) sender(c *client) *senderRate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.bySender[c.Name]; one != nil {
		return one
	}
	if p.bySender == nil {
		p.bySender = map[string]*senderRate{}
	}
	if len(p.bySender) >= max(pruneThreshold, p.pruneAt) {
		maps.DeleteFunc(p.bySender, func(_ string, one *senderRate) bool { return one.commands.allIdle() && one.frames.allIdle() })
		p.pruneAt = 2 * len(p.bySender)
	}
	most := p.robots(c)
	one := &senderRate{
		commands: limiters[string]{limit: rate.Limit(p.rates.command), burst: 2 * p.rates.command, maxKeys: most},
		frames:   limiters[string]{limit: rate.Limit(p.rates.frame), burst: p.rates.frame, maxKeys: most},
	}
	p.bySender[c.Name] = one
	return one
}

// robots returns for how many robots c has separate limits.
func (p *senderRates) robots(c *client) int {
	if c.Role == schema.RoleFleetd || c.Role == schema.RoleAdmin {
		return p.rates.fleet
	}
	return maxRobotsPerSender
}

// command reports whether c may send another command to robot now.
func (p *senderRates) command(c *client, robot string) bool { return p.sender(c).commands.allow(robot) }

// frame reports whether c may send another frame to robot now.
func (p *senderRates) frame(c *client, robot string) bool { return p.sender(c).frames.allow(robot) }

// exceedsRate returns why a message exceeds a limit, or nothing. Such a message is omitted
// and reported, but its sender stays connected, because the next message that it sends or
// receives may be a stop.
//
// Commands other than stops are limited at their senders, which limits the robots' answers
// as well. So no answer is omitted: it was acknowledged, and the robot would not send it
// again.
func (g *guard) exceedsRate(c *client, v access.Verdict, m access.Publish, kind schema.TopicKind, robot string) (e event, why string) {
	if v.Exempt {
		return 0, ""
	}
	switch {
	case kind == schema.TopicCmd && !g.senderRates.command(c, robot):
		return overRate, fmt.Sprintf("more than %d commands per second to one robot, or to all robots beyond %d; stops are not limited",
			g.rates.command, g.senderRates.robots(c))
	case kind == schema.TopicTeleop && !g.senderRates.frame(c, robot):
		return framesOverRate, fmt.Sprintf("more than %d frames per second to one robot; stops are not limited", g.rates.frame)
	case c.messages == nil || kind == schema.TopicAck:
	case !c.messages.Allow():
		return overRate, fmt.Sprintf("more than %d messages per second", g.rates.robot)
	case !c.bytes.AllowN(time.Now(), len(m.Topic)+m.Size):
		return bytesOverRate, fmt.Sprintf("more than %d KiB per second", g.rates.bytes>>10)
	}
	return 0, ""
}

// limiters are rate limiters of one kind, one for each key. They outlive the connections
// that they limit.
type limiters[K comparable] struct {
	limit   rate.Limit
	burst   int
	maxKeys int // maximum number of keys; further ones share one limiter. 0: no maximum

	mu       sync.Mutex
	byKey    map[K]*rate.Limiter
	pruneAt  int           // number of limiters at which idle ones are dropped
	prunedAt time.Time     // when idle ones were last looked for
	shared   *rate.Limiter // shared by the keys beyond the maximum
}

// pruneThreshold is how many limiters are kept before idle ones are looked for: an idle
// limiter is equal to a new one.
const pruneThreshold = 1024

// pruneInterval is the minimum interval between searches for idle limiters when all are in
// use, so that a sender to ever new robots does not cause a search each time.
const pruneInterval = 50 * time.Millisecond

func (l *limiters[K]) allow(k K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, one := time.Now(), l.byKey[k]
	switch {
	case one != nil:
	case l.hasRoom(now):
		if l.byKey == nil {
			l.byKey = map[K]*rate.Limiter{}
		}
		one = rate.NewLimiter(l.limit, l.burst)
		l.byKey[k] = one
	default:
		if l.shared == nil {
			l.shared = rate.NewLimiter(l.limit, l.burst)
		}
		one = l.shared
	}
	return one.AllowN(now, 1)
}

// giveBack undoes one allow.
func (l *limiters[K]) giveBack(k K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.byKey[k]; one != nil {
		one.AllowN(time.Now(), -1)
	}
}

// hasRoom reports whether one more may be kept, and drops idle ones if that is due.
func (l *limiters[K]) hasRoom(now time.Time) bool {
	full := l.maxKeys > 0 && len(l.byKey) >= l.maxKeys
	if full && now.Sub(l.prunedAt) >= pruneInterval || !full && len(l.byKey) >= max(pruneThreshold, l.pruneAt) {
		maps.DeleteFunc(l.byKey, func(_ K, one *rate.Limiter) bool { return l.isIdle(one, now) })
		l.pruneAt, l.prunedAt = 2*len(l.byKey), now
	}
	return l.maxKeys == 0 || len(l.byKey) < l.maxKeys
}

func (l *limiters[K]) isIdle(one *rate.Limiter, now time.Time) bool {
	return one == nil || one.TokensAt(now) >= float64(l.burst)
}

// allIdle reports whether all of them are idle.
func (l *limiters[K]) allIdle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, one := range l.byKey {
		if !l.isIdle(one, now) {
			return false
		}
	}
	return l.isIdle(l.shared, now)
}
