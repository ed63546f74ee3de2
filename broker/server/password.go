package server

import (
	"net/netip"
	"runtime"
	"sync"
	"time"

	"troupe/broker/access"
	"troupe/schema/argon2id"
)

// dummyHash is verified for unknown names, so that the time of a refusal does not show
// which names exist.
var dummyHash = argon2id.Nobody()

// passwords verifies passwords. A hash takes about 20 ms and 19 MiB, and a users file may
// ask for up to 128 MiB. A flood of unknown clients must exhaust neither the memory nor
// the processors that carry stops, and must not keep out a client with the right password.
// So:
//
//   - only a few hashes are computed at once, and a bounded number of clients waits;
//   - addresses take turns, and within an address the names that are claimed there;
//   - when the queue is full, the newest waiter of the address with most waiters is
//     refused, of suspect addresses first, which need not be the newcomer;
//   - clients of role stop have their own queue, and the two queues take turns. So only one
//     client of another role has its turn before each of them;
//   - a client that had the right password before is recognized by a digest and does not
//     wait;
//   - the answer to a wrong password is delayed if the name had several at that address,
//     and the address then comes after others. The answer to a right password is never
//     delayed: one address may be the NAT of a whole building, with one guesser in it.
//
// No client waits longer than the timeout.
type passwords struct {
	timeout time.Duration
	verify  func(argon2id.Hash, []byte) bool

	mu          sync.Mutex
	freeHashes  int // further hashes that may be computed at once
	stop, other waitQueue
	lastWasStop bool // the last turn was one of role stop
	wrong       guesses
	delayed     delayedAnswers
	proven      proven

	closing chan struct{} // closed when answers are no longer delayed
	close   func()        // closes it; idempotent
}

// claimant is a client that claims a name.
type claimant struct {
	claim
	stop bool        // the name has role stop
	gone func() bool // reports whether it has closed its connection; must not block
}

// claim is a name that is claimed at an address. In-process connections have no address.
type claim struct {
	from netip.Addr
	name string
}

// answer is the result of a password check.
type answer uint8

const (
	isRight answer = iota
	isWrong
	isBusy // the password was not checked
)

func newPasswords() *passwords {
	p := &passwords{
		freeHashes: max(1, runtime.GOMAXPROCS(0)/2), timeout: 5 * time.Second,
		verify: argon2id.Hash.Verify, proven: newProven(), closing: make(chan struct{}),
	}
	p.close = sync.OnceFunc(func() { close(p.closing) })
	p.stop.max, p.other.max = 64, 128
	return p
}

// check verifies the password against the hash. A nil hash matches no password and takes
// as long. A wrong password is answered after the delay that its claim has earned.
func (p *passwords) check(who claimant, hash *argon2id.Hash, password []byte) answer {
	if hash != nil && p.isProven(who.claim, *hash, password) {
		return isRight
	}
	if !p.wait(who) {
		return isBusy
	}
	against := &dummyHash
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
		return isRight
	}
	pause := p.wrong.add(time.Now(), who.claim)
	holds := pause > 0 && p.delayed.enter(who.from)
	p.mu.Unlock()
	if holds {
		p.delayAnswer(who.from, pause)
	}
	return isWrong
}

// delayAnswer waits for pause; the caller has entered p.delayed.
func (p *passwords) delayAnswer(from netip.Addr, pause time.Duration) {
	over := time.NewTimer(pause)
	defer over.Stop()
	select {
	case <-over.C:
	case <-p.closing:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delayed.leave(from)
}

func (p *passwords) isProven(who claim, hash argon2id.Hash, password []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proven.has(who, hash, password)
}

// forgetChanged forgets the right passwords of users whose password has changed or who were
// removed.
func (p *passwords) forgetChanged(users access.Users) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proven.deleteChanged(users)
}

// wait waits for the turn of who, and reports whether it has come. The caller ends its turn with
// next.
func (p *passwords) wait(who claimant) (hasTurn bool) {
	p.mu.Lock()
	if p.freeHashes > 0 { // then the queues are empty
		p.freeHashes--
		p.mu.Unlock()
		return true
	}
	w, queue := &waiter{claimant: who, turn: make(chan bool, 1)}, &p.other
	if who.stop {
		queue = &p.stop
	}
	for _, no := range queue.add(w, p.suspect()) {
		no.turn <- false
	}
	p.mu.Unlock()

	late := time.NewTimer(p.timeout)
	defer late.Stop()
	select {
	case hasTurn = <-w.turn:
		return hasTurn
	case <-late.C:
	}
	p.mu.Lock()
	waits := queue.drop(w)
	p.mu.Unlock()
	if waits {
		return false
	}
	return <-w.turn // the turn came at the same moment
}

// next gives the turn to the next waiter that is still connected.
func (p *passwords) next() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		w := p.nextWaiter()
		switch {
		case w == nil:
			p.freeHashes++
			return
		case w.gone():
			w.turn <- false
		default:
			p.lastWasStop = w.stop
			w.turn <- true
			return
		}
	}
}

// nextWaiter returns whose turn it is: the two queues alternate if both have waiters.
func (p *passwords) nextWaiter() *waiter {
	queues := []*waitQueue{&p.stop, &p.other}
	if p.lastWasStop {
		queues = []*waitQueue{&p.other, &p.stop}
	}
	for _, q := range queues {
		if w := q.take(p.suspect()); w != nil {
			return w
		}
	}
	return nil
}

// suspect returns a function that reports addresses with recent wrong passwords.
func (p *passwords) suspect() func(netip.Addr) bool {
	now := time.Now()
	return func(a netip.Addr) bool { return p.wrong.isSuspect(now, a) }
}
