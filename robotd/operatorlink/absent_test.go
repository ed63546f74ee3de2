package operatorlink

import (
	"testing"
	"time"
)

// TestRobotLooksForFleetdAtEachBroker: fleetd is at none of them, is found, and is gone again.
func TestRobotLooksForFleetdAtEachBroker(t *testing.T) {
	c := Defaults()
	c.Brokers = 2
	var a Absent
	now := time.Duration(0)
	stays := func(n int) (all []time.Duration) {
		for range n {
			a.Opened(now)
			began := now
			for !a.Detected(now, c, true) {
				now += time.Second
			}
			if a.Detected(now+time.Second, c, true) {
				t.Error("the next broker is tried twice from one connection")
			}
			a.Closed()
			all = append(all, now-began)
		}
		return all
	}
	check := func(all []time.Duration, want ...time.Duration) {
		t.Helper()
		for i, w := range want {
			if all[i] != w*time.Second {
				t.Fatalf("it stays %v, want %d s at number %d", all, w, i)
			}
		}
	}
	check(stays(8), 10, 10, 20, 20, 30, 30, 30, 30)
	a.Opened(now)
	a.Heartbeat(now)
	check(stays(3), 10, 10, 20)
}

// The first broker comes back and a robot connects to it, while fleetd stays with the standby: the robot leaves soon enough to be
// listed within 30 s, however its departure is spread, and although it had no heartbeat for a while before.
func TestStrayRobotLeavesWithin20s(t *testing.T) {
	for _, spread := range []float64{0, 0.5, 0.999} {
		c := Defaults()
		c.Brokers, c.Spread = 2, spread
		var a Absent
		a.Opened(0)
		a.Heartbeat(4 * time.Second)
		a.Closed()
		const back = 30 * time.Second
		a.Opened(back)
		now := back
		for !a.Detected(now, c, true) {
			now += 100 * time.Millisecond
		}
		if stayed := now - back; stayed < 10*time.Second || stayed > 20*time.Second {
			t.Errorf("spread %v: the robot stays %v", spread, stayed)
		}
	}
}

func TestRobotThatHasNoReasonToLeaveStays(t *testing.T) {
	for name, row := range map[string]struct {
		brokers int
		leaves  bool // it may
		spread  float64
		live    func(*Absent)
		want    bool
	}{
		"no fleetd":          {2, true, 0, func(a *Absent) { a.Opened(0) }, true},
		"one broker":         {1, true, 0, func(a *Absent) { a.Opened(0) }, false},
		"it may move":        {2, false, 0, func(a *Absent) { a.Opened(0) }, false},
		"later than others":  {2, true, 0.5, func(a *Absent) { a.Opened(46 * time.Second) }, false},
		"no connection":      {2, true, 0, func(*Absent) {}, false},
		"a closed one":       {2, true, 0, func(a *Absent) { a.Opened(0); a.Closed() }, false},
		"heartbeat just now": {2, true, 0, func(a *Absent) { a.Opened(0); a.Heartbeat(51 * time.Second) }, false},
		"a stall of its own": {2, true, 0, func(a *Absent) { a.Opened(0); a.checkedAt = 20 * time.Second }, false},
	} {
		c := Defaults()
		c.Brokers, c.Spread = row.brokers, row.spread
		a := Absent{checkedAt: time.Minute - tick}
		row.live(&a)
		if got := a.Detected(time.Minute, c, row.leaves); got != row.want {
			t.Errorf("%s: the next broker is tried: %v", name, got)
		}
	}
}
