package server

import (
	"sync"

	"golang.org/x/time/rate"

	"troupe/schema"
)

// paces bound how often commands are sent. A sender has one pace whatever he
// connects as and however often he comes back. Those who serve the whole fleet
// have one for each robot: a desk that speaks to two hundred robots at once is at
// its everyday work, but no single robot has to hear more from it than from a
// person.
type paces struct {
	each  rate.Limit
	burst int

	mu    sync.Mutex
	of    map[paceKey]*rate.Limiter
	prune int // when there are so many, those at rest are forgotten
}

type paceKey struct{ sender, robot string }

// pacesKept is how many paces are kept before those at rest are looked for: a
// pace at rest is as good as a new one.
const pacesKept = 1024

func newPaces(perSecond int) *paces {
	return &paces{each: rate.Limit(perSecond), burst: 2 * perSecond, of: map[paceKey]*rate.Limiter{}, prune: pacesKept}
}

// allow says whether c may send another command to robot now.
func (p *paces) allow(c *client, robot string) bool {
	k := paceKey{sender: c.Name}
	if c.Role == schema.RoleFleetd || c.Role == schema.RoleAdmin {
		k.robot = robot
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.of[k]
	if l == nil {
		if len(p.of) >= p.prune {
			for k, l := range p.of {
				if l.Tokens() >= float64(p.burst) {
					delete(p.of, k)
				}
			}
			p.prune = max(pacesKept, 2*len(p.of))
		}
		l = rate.NewLimiter(p.each, p.burst)
		p.of[k] = l
	}
	return l.Allow()
}
