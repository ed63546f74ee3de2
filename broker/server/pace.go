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

// rates bound what a client may send.
type rates struct {
	robot, robotBurst     int // messages per second of a robot; see tooOften
	bytes, bytesBurst     int // of them, with their topics
	command               int // commands per second of a sender to each robot; stops are exempt
	frame                 int // frames per second of manual driving, of a sender to each robot
	fleet                 int // robots that a fleetd instance's commands are counted for, each by itself
	refused, refusedBurst int // refusals per second before the connection is cut
	notice, noticeBurst   int // notices per second; what is left out is counted in the next
	subscriptions         int // of one client
	robotSubscriptions    int // of a robot
	search, searchBurst   int // filters per second that are granted to one name: for each, all documents are searched, and whoever writes one waits
}

// paces bound how often commands are sent: a sender has one pace to each robot,
// whatever he connects as and however often he comes back. So who speaks to a
// whole hall at once is at his everyday work, and no robot has to hear more of one
// sender than it can answer.
//
// Who speaks to ever more robots is not counted for ever more of them: those
// beyond robotsOf, or of a fleetd instance beyond a fleet, have one pace together.
//
// Frames of driving have a pace of their own, well above what drives smoothly, and
// a second's worth of them may come at once, for lines are not even. One that is
// left out is as one that the network lost: the robot goes on with the newest that
// it has, and stands 400 ms after the last. So a stick that was let go is obeyed
// at the latest then, whichever frame was left out; who wants it at once sends a
// stop, and no stop is counted.
type paces struct {
	rates rates

	mu    sync.Mutex
	of    map[string]*pace // by sender
	prune int              // when there are so many, those at rest are forgotten
}

// pace of one sender, by robot.
type pace struct{ commands, frames limiters[string] }

// robotsOf is how many robots one sender who is no fleetd is counted for.
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

// command says whether c may send another command to robot now.
func (p *paces) command(c *client, robot string) bool { return p.sender(c).commands.allow(robot) }

// frame says whether c may send robot another frame now.
func (p *paces) frame(c *client, robot string) bool { return p.sender(c).frames.allow(robot) }

// tooOften says why a message comes too often, or nothing. Such a message is left
// out and told of; nobody is cut for it, because the next thing that the sender
// says, or that is said to him, may be a stop.
//
// Commands are bounded where they come from, stops excepted. So a robot's answers
// are bounded as well, and none is left out: the broker has acknowledged it, so
// the robot would take it for heard and never tell it again.
func (g *guard) tooOften(c *client, v access.Verdict, m access.Publish) (e event, why string) {
	if v.Urgent {
		return 0, ""
	}
	row, params, _ := g.ns.Match(m.Topic)
	switch {
	case row.Kind == schema.TopicCmd && !g.paces.command(c, params.RID):
		return overRate, fmt.Sprintf("more than %d commands a second to one robot, or to all beyond %d robots; stops are taken at any rate", g.rates.command, robotsOf)
	case row.Kind == schema.TopicTeleop && !g.paces.frame(c, params.RID):
		return framesOverRate, fmt.Sprintf("more than %d frames a second to one robot; stops are taken at any rate", g.rates.frame)
	case c.messages == nil || row.Kind == schema.TopicAck:
	case !c.messages.Allow():
		return overRate, fmt.Sprintf("more than %d messages a second", g.rates.robot)
	case !c.bytes.AllowN(time.Now(), len(m.Topic)+m.Size):
		return bytesOverRate, fmt.Sprintf("more than %d KiB a second", g.rates.bytes>>10)
	}
	return 0, ""
}

// limiters are alike, one for each key, and outlive whoever is limited.
type limiters[K comparable] struct {
	each  rate.Limit
	burst int
	most  int // keys; those that there is no room for share one limiter. 0: no bound

	mu     sync.Mutex
	of     map[K]*rate.Limiter
	prune  int           // when there are so many, those at rest are forgotten
	looked time.Time     // for room where there was none
	others *rate.Limiter // of who found no room
}

// limitersKept is how many are kept before those at rest are looked for: a
// limiter at rest is as good as a new one.
const limitersKept = 1024

// lookAgain is how long nobody looks for room where none was: whoever sends
// without end to ever new robots shall not cost a search each time.
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

// room says whether one more may be kept, and forgets those at rest where that is
// due.
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

// atRest reports whether all of them are as good as new.
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
