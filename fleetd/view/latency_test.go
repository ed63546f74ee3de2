package view

import (
	"testing"
	"time"

	"troupe/schema"
)

func TestRoundTripExcludesTheTimeAtTheRobot(t *testing.T) {
	var tr latency
	start := time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)
	for seq := range int64(100) {
		tr.recordSent(seq+1, start.Add(time.Duration(seq)*time.Second)) // seq 1 at the start
	}
	now := start.Add(100 * time.Second)
	for _, c := range []struct {
		what string
		echo schema.HeartbeatLink
		want time.Duration
		ok   bool
	}{
		{"the newest", schema.HeartbeatLink{FleetSeq: 100, FleetAgeMS: 960}, 40 * time.Millisecond, true},
		{"an older one", schema.HeartbeatLink{FleetSeq: 90, FleetAgeMS: 10_000}, time.Second, true},
		{"none received", schema.HeartbeatLink{}, 0, false},
		{"one forgotten", schema.HeartbeatLink{FleetSeq: 20, FleetAgeMS: 80_000}, 0, false},
		{"one of an earlier run, not sent yet", schema.HeartbeatLink{FleetSeq: 5000, FleetAgeMS: 10}, 0, false},
		{"one of an earlier run, received before this one was sent", schema.HeartbeatLink{FleetSeq: 99, FleetAgeMS: 60_000}, 0, false},
		{"no time at all", schema.HeartbeatLink{FleetSeq: 100, FleetAgeMS: 1000}, time.Microsecond, true},
		{"nonsense", schema.HeartbeatLink{FleetSeq: -3}, 0, false},
	} {
		if got, ok := tr.roundTrip(c.echo, now); got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", c.what, got, ok, c.want, c.ok)
		}
	}
}
