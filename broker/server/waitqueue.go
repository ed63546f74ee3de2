package server

import (
	"cmp"
	"net/netip"
	"slices"
)

// waitQueue is a queue of clients that wait for their password to be hashed, with a maximum
// length. Each operation scans the whole queue: it is short, and a hash takes ten thousand
// times as long.
type waitQueue struct {
	max      int
	waiting  []*waiter // in the order of arrival
	lastTurn uint64    // number of the last turn given
}

type waiter struct {
	claimant
	turn chan bool // whether it has its turn; capacity 1; sent to once
	// The last turns of its address and of its claim. A waiter whose address or claim
	// has had none comes after those that already wait.
	addressAt, claimAt uint64
}

// add adds w, and returns those who can no longer wait: first clients that have closed
// their connection, and if that is not enough, the last waiter of the address with most
// waiters, suspect addresses first. So a single waiter of an address that is not suspect is
// displaced only if no suspect one waits and every address has just one.
func (t *waitQueue) add(w *waiter, suspect func(netip.Addr) bool) (out []*waiter) {
	w.addressAt, w.claimAt = t.lastTurn, t.lastTurn
	for _, o := range t.waiting {
		if o.from == w.from {
			w.addressAt = o.addressAt
		}
		if o.claim == w.claim {
			w.claimAt = o.claimAt
		}
	}
	t.waiting = append(t.waiting, w)
	if len(t.waiting) <= t.max {
		return nil
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(o *waiter) bool {
		if o == w || !o.gone() {
			return false
		}
		out = append(out, o)
		return true
	})
	if len(t.waiting) > t.max {
		last := t.victim(suspect)
		t.drop(last)
		out = append(out, last)
	}
	return out
}

// victim returns the waiter to displace: among suspect addresses if there are any, of the
// address with most waiters, and there of the claim with most waiters, the last one.
func (t *waitQueue) victim(suspect func(netip.Addr) bool) (last *waiter) {
	addresses, claims := map[netip.Addr]int{}, map[claim]int{}
	for _, w := range t.waiting {
		addresses[w.from]++
	}
	var worst netip.Addr
	most, suspected := 0, false
	for _, w := range t.waiting {
		if w.from == worst && most > 0 {
			continue
		}
		n, s := addresses[w.from], suspect(w.from)
		if s && !suspected || s == suspected && n >= most {
			worst, most, suspected = w.from, n, s
		}
	}
	for _, w := range t.waiting {
		if w.from == worst {
			claims[w.claim]++
		}
	}
	for _, w := range t.waiting {
		if w.from == worst && (last == nil || claims[w.claim] >= claims[last.claim]) {
			last = w
		}
	}
	return last
}

// take gives the next turn: to addresses that are not suspect first, then to the address
// whose last turn was longest ago, there to the claim whose last turn was longest ago, and
// of its waiters to the first.
func (t *waitQueue) take(suspect func(netip.Addr) bool) (next *waiter) {
	for _, w := range t.waiting {
		if next == nil || cmp.Or(
			cmp.Compare(boolToInt(suspect(w.from)), boolToInt(suspect(next.from))),
			cmp.Compare(w.addressAt, next.addressAt),
			cmp.Compare(w.claimAt, next.claimAt),
		) < 0 {
			next = w
		}
	}
	if next == nil {
		return nil
	}
	t.lastTurn++
	t.drop(next)
	for _, w := range t.waiting {
		if w.from == next.from {
			w.addressAt = t.lastTurn
		}
		if w.claim == next.claim {
			w.claimAt = t.lastTurn
		}
	}
	return next
}

// drop removes w, and reports whether it was waiting.
func (t *waitQueue) drop(w *waiter) bool {
	i := slices.Index(t.waiting, w)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	return i >= 0
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
