package operatorlink

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ms keeps the tables short.
const ms = time.Millisecond

func TestGapsBoundMessageDelay(t *testing.T) {
	c := Defaults()
	for _, row := range []struct {
		name string
		live func(*Gaps)
		at   time.Duration
		want time.Duration
	}{
		{"no gap", func(*Gaps) {}, time.Hour, 0},
		{"loop runs", func(g *Gaps) { g.Stepped(0); g.Stepped(250 * ms) }, 250 * ms, 0},
		{"loop stalled", func(g *Gaps) { g.Stepped(time.Second); g.Stepped(5 * time.Second) }, 5 * time.Second, 4 * time.Second},
		{"loop stalled a while ago", func(g *Gaps) { g.Stepped(time.Second); g.Stepped(5 * time.Second) }, 6*time.Second - 1, 4 * time.Second},
		{"loop stalled long ago", func(g *Gaps) { g.Stepped(time.Second); g.Stepped(5 * time.Second) }, 6 * time.Second, 0},
		{"silent connection without heartbeats", func(g *Gaps) { g.Opened(0); g.Arrived(9*time.Second, false, c) }, 9 * time.Second, 0},
		{"heartbeats in time", func(g *Gaps) { g.Opened(0); g.Arrived(time.Second, true, c); g.Arrived(2500*ms, true, c) }, 2500 * ms, 0},
		{"command ends the silence", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(time.Second, true, c)
			g.Arrived(4*time.Second, false, c)
		}, 4 * time.Second, 3 * time.Second},
		{"heartbeat ends the silence", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(time.Second, true, c)
			g.Arrived(4*time.Second, true, c)
		}, 4100 * ms, 3 * time.Second},
		{"fleetd offline", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(time.Second, true, c)
			g.Closed()
			g.Arrived(9*time.Second, false, c)
		}, 9 * time.Second, 0},
		{"new connection", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(time.Second, true, c)
			g.Opened(8 * time.Second)
			g.Arrived(9*time.Second, false, c)
		}, 9 * time.Second, 0},
		{"fleetd online without a heartbeat yet", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(100*ms, false, c)
			g.Expect()
			g.Arrived(9*time.Second, false, c)
		}, 9 * time.Second, 8900 * ms},
		{"fleetd online published again while it hangs", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(time.Second, true, c)
			g.Arrived(9*time.Second, false, c)
			g.Expect()
			g.Arrived(11*time.Second, false, c)
		}, 11 * time.Second, 0},
		{"fleetd hangs, first message", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(time.Second, true, c)
			g.Arrived(9*time.Second, false, c)
		}, 9 * time.Second, 8 * time.Second},
		{"fleetd hangs, second message", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(time.Second, true, c)
			g.Arrived(9*time.Second, false, c)
			g.Arrived(10100*ms, false, c)
		}, 10100 * ms, 0},
		{"fleetd hangs, later message", func(g *Gaps) {
			g.Opened(0)
			g.Arrived(time.Second, true, c)
			g.Arrived(9*time.Second, false, c)
			g.Arrived(15*time.Second, false, c)
		}, 15 * time.Second, 0},
		{"short stall after a long silence", func(g *Gaps) {
			g.Opened(0)
			g.Stepped(0)
			g.Arrived(time.Second, true, c)
			g.Stepped(5 * time.Second)
			g.Arrived(5*time.Second, false, c)
			g.Stepped(5600 * ms)
		}, 5900 * ms, 5 * time.Second},
	} {
		var g Gaps
		row.live(&g)
		if got := g.Longest(row.at); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// TestLongestReturnsLongestRecentGap compares the bounded list with an unbounded
// one.
func TestLongestReturnsLongestRecentGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g Gaps
		var all []gap
		now := time.Duration(0)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			length := time.Duration(rapid.SampledFrom([]int{1, 100, 400, 499, 500, 501, 600, 700, 900, 3000}).Draw(t, "ms")) * ms
			now += length
			g.Stepped(now)
			if length >= stall {
				all = append(all, gap{length, now})
			}
			at := now + time.Duration(rapid.IntRange(0, 450).Draw(t, "later"))*ms
			want := time.Duration(0)
			for _, one := range all {
				if at-one.end < burstWindow {
					want = max(want, one.length)
				}
			}
			if got := g.Longest(at); got != want {
				t.Fatalf("at %v: %v, want %v", at, got, want)
			}
		}
	})
}
