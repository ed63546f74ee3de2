package fleet_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/storetest"
)

func TestTwoInstancesWithOneNameAreReported(t *testing.T) {
	inWorld(t, func(w *world) {
		if s := w.Status(); s.Disputed != "" {
			t.Fatalf("a fleetd instance alone is disputed: %s", s.Disputed)
		}
		other := w.config
		other.Database = storetest.SQLite(t)
		second, err := fleet.Start(context.Background(), other)
		if err != nil {
			t.Fatal(err)
		}
		// The broker notifies the first when the second takes its session over; the first
		// reconnects after 10 s, and then the second is notified.
		w.within(time.Minute, "both know it", func() bool { return w.Status().Disputed != "" && second.Status().Disputed != "" })
		var list struct{ Disputed string }
		if w.must("GET", "/robots", nil, &list); !strings.Contains(list.Disputed, "fleetd") {
			t.Errorf("the list says %q", list.Disputed)
		}
		var s api.Status
		if w.must("GET", "/version", nil, &s); s.Disputed == "" {
			t.Error("the page would not show it")
		}
		if err := second.Close(); err != nil {
			t.Error(err)
		}
		w.sleep(7 * time.Minute)
		if s := w.Status(); s.Disputed != "" || !s.Broker.OK {
			t.Errorf("alone again: %+v", s)
		}
	})
}
