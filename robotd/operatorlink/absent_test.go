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
			for !a.Detected(now, c) {
				now += time.Second
			}
			if a.Detected(now+time.Hour, c) {
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
	check(stays(14), 10, 10, 20, 20, 40, 40, 80, 80, 160, 160, 300, 300, 300, 300)
	a.Opened(now)
	a.Heartbeat(now)
	check(stays(3), 10, 10, 20)
}

func TestRobotWithOneBrokerOrWithFleetdStays(t *testing.T) {
	for name, row := range map[string]struct {
		brokers int
		live    func(*Absent)
	}{
		"one broker":         {1, func(a *Absent) { a.Opened(0) }},
		"no connection":      {2, func(*Absent) {}},
		"a closed one":       {2, func(a *Absent) { a.Opened(0); a.Closed() }},
		"heartbeat just now": {2, func(a *Absent) { a.Opened(0); a.Heartbeat(51 * time.Second) }},
	} {
		c := Defaults()
		c.Brokers = row.brokers
		var a Absent
		row.live(&a)
		if a.Detected(time.Minute, c) {
			t.Errorf("%s: the next broker is tried", name)
		}
	}
}
