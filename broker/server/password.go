package server

import (
	"net/netip"
	"runtime"
	"sync"
	"time"

	"troupe/broker/access"
)

// nobodysHash is computed for names that do not exist, so that the time of a
// refusal does not tell them from those that do.
var nobodysHash = access.HashPassword("", [access.SaltBytes]byte{})

// passwords finds out whether a password is the right one. A hash takes some 20 ms
// and 19 MiB, of which a users file may ask for 128: a flood of unknown clients must
// cost neither the memory nor the processors that carry stops, and must keep
// nobody out who has the right one. So:
//
//   - a few hashes are computed at once, and so many clients wait and no more;
//   - addresses take turns, and at an address the names that are claimed there;
//   - where nobody can wait any more, whoever came last of the most goes, and
//     not whoever comes;
//   - those of role stop wait by themselves and for one other at most;
//   - who was right once is known by a digest, and does not wait;
//   - a wrong password of a name that was wrong often at its address is answered
//     late, and that address comes after others. A right one never is: behind one
//     address there may be a whole house, and one who guesses in it.
//
// No client waits longer than patience.
type passwords struct {
	patience time.Duration
	verify   func(access.Hash, []byte) bool

	mu          sync.Mutex
	free        int // hashes that may be computed besides those that are
	stop, other turns
	stopped     bool // the turn before this one was of role stop
	wrong       guesses
	late        late
	proven      proven

	closing chan struct{} // closed when no answer is held back any more
	close   func()        // closes it; idempotent
}

// claimant is who says that he is somebody.
type claimant struct {
	claim
	stop bool        // the name is one of role stop
	gone func() bool // he has hung up; asked without a lock that he could hold
}

// claim is a name that is claimed at an address. In-process connections have no
// address.
type claim struct {
	from netip.Addr
	name string
}

// answer is what came of a password.
type answer uint8

const (
	fits answer = iota
	fitsNot
	isBusy // there was no time to find out
)

func newPasswords() *passwords {
	p := &passwords{
		free: max(1, runtime.GOMAXPROCS(0)/2), patience: 5 * time.Second,
		verify: access.Hash.Verify, proven: newProven(), closing: make(chan struct{}),
	}
	p.close = sync.OnceFunc(func() { close(p.closing) })
	p.stop.most, p.other.most = 64, 128
	return p
}

// check says whether the password is that of the hash. Without a hash there is
// none that fits, and finding out takes as long. That one does not fit is told
// after the pause that its claim has earned.
func (p *passwords) check(who claimant, hash *access.Hash, password []byte) answer {
	if hash != nil && p.knows(who.claim, *hash, password) {
		return fits
	}
	if no := p.wait(who); no != fits {
		return no
	}
	against := &nobodysHash
	if hash != nil {
		against = hash
	}
	right := p.verify(*against, password) && hash != nil
	p.next()
	p.mu.Lock()
	if right {
		defer p.mu.Unlock()
		p.wrong.forget(who.claim)
		p.proven.add(who.claim, *hash, password)
		return fits
	}
	pause := p.wrong.add(time.Now(), who.claim)
	holds := pause > 0 && p.late.enter(who.from)
	p.mu.Unlock()
	if holds {
		p.hold(who.from, pause)
	}
	return fitsNot
}

// hold returns after a pause, which p.late has entered.
func (p *passwords) hold(from netip.Addr, pause time.Duration) {
	over := time.NewTimer(pause)
	defer over.Stop()
	select {
	case <-over.C:
	case <-p.closing:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late.leave(from)
}

func (p *passwords) knows(who claim, hash access.Hash, password []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proven.has(who, hash, password)
}

// forget forgets whoever's line is not that of users any more.
func (p *passwords) forget(users access.Users) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proven.keep(users)
}

// wait returns when it is who's turn, which next ends; fits says that it is.
func (p *passwords) wait(who claimant) answer {
	p.mu.Lock()
	if p.free > 0 { // then nobody waits
		p.free--
		p.mu.Unlock()
		return fits
	}
	w, queue := &waiter{claimant: who, turn: make(chan answer, 1)}, &p.other
	if who.stop {
		queue = &p.stop
	}
	for _, no := range queue.add(w, p.suspect()) {
		no.turn <- isBusy
	}
	p.mu.Unlock()

	late := time.NewTimer(p.patience)
	defer late.Stop()
	select {
	case a := <-w.turn:
		return a
	case <-late.C:
	}
	p.mu.Lock()
	waits := queue.drop(w)
	p.mu.Unlock()
	if waits {
		return isBusy
	}
	return <-w.turn // it has just come
}

// next gives the turn to whoever waits, if he still wants it.
func (p *passwords) next() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		w := p.first()
		switch {
		case w == nil:
			p.free++
			return
		case w.gone():
			w.turn <- isBusy
		default:
			p.stopped = w.stop
			w.turn <- fits
			return
		}
	}
}

// first is whose turn it is: of role stop and of the others in turn, where both
// wait.
func (p *passwords) first() *waiter {
	queues := []*turns{&p.stop, &p.other}
	if p.stopped {
		queues = []*turns{&p.other, &p.stop}
	}
	for _, q := range queues {
		if w := q.take(p.suspect()); w != nil {
			return w
		}
	}
	return nil
}

// suspect says at which addresses somebody was wrong lately.
func (p *passwords) suspect() func(netip.Addr) bool {
	now := time.Now()
	return func(a netip.Addr) bool { return p.wrong.at(now, a) }
}
