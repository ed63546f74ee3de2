package accounts

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The rate of wrong passwords per guesser: an address, or a browser in which its user has signed in before. There is no
// limit by user, with which anybody could lock out a person who has to stop a robot.
const (
	wrongBurst    = 10
	wrongInterval = 10 * time.Second
	// maxWaiting bounds the passwords of one guesser that wait to be compared.
	maxWaiting = 16
	// knownFor is how long an address is known from which somebody signed in.
	knownFor    = 24 * time.Hour
	maxGuessers = 4096
)

// limiter limits the rate of wrong passwords by guesser.
type limiter struct {
	mu   sync.Mutex
	from map[string]*attempts
}

// attempts are those of one guesser.
type attempts struct {
	wrong      *rate.Limiter
	waiting    int // passwords that wait or are being compared
	running    int // passwords that are being compared; each may turn out to be wrong
	knownUntil time.Time
}

func newLimiter() *limiter { return &limiter{from: map[string]*attempts{}} }

// wait lets a password wait to be compared, unless the guesser has used up its wrong passwords or too many
// of its passwords wait. known reports whether somebody signed in from there. The caller calls leave.
func (l *limiter) wait(guesser string, now time.Time) (one *attempts, known bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one = l.from[guesser]
	if one == nil {
		l.makeRoom(now)
		one = &attempts{wrong: rate.NewLimiter(rate.Every(wrongInterval), wrongBurst)}
		l.from[guesser] = one
	}
	switch {
	case one.wrong.TokensAt(now) < 1:
		return nil, false, ErrTooOften
	case one.waiting >= maxWaiting:
		return nil, false, ErrCrowded
	}
	one.waiting++
	return one, now.Before(one.knownUntil), nil
}

// makeRoom bounds memory. Of guessers from whom nobody signed in, forgetting the counts is acceptable.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.from) < maxGuessers {
		return
	}
	maps.DeleteFunc(l.from, func(_ string, one *attempts) bool { return !now.Before(one.knownUntil) })
	if len(l.from) >= maxGuessers {
		clear(l.from)
	}
}

// begin begins to compare a password that waited, unless it would be one too many if it and all that are
// being compared are wrong. The caller calls end.
func (l *limiter) begin(one *attempts, now time.Time) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.wrong.TokensAt(now)-float64(one.running) < 1 {
		return false
	}
	one.running++
	return true
}

// end counts a password if it was wrong. With a right one its guesser becomes known.
func (l *limiter) end(one *attempts, wrong bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.running--
	if wrong {
		one.wrong.AllowN(now, 1)
	} else {
		one.knownUntil = now.Add(knownFor)
	}
}

// leave ends the wait of a password.
func (l *limiter) leave(one *attempts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.waiting--
}

// Network is the address of one subscriber: with IPv6 each has a whole /64.
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	prefix, _ := ip.Prefix(64) // cannot fail for IPv6
	return prefix.String()
}
