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
type paces struct{ of limiters[paceKey] }

type paceKey struct{ sender, robot string }

func newPaces(perSecond int) *paces {
	return &paces{limiters[paceKey]{each: rate.Limit(perSecond), burst: 2 * perSecond}}
}

// allow says whether c may send another command to robot now.
func (p *paces) allow(c *client, robot string) bool {
	k := paceKey{sender: c.Name}
	if c.Role == schema.RoleFleetd || c.Role == schema.RoleAdmin {
		k.robot = robot
	}
	return p.of.allow(k)
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
