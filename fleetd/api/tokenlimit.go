package api

import (
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The rate of wrong tokens per address. Above it, wrong tokens cost neither a transaction
// nor a log line. The limit protects fleetd, not the tokens: 128 bits cannot be guessed.
const (
	wrongAtOnce   = 10
	wrongEvery    = 30 * time.Second
	mostAddresses = 4096
)

// guesses limits the rate of wrong tokens by remote address.
type guesses struct {
	mu   sync.Mutex
	from map[string]*rate.Limiter
}

func newGuesses() *guesses { return &guesses{from: map[string]*rate.Limiter{}} }

// barred reports whether an address has used up its wrong tokens. A right token is
// accepted even then: many robots may share one address behind NAT.
func (g *guesses) barred(remote string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.from[hostOf(remote)]
	return l != nil && l.TokensAt(now) < 1
}

// wrong counts a wrong token.
func (g *guesses) wrong(remote string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	host := hostOf(remote)
	l := g.from[host]
	if l == nil {
		if len(g.from) >= mostAddresses {
			clear(g.from) // bounds memory; forgetting the counts is acceptable
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
