package accounts

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The rate of wrong passwords per address. The limit is by address only: a limit by user would
// let anybody lock out a person who has to stop a robot.
const (
	wrongBurst    = 10
	wrongInterval = 10 * time.Second
	maxAddresses  = 4096
)

// limiter limits the rate of wrong passwords by address.
type limiter struct {
	mu   sync.Mutex
	from map[string]*attempts
}

// attempts are those of one address.
type attempts struct {
	wrong   *rate.Limiter
	running int // passwords that are being compared; each may turn out to be wrong
}

func newLimiter() *limiter { return &limiter{from: map[string]*attempts{}} }

// exceeded reports whether an address has used up its wrong passwords.
func (l *limiter) exceeded(address string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.from[network(address)]
	return one != nil && one.wrong.TokensAt(now) < 1
}

// begin begins to compare a password, unless it would be one too many if it and all that are
// being compared are wrong. The caller calls end.
func (l *limiter) begin(address string, now time.Time) (one *attempts, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := network(address)
	one = l.from[key]
	if one == nil {
		if len(l.from) >= maxAddresses {
			clear(l.from) // bounds memory; forgetting the counts is acceptable
		}
		one = &attempts{wrong: rate.NewLimiter(rate.Every(wrongInterval), wrongBurst)}
		l.from[key] = one
	}
	if one.wrong.TokensAt(now)-float64(one.running) < 1 {
		return nil, false
	}
	one.running++
	return one, true
}

// end counts a password if it was wrong.
func (l *limiter) end(one *attempts, wrong bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.running--
	if wrong {
		one.wrong.AllowN(now, 1)
	}
}

// network is the address of one subscriber: with IPv6 each has a whole /64.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	prefix, _ := ip.Prefix(64) // cannot fail for IPv6
	return prefix.String()
}
