package replica_test

import (
	"testing"
	"time"

	"troupe/fleetd/replica"
	"troupe/schema"
)

func TestSilentInstanceIsGone(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(1_000_000+int64(s), 0) }
	var i replica.Instances
	i.SetConnected(true, at(0))
	i.ReceiveHeartbeat("b", schema.FleetInstance{}, at(1))
	if !i.Has("b") || i.Has("c") {
		t.Error("an instance with a heartbeat is not known, or one without is")
	}
	for _, c := range []struct {
		after int
		name  string
		gone  bool
	}{{14, "b", false}, {14, "c", false}, {15, "c", true}, {15, "b", false}, {16, "b", true}} {
		if got := i.Gone(c.name, at(c.after)); got != c.gone {
			t.Errorf("after %d s %s is gone: %v", c.after, c.name, got)
		}
	}
	i.ReceiveHeartbeat("b", schema.FleetInstance{}, at(20))
	if i.Gone("b", at(21)) {
		t.Error("an instance that came back is gone")
	}
}

// An instance that was away received no heartbeats, and knows nothing of the others.
func TestNoInstanceIsGoneForOneThatWasAway(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(1_000_000+int64(s), 0) }
	var i replica.Instances
	i.SetConnected(true, at(0))
	i.ReceiveHeartbeat("b", schema.FleetInstance{}, at(0))
	i.SetConnected(false, at(5))
	if i.Gone("b", at(100)) {
		t.Error("without a broker another instance is called gone")
	}
	i.SetConnected(true, at(100))
	i.SetConnected(true, at(110)) // no news
	if i.Gone("b", at(114)) || !i.Gone("b", at(115)) {
		t.Error("it did not wait for heartbeats after it was back")
	}
}

func TestSilentInstanceIsListedWithItsLastHeartbeat(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(1_000_000+int64(s), 0) }
	var i replica.Instances
	if got := i.List(at(0)); len(got) != 0 {
		t.Errorf("before any heartbeat: %v", got)
	}
	i.ReceiveHeartbeat("b", schema.FleetInstance{Version: "v1", Leads: true}, at(0))
	i.ReceiveHeartbeat("b", schema.FleetInstance{Version: "v2"}, at(1))
	i.ReceiveHeartbeat("a", schema.FleetInstance{}, at(10)) // an earlier release, which says nothing of itself
	got := i.List(at(16))
	if len(got) != 2 || got[0].Name != "a" || got[0].Silent || got[0].Version != "" {
		t.Fatalf("the instances are %+v", got)
	}
	if b := got[1]; !b.Silent || !b.LastSeen.Equal(at(1)) || b.Version != "v2" || b.Leads {
		t.Errorf("the silent instance is %+v", b)
	}
}
