package api

import (
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Wrong tokens that one address may show: so many at once, then one after the
// other: beyond that they cost no transaction and no line of the log. Nobody guesses
// 128 bits.
const (
	wrongAtOnce   = 10
	wrongEvery    = 30 * time.Second
	mostAddresses = 4096
)

// guesses counts wrong tokens by the address they came from.
type guesses struct {
	mu   sync.Mutex
	from map[string]*rate.Limiter
}

func newGuesses() *guesses { return &guesses{from: map[string]*rate.Limiter{}} }

// barred reports whether a wrong token from an address is one too many. The right
// one is taken all the same: behind one address there may be a whole house. An
// address that showed no wrong token is not kept.
func (g *guesses) barred(remote string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.from[hostOf(remote)]
	return l != nil && l.TokensAt(now) < 1
}

// wrong counts one.
func (g *guesses) wrong(remote string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	host := hostOf(remote)
	l := g.from[host]
	if l == nil {
		if len(g.from) >= mostAddresses {
			clear(g.from) // many addresses at once are one guesser with a new start
		}
		l = rate.NewLimiter(rate.Every(wrongEvery), wrongAtOnce)
		g.from[host] = l
	}
	l.AllowN(now, 1)
}

func hostOf(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}
