package operatorlink

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
	"troupe/schema/golden"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, schema.LinkNever, States)
}

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/link.md", Table, schema.LinkNever)
}

const tick = 20 * time.Millisecond

// watch ticks a link from one time to another, with heartbeats of op1 at the times
// for which arrives returns true.
func watch(s *Link, from, to time.Duration, arrives func(time.Duration) bool, see func(time.Duration, decision)) {
	for now := from; now < to; now += tick {
		if arrives(now) {
			see(now, s.heartbeat(now, Defaults(), "op1"))
		}
		see(now, s.tick(now, Defaults()))
	}
}

// TestTraces plays each script in testdata: a line is a period of time with or
// without heartbeats, and the indented lines below it are the transitions.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		s, now := boot(), time.Duration(0)
		return func(line string) string {
			span, word, _ := golden.Timed(t, line)
			var out strings.Builder
			begin := now
			watch(&s, now, now+span, func(at time.Duration) bool {
				return word == "in" && (at-begin)%time.Second == 0
			}, func(at time.Duration, d decision) {
				if d.Changed {
					fmt.Fprintf(&out, "  %v %s -> %s on %s after %v (%s)\n", at, d.From, d.To, d.On, d.Silence, d.Why)
				}
			})
			now += span
			fmt.Fprintf(&out, "  = %s at %v, lost for %v, %v left\n", s.At, now, s.lostFor(now, Defaults()), s.remaining(now, Defaults()))
			return out.String()
		}
	})
}

func TestSilenceIsLossAfterExactlyTheTimeout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c := boot(), Defaults()
		now := time.Duration(rapid.IntRange(0, 100_000).Draw(t, "boot ms")) * time.Millisecond
		for range rapid.IntRange(1, 30).Draw(t, "heartbeats") { // in time, more or less
			now += time.Duration(rapid.IntRange(500, 1500).Draw(t, "ms")) * time.Millisecond
			s.heartbeat(now, c, "op1")
		}
		if s.tick(now+c.Lost-1, c); s.At == schema.LinkLost {
			t.Fatalf("lost after %v", c.Lost-1)
		}
		if s.tick(now+c.Lost, c); s.At != schema.LinkLost || s.lostFor(now+c.Lost, c) != c.Lost {
			t.Fatalf("%s after %v", s.At, c.Lost)
		}
	})
}

func TestHeartbeatsInTimeKeepLinkUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now, c := boot(), time.Duration(0), Defaults()
		for range rapid.IntRange(1, 200).Draw(t, "heartbeats") {
			now += time.Duration(rapid.IntRange(1, 1500).Draw(t, "ms")) * time.Millisecond
			s.tick(now, c)
			s.heartbeat(now, c, "op1")
			if s.At != schema.LinkUp {
				t.Fatalf("%s at %v", s.At, now)
			}
		}
	})
}

// TestBudgetRefillsAtQuarterSpeed compares the package with a direct
// implementation of the rule, over random patterns of heartbeats.
func TestBudgetRefillsAtQuarterSpeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, c, now := boot(), Defaults(), time.Duration(0)
		s.heartbeat(now, c, "op1")
		left := c.Lost
		for range rapid.IntRange(1, 100).Draw(t, "heartbeats") {
			gap := time.Duration(rapid.SampledFrom([]int{200, 1000, 1500, 1501, 2000, 3000, 4999, 5000, 9000}).Draw(t, "ms")) * time.Millisecond
			counts := gap > 3*c.Period/2
			lost := counts && gap >= left
			if counts { // ticks just before and after the expected loss
				at := now + max(left, 3*c.Period/2+1)
				if s.tick(min(at-1, now+gap), c); s.At == schema.LinkLost && left > 3*c.Period/2 {
					t.Fatalf("lost %v before its time with %v left", now+left-at+1, left)
				}
				if s.tick(now+gap, c); (s.At == schema.LinkLost) != lost {
					t.Fatalf("%s after a gap of %v with %v left", s.At, gap, left)
				}
			}
			now += gap
			s.heartbeat(now, c, "op1")
			switch {
			case lost:
				left = c.Lost / 2
				if o := s.Outage; !o.Over || o.From != now-gap || o.To != now {
					t.Fatalf("the outage from %v to %v is recorded as %+v", now-gap, now, o)
				}
			case counts:
				left -= gap
			default:
				left = min(c.Lost, left+gap/4)
			}
			if got := s.remaining(now, c); got != left {
				t.Fatalf("%v left after a gap of %v, want %v", got, gap, left)
			}
		}
	})
}

func TestCurrentOutageHasNoEnd(t *testing.T) {
	s, c := boot(), Defaults()
	if s.Outage != (Outage{}) {
		t.Errorf("an outage before any link: %+v", s.Outage)
	}
	s.heartbeat(time.Second, c, "op1")
	s.tick(time.Second+c.Lost, c)
	if want := (Outage{From: time.Second}); s.Outage != want || s.remaining(time.Minute, c) != 0 {
		t.Errorf("%+v with %v left", s.Outage, s.remaining(time.Minute, c))
	}
}

func TestLinkWithoutHeartbeatIsNeverLost(t *testing.T) {
	s := boot()
	watch(&s, 0, time.Minute, func(time.Duration) bool { return false }, func(at time.Duration, d decision) {
		if d.Changed || s.lostFor(at, Defaults()) != 0 {
			t.Fatalf("%+v", d)
		}
	})
}

func TestLossBetweenTicksIsReportedOnce(t *testing.T) {
	s, c := boot(), Defaults()
	s.heartbeat(0, c, "op1")
	if d := s.heartbeat(7*time.Second, c, "op2"); d.To != schema.LinkLost || d.Silence != 7*time.Second {
		t.Errorf("got %+v", d)
	}
	if d := s.heartbeat(8*time.Second, c, "op2"); d.To != schema.LinkDegraded || s.Client != "op2" {
		t.Errorf("got %+v", d)
	}
	if d := s.heartbeat(9*time.Second, c, "op2"); d.To != schema.LinkUp {
		t.Errorf("got %+v", d)
	}
}

func TestTickDoesNotAllocate(t *testing.T) {
	s := boot()
	if n := testing.AllocsPerRun(100, func() { s.tick(time.Second, Defaults()) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWithoutHeartbeatSilenceStartsAtLostConnection(t *testing.T) {
	s, c := boot(), Defaults()
	if d := s.connectionLost(time.Minute); d.To != schema.LinkDegraded {
		t.Fatalf("got %+v", d)
	}
	if s.tick(time.Minute+c.Lost-1, c); s.At == schema.LinkLost {
		t.Error("lost too early")
	}
	if s.tick(time.Minute+c.Lost, c); s.At != schema.LinkLost {
		t.Errorf("%s after %v", s.At, c.Lost)
	}
	if d := s.connectionRestored(2 * time.Minute); d.To != schema.LinkNever || s.lostFor(2*time.Minute, c) != 0 {
		t.Errorf("got %+v", d)
	}
}

func TestLostConnectionDoesNotResetHeartbeats(t *testing.T) {
	s, c := boot(), Defaults()
	s.heartbeat(0, c, "fleetd")
	if d := s.connectionLost(time.Second); d.Changed {
		t.Errorf("got %+v", d)
	}
	s.tick(c.Lost, c)
	if d := s.connectionRestored(c.Lost + time.Second); d.Changed || s.At != schema.LinkLost {
		t.Errorf("a connection counted as an operator: %+v", d)
	}
}
