package api

import (
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The rate of wrong tokens, or of wrong codes of sign-ins, per address. Above it, wrong ones cost
// neither a transaction nor a log line. The limit protects fleetd: neither can be guessed.
const (
	wrongBurst    = 10
	wrongInterval = 30 * time.Second
	maxAddresses  = 4096
)

// tokenLimiter limits the rate of wrong tokens by remote address.
type tokenLimiter struct {
	mu     sync.Mutex
	byHost map[string]*rate.Limiter
}

func newTokenLimiter() *tokenLimiter { return &tokenLimiter{byHost: map[string]*rate.Limiter{}} }

// exceeded reports whether an address has used up its wrong tokens. Enrolment accepts a right token
// even then: many robots may share one address behind NAT, and start at the same time.
func (g *tokenLimiter) exceeded(remote string, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.byHost[hostOf(remote)]
	return l != nil && l.TokensAt(now) < 1
}

// countWrong counts a wrong token.
func (g *tokenLimiter) countWrong(remote string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	host := hostOf(remote)
	l := g.byHost[host]
	if l == nil {
		if len(g.byHost) >= maxAddresses {
			clear(g.byHost) // bounds memory; forgetting the counts is acceptable
		}
		l = rate.NewLimiter(rate.Every(wrongInterval), wrongBurst)
		g.byHost[host] = l
	}
	l.AllowN(now, 1)
}

func hostOf(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}
