package clock

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
)

// beat gives the clock a heartbeat that was sent at the fleet's time epoch+sent
// and took delay; the sender's own clock is wrong by wrong.
func beat(c *FleetTime, client string, sent, delay, wrong time.Duration) Now {
	now := Now{Mono: sent + delay}
	c.Learn(now, client, epoch.Add(sent+wrong))
	return now
}

// off is how far the estimate is from the truth.
func off(t *testing.T, c *FleetTime, now Now) time.Duration {
	t.Helper()
	fleet, ok := c.At(now)
	if !ok {
		t.Fatal("the fleet's time is not known")
	}
	return fleet.Sub(epoch.Add(now.Mono))
}

const epoch schema.Time = 1_800_000_000_000

const day = 24 * time.Hour

func TestFastestHeartbeatCounts(t *testing.T) {
	var c FleetTime
	var now Now
	for i, delay := range []time.Duration{900, 20, 1500, 400} {
		now = beat(&c, "fleetd", time.Duration(i)*time.Second, delay*time.Millisecond, 0)
	}
	if got := off(t, &c, now); got != -20*time.Millisecond {
		t.Errorf("the estimate is off by %v, want the -20ms of the fastest", got)
	}
}

func TestOneHeartbeatADayAheadIsIgnored(t *testing.T) {
	var c FleetTime
	for i := range 3 {
		beat(&c, "fleetd", time.Duration(i)*time.Second, 10*time.Millisecond, 0)
	}
	now := beat(&c, "fleetd", 3*time.Second, 10*time.Millisecond, day)
	if got := off(t, &c, now); got.Abs() > time.Second {
		t.Errorf("after one wrong heartbeat of the same fleetd the estimate is off by %v", got)
	}
	now = beat(&c, "fleetd-2", 4*time.Second, 10*time.Millisecond, day)
	if got := off(t, &c, now); got.Abs() > time.Second {
		t.Errorf("after one heartbeat of a wrong fleetd the estimate is off by %v", got)
	}
	for i := 5; i < 60; i++ {
		beat(&c, "fleetd-2", time.Duration(i)*time.Second, 10*time.Millisecond, day)
		now = beat(&c, "fleetd", time.Duration(i)*time.Second+10, 10*time.Millisecond, 0)
		if got := off(t, &c, now); got.Abs() > time.Second {
			t.Fatalf("with a wrong fleetd beside the right one the estimate is off by %v after %d s", got, i)
		}
	}
	if !c.Differs("fleetd-2") || c.Differs("fleetd") {
		t.Error("it is not reported which instance's clock differs")
	}
}

func TestWrongFirstHeartbeatIsOutvotedByTheNextTwo(t *testing.T) {
	for _, wrong := range []time.Duration{day, -day} {
		var c FleetTime
		beat(&c, "fleetd", 0, 0, wrong)
		beat(&c, "fleetd", time.Second, 0, 0)
		if got := off(t, &c, beat(&c, "fleetd", 2*time.Second, 0, 0)); got != 0 {
			t.Errorf("a first heartbeat wrong by %v leaves the estimate off by %v", wrong, got)
		}
	}
}

func TestCorrectedClockIsFollowed(t *testing.T) {
	var c FleetTime
	var now Now
	for i := range 20 {
		now = beat(&c, "fleetd", time.Duration(i)*time.Second, 0, -day)
	}
	for i := 20; i < 20+window/2+1; i++ {
		now = beat(&c, "fleetd", time.Duration(i)*time.Second, 0, 0)
	}
	if got := off(t, &c, now); got != 0 {
		t.Errorf("the estimate is off by %v", got)
	}
}

func TestSilentSenderDoesNotCount(t *testing.T) {
	var c FleetTime
	beat(&c, "old", 0, 0, day)
	beat(&c, "new", 10*time.Second, 0, 0)
	now := beat(&c, "new", 2*forgetAfter, 0, 0)
	if got := off(t, &c, now); got != 0 {
		t.Errorf("the estimate is off by %v, long after the last heartbeat of the wrong fleetd", got)
	}
}

// TestMajorityOfClocksCounts also checks that the memory is bounded.
func TestMajorityOfClocksCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c FleetTime
		instances := rapid.IntRange(1, 7).Draw(t, "fleetd instances")
		wrong := rapid.IntRange(0, (instances-1)/2).Draw(t, "wrong ones")
		errs := make([]time.Duration, instances)
		for i := range wrong {
			errs[i] = rapid.SampledFrom([]time.Duration{-10 * 365 * day, -day, -time.Minute, time.Minute, day, 10 * 365 * day}).Draw(t, "by")
		}
		var now Now
		for s := range window {
			for _, i := range rapid.Permutation(slices.Collect(func(yield func(int) bool) {
				for i := range instances {
					if !yield(i) {
						return
					}
				}
			})).Draw(t, "order") {
				delay := time.Duration(rapid.IntRange(0, 900).Draw(t, "delay")) * time.Millisecond
				now = beat(&c, "fleetd-"+strconv.Itoa(i), time.Duration(s)*time.Second, delay, errs[i])
			}
		}
		fleet, _ := c.At(now)
		if got := fleet.Sub(epoch.Add(now.Mono)); got.Abs() > time.Second {
			t.Fatalf("%d of %d fleetd instances are wrong and the estimate is off by %v", wrong, instances, got)
		}
	})
	var c FleetTime
	for i := range 100 {
		beat(&c, "fleetd-"+strconv.Itoa(i), time.Duration(i)*time.Second, 0, 0)
	}
	if len(c.senders) > maxSenders {
		t.Errorf("%d senders are remembered, want at most %d", len(c.senders), maxSenders)
	}
}
