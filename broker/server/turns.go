package server

import (
	"cmp"
	"net/netip"
	"slices"
)

// turns are those who wait for a hash, most of them at once. Who is next is looked
// for among all: there are few, and a hash takes ten thousand times as long.
type turns struct {
	most    int
	waiting []*waiter // in the order in which they came
	turn    uint64    // that was given last
}

type waiter struct {
	claimant
	turn chan answer // holds one; sent once
	// When his address and his claim had their last turn. Who has had none comes
	// after those who wait already.
	addressAt, claimAt uint64
}

// add lets w wait, and returns those who cannot wait any more: who has hung up,
// and if that does not make room, the last of those who are most. Nobody is sent
// away for a single one of another address, unless everybody is single.
func (t *turns) add(w *waiter, suspect func(netip.Addr) bool) (out []*waiter) {
	w.addressAt, w.claimAt = t.turn, t.turn
	for _, o := range t.waiting {
		if o.from == w.from {
			w.addressAt = o.addressAt
		}
		if o.claim == w.claim {
			w.claimAt = o.claimAt
		}
	}
	t.waiting = append(t.waiting, w)
	if len(t.waiting) <= t.most {
		return nil
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(o *waiter) bool {
		if o == w || !o.gone() {
			return false
		}
		out = append(out, o)
		return true
	})
	if len(t.waiting) > t.most {
		last := t.excess(suspect)
		t.drop(last)
		out = append(out, last)
	}
	return out
}

// excess is the one whom the others miss least: of suspect addresses, of the
// address that has most, of the claim that has most there, the last.
func (t *turns) excess(suspect func(netip.Addr) bool) (last *waiter) {
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

// take gives the next turn: to addresses that are not suspect first, then to the
// address that had none for longest, there to the claim that had none for longest,
// and of it to the first that came.
func (t *turns) take(suspect func(netip.Addr) bool) (next *waiter) {
	for _, w := range t.waiting {
		if next == nil || cmp.Or(
			cmp.Compare(one(suspect(w.from)), one(suspect(next.from))),
			cmp.Compare(w.addressAt, next.addressAt),
			cmp.Compare(w.claimAt, next.claimAt),
		) < 0 {
			next = w
		}
	}
	if next == nil {
		return nil
	}
	t.turn++
	t.drop(next)
	for _, w := range t.waiting {
		if w.from == next.from {
			w.addressAt = t.turn
		}
		if w.claim == next.claim {
			w.claimAt = t.turn
		}
	}
	return next
}

// drop reports whether w waited.
func (t *turns) drop(w *waiter) bool {
	i := slices.Index(t.waiting, w)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	return i >= 0
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
