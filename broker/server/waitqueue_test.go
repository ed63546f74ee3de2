package server

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// The queue is bounded, an address or claim that had a turn comes after those that had
// none, and no waiter is displaced while another address has more.
func TestWaitQueueIsFairAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := waitQueue{max: 6}
		clean := func(netip.Addr) bool { return false }
		length := func(a netip.Addr) (n int) {
			for _, w := range q.waiting {
				if w.from == a {
					n++
				}
			}
			return n
		}
		since := map[netip.Addr]int{} // turns of other addresses while an address waits
		for range 60 {
			if rapid.Bool().Draw(t, "takes") {
				w := q.take(clean)
				if w == nil {
					continue
				}
				delete(since, w.from)
				seen := map[netip.Addr]bool{w.from: true}
				for _, o := range q.waiting {
					if !seen[o.from] {
						seen[o.from] = true
						if since[o.from]++; since[o.from] > 2*5 {
							t.Fatalf("%v has waited for %d turns of 5 addresses", o.from, since[o.from])
						}
					}
				}
				continue
			}
			w := &waiter{claimant: newClaimant(hostAddr(rapid.ByteRange(1, 5).Draw(t, "address")),
				rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"))}
			for _, o := range q.add(w, clean) {
				for _, other := range q.waiting {
					if length(other.from) > length(o.from)+1 {
						t.Fatalf("a waiter of %v was displaced while %v has more", o.from, other.from)
					}
				}
			}
			if len(q.waiting) > q.max {
				t.Fatalf("%d waiters", len(q.waiting))
			}
		}
	})
}
