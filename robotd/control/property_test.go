package control

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
)

// walk calls Step with random inputs of several people.
func walk(t *rapid.T, see func(was, is State, now time.Duration, in Input, d Decision)) {
	c := Defaults()
	s, now := Boot("boot"), time.Duration(0)
	var leases []string
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		now += time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second
		in := Input{
			What:  rapid.SampledFrom([]What{Acquire, Acquire, Renew, Renew, Release, Takeover, Tick, Gone}).Draw(t, "what"),
			Who:   Who{rapid.SampledFrom([]string{"op1", "op2", "fleetd"}).Draw(t, "client"), rapid.SampledFrom([]string{"", "ann"}).Draw(t, "by")},
			Rank:  rapid.SampledFrom([]Rank{Unset, Automation, Operator, Admin, Local}).Draw(t, "rank"),
			Scope: rapid.SampledFrom([]Scope{"", ScopeManual, ScopeAll, "some"}).Draw(t, "scope"),
			TTL:   time.Duration(rapid.SampledFrom([]int{0, 1, 20, 60, 61}).Draw(t, "ttl")) * time.Second,
			Req:   "r",
		}
		if len(leases) > 0 && rapid.Bool().Draw(t, "named") {
			in.Lease = rapid.SampledFrom(leases).Draw(t, "lease")
		}
		was := s
		d := Step(&s, now, &c, in)
		if l := d.Lease; d.Answer.Status == schema.StatusSucceeded && l != nil {
			leases = append(leases, l.ID)
		}
		see(was, s, now, in, d)
	}
}

func TestThereIsOneHolderAndLeasesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := map[string]Who{}
		walk(t, func(was, is State, now time.Duration, in Input, d Decision) {
			if is.At == Held && now >= is.Lease.Until {
				t.Fatalf("at %v %s holds it until %v", now, is.Lease.Who, is.Lease.Until)
			}
			if (is.At == Held) != (is.Lease != Lease{}) {
				t.Fatalf("%s with %+v", is.At, is.Lease)
			}
			if is.Lease.ID == was.Lease.ID {
				return
			}
			if who, ok := given[is.Lease.ID]; is.At == Held && ok {
				t.Fatalf("lease %s was granted to %s before", is.Lease.ID, who)
			}
			given[is.Lease.ID] = is.Lease.Who
			if was.At == Held && is.At == Held && was.Lease.Who != is.Lease.Who && (d.On != OnTakenOver || d.Previous != was.Lease ||
				is.Lease.Rank < was.Lease.Rank) {
				t.Fatalf("from %+v to %+v by %s", was.Lease, is.Lease, d.On)
			}
		})
	})
}

func TestRefusalChangesNothingAndHidesLeaseID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, is State, _ time.Duration, in Input, d Decision) {
			if d.Answer.Status != schema.StatusRejected {
				return
			}
			if was != is {
				t.Fatalf("refused %s and changed %+v to %+v", in.What, was, is)
			}
			if l := d.Lease; l != nil && (l.ID != "" || l.Who != was.Lease.Who) {
				t.Fatalf("the refusal contains %+v of %+v", l, was.Lease)
			}
		})
	})
}

func TestOnlyHolderChangesLease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, is State, now time.Duration, in Input, d Decision) {
			changes := in.What == Renew || in.What == Release
			if changes && was != is && d.On != OnExpired && !was.Holds(in.Who) {
				t.Fatalf("%s of %s by %s changed %+v to %+v", in.What, was.Lease.Who, in.Who, was, is)
			}
			if in.What.isRequest() && d.Answer.Status == "" && !d.Repeat {
				t.Fatalf("%s was not answered", in.What)
			}
		})
	})
}
