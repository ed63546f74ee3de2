package server

import (
	"fmt"
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
	command               int // commands per second of a sender, or of a desk to each robot; stops are exempt
	frame                 int // frames per second of driving by hand, of a sender to each robot
	refused, refusedBurst int // refusals per second before the connection is cut
	notice, noticeBurst   int // notices per second; what is left out is counted in the next
	subscriptions         int // of one client
	robotSubscriptions    int // of a robot
	search, searchBurst   int // filters per second that are granted to one name: for each, all documents are searched, and whoever writes one waits
}

// paces bound how often commands are sent. A sender has one pace whatever he
// connects as and however often he comes back. Those who serve the whole fleet
// have one for each robot: a desk that speaks to two hundred robots at once is at
// its everyday work, but no single robot has to hear more from it than from a
// person.
//
// Frames of driving have a pace of their own for each robot, well above what
// drives smoothly, and a second's worth of them may come at once, for lines are
// not even. One that is left out is as one that the network lost: the robot goes
// on with the newest that it has, and stands 400 ms after the last. So a stick
// that was let go is obeyed at the latest then, whichever frame was left out; who
// wants it at once sends a stop, and no stop is counted.
type paces struct{ commands, frames limiters[paceKey] }

type paceKey struct{ sender, robot string }

func newPaces(r rates) *paces {
	return &paces{
		commands: limiters[paceKey]{each: rate.Limit(r.command), burst: 2 * r.command},
		frames:   limiters[paceKey]{each: rate.Limit(r.frame), burst: r.frame},
	}
}

// command says whether c may send another command to robot now.
func (p *paces) command(c *client, robot string) bool {
	k := paceKey{sender: c.Name}
	if c.Role == schema.RoleFleetd || c.Role == schema.RoleAdmin {
		k.robot = robot
	}
	return p.commands.allow(k)
}

// frame says whether c may send robot another frame now.
func (p *paces) frame(c *client, robot string) bool {
	return p.frames.allow(paceKey{c.Name, robot})
}

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
		return overRate, fmt.Sprintf("more than %d commands a second; stops are taken at any rate", g.rates.command)
	case row.Kind == schema.TopicTeleop && !g.paces.frame(c, params.RID):
		return framesOverRate, fmt.Sprintf("more than %d frames a second; stops are taken at any rate", g.rates.frame)
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

	mu    sync.Mutex
	of    map[K]*rate.Limiter
	prune int // when there are so many, those at rest are forgotten
}

// limitersKept is how many are kept before those at rest are looked for: a
// limiter at rest is as good as a new one.
const limitersKept = 1024

func (l *limiters[K]) allow(k K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.of[k]
	if one == nil {
		if l.of == nil {
			l.of = map[K]*rate.Limiter{}
		}
		if len(l.of) >= max(limitersKept, l.prune) {
			for k, one := range l.of {
				if one.Tokens() >= float64(l.burst) {
					delete(l.of, k)
				}
			}
			l.prune = 2 * len(l.of)
		}
		one = rate.NewLimiter(l.each, l.burst)
		l.of[k] = one
	}
	return one.Allow()
}
