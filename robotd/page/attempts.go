package page

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// addressInterval and addressBurst bound the attempts from one address, and commonInterval and
	// commonBurst those from all addresses together.
	addressInterval = 3 * time.Second
	addressBurst    = 5
	commonInterval  = time.Second
	commonBurst     = 20
)

// attempts limits how fast passwords can be guessed. Each address has its own limit, so that
// guesses do not keep people at other addresses from signing in and from Stop. The common limit is
// for somebody with many addresses. It does not apply to the robot's own computer, nor to an address
// that sent the right password within sessionLife.
type attempts struct {
	mu        sync.Mutex
	common    *rate.Limiter
	addresses map[netip.Addr]*addressAttempts
}

type addressAttempts struct {
	limit      *rate.Limiter
	knownUntil time.Time // until then the common limit does not apply
}

func newAttempts() *attempts {
	return &attempts{common: rate.NewLimiter(rate.Every(commonInterval), commonBurst), addresses: map[netip.Addr]*addressAttempts{}}
}

// check calls admits, which compares a password with the right one, unless there were too many
// attempts. The right password uses up no attempt.
func (a *attempts) check(now time.Time, remote string, admits func() (bool, error)) (ok, tooMany bool, err error) {
	from, _ := netip.ParseAddrPort(remote) // addresses that cannot be parsed share the zero address
	address := from.Addr().Unmap()
	if address.IsLoopback() {
		address = netip.IPv6Loopback()
	}
	a.mu.Lock() // for the whole check: concurrent attempts must not pass on one token
	defer a.mu.Unlock()
	own := a.addresses[address]
	if own == nil {
		own = &addressAttempts{limit: rate.NewLimiter(rate.Every(addressInterval), addressBurst)}
	}
	limits := []*rate.Limiter{own.limit}
	if !address.IsLoopback() && !now.Before(own.knownUntil) {
		limits = append(limits, a.common)
	}
	var taken []*rate.Reservation
	giveBack := func() {
		for _, r := range taken {
			r.CancelAt(now)
		}
	}
	for _, l := range limits {
		r := l.ReserveN(now, 1)
		taken = append(taken, r)
		if r.DelayFrom(now) > 0 {
			giveBack()
			return false, true, nil
		}
	}
	if ok, err = admits(); ok {
		giveBack()
		own.knownUntil = now.Add(sessionLife)
	}
	a.remember(now, address, own)
	return ok, false, err
}

// remember keeps the attempts of an address, and deletes those that limit nothing any more. The
// common limit bounds how many are left.
func (a *attempts) remember(now time.Time, address netip.Addr, own *addressAttempts) {
	for other, o := range a.addresses {
		if !now.Before(o.knownUntil) && o.limit.TokensAt(now) >= addressBurst {
			delete(a.addresses, other)
		}
	}
	a.addresses[address] = own
}
