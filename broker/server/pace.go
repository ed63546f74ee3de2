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
	robot, robotBurst     int // messages per second of a robot; see tooOften
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

// paces limits how often commands are sent: a sender has one limit for each robot, however
// many connections it uses and however often it reconnects. So addressing a whole hall at
// once is no problem, and no robot gets more commands of one sender than it can answer.
//
// The number of limits per sender is bounded: beyond robotsOf robots, or for a fleetd
// instance beyond the size of a fleet, all further robots share one limit.
//
// Frames of manual driving have their own limit, well above what smooth driving needs, and
// a second's worth of them may arrive at once, because networks have jitter. An omitted
// frame is like one that the network lost: the robot goes on with the newest one that it
// has, and stops 400 ms after the last. So releasing the stick takes effect within that
// time, whichever frame was omitted. A sender that needs an immediate effect sends a stop,
// which is never limited.
type paces struct {
	rates rates

	mu    sync.Mutex
	of    map[string]*pace // by sender
	prune int              // number of senders at which idle ones are dropped
}

// pace holds the limits of one sender, by robot.
type pace struct{ commands, frames limiters[string] }

// robotsOf is for how many robots a sender other than fleetd has separate limits.
const robotsOf = 256

func (p *paces) sender(c *client) *pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.of[c.Name]; one != nil {
		return one
	}
	if p.of == nil {
		p.of = map[string]*pace{}
	}
	if len(p.of) >= max(limitersKept, p.prune) {
		maps.DeleteFunc(p.of, func(_ string, one *pace) bool { return one.commands.atRest() && one.frames.atRest() })
		p.prune = 2 * len(p.of)
	}
	most := robotsOf
	if c.Role == schema.RoleFleetd || c.Role == schema.RoleAdmin {
		most = p.rates.fleet
	}
	one := &pace{
		commands: limiters[string]{each: rate.Limit(p.rates.command), burst: 2 * p.rates.command, most: most},
		frames:   limiters[string]{each: rate.Limit(p.rates.frame), burst: p.rates.frame, most: most},
	}
	p.of[c.Name] = one
	return one
}

// command reports whether c may send another command to robot now.
func (p *paces) command(c *client, robot string) bool { return p.sender(c).commands.allow(robot) }

// frame reports whether c may send another frame to robot now.
func (p *paces) frame(c *client, robot string) bool { return p.sender(c).frames.allow(robot) }

// tooOften returns why a message exceeds a limit, or nothing. Such a message is omitted
// and reported, but nobody is disconnected for it, because the next message that the
// client sends or receives may be a stop.
//
// Commands other than stops are limited at their senders, which limits the robots' answers
// as well. So no answer is omitted: it was acknowledged, and the robot would not send it
// again.
func (g *guard) tooOften(c *client, v access.Verdict, m access.Publish) (e event, why string) {
	if v.Urgent {
		return 0, ""
	}
	row, params, _ := g.ns.Match(m.Topic)
	switch {
	case row.Kind == schema.TopicCmd && !g.paces.command(c, params.RID):
		return overRate, fmt.Sprintf("more than %d commands per second to one robot, or to all robots beyond %d; stops are not limited", g.rates.command, robotsOf)
	case row.Kind == schema.TopicTeleop && !g.paces.frame(c, params.RID):
		return framesOverRate, fmt.Sprintf("more than %d frames per second to one robot; stops are not limited", g.rates.frame)
	case c.messages == nil || row.Kind == schema.TopicAck:
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
	each  rate.Limit
	burst int
	most  int // maximum number of keys; further ones share one limiter. 0: no maximum

	mu     sync.Mutex
	of     map[K]*rate.Limiter
	prune  int           // number of limiters at which idle ones are dropped
	looked time.Time     // when idle ones were last looked for
	others *rate.Limiter // shared by the keys beyond the maximum
}

// limitersKept is how many limiters are kept before idle ones are looked for: an idle
// limiter is equal to a new one.
const limitersKept = 1024

// lookAgain is the minimum interval between searches for idle limiters when all are in
// use, so that a sender to ever new robots does not cause a search each time.
const lookAgain = 50 * time.Millisecond

func (l *limiters[K]) allow(k K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, one := time.Now(), l.of[k]
	switch {
	case one != nil:
	case l.room(now):
		if l.of == nil {
			l.of = map[K]*rate.Limiter{}
		}
		one = rate.NewLimiter(l.each, l.burst)
		l.of[k] = one
	default:
		if l.others == nil {
			l.others = rate.NewLimiter(l.each, l.burst)
		}
		one = l.others
	}
	return one.AllowN(now, 1)
}

// room reports whether one more may be kept, and drops idle ones if that is due.
func (l *limiters[K]) room(now time.Time) bool {
	full := l.most > 0 && len(l.of) >= l.most
	if full && now.Sub(l.looked) >= lookAgain || !full && len(l.of) >= max(limitersKept, l.prune) {
		maps.DeleteFunc(l.of, func(_ K, one *rate.Limiter) bool { return l.rests(one, now) })
		l.prune, l.looked = 2*len(l.of), now
	}
	return l.most == 0 || len(l.of) < l.most
}

func (l *limiters[K]) rests(one *rate.Limiter, now time.Time) bool {
	return one == nil || one.TokensAt(now) >= float64(l.burst)
}

// atRest reports whether all of them are idle.
func (l *limiters[K]) atRest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, one := range l.of {
		if !l.rests(one, now) {
			return false
		}
	}
	return l.rests(l.others, now)
}
