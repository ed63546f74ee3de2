package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/store/pgtest"
	"troupe/schema"
)

// stopped stops and holds robots; none named is all.
func (w *world) stopped(robots ...string) api.Batch {
	w.Helper()
	sel := map[string]any{"all": true}
	if len(robots) > 0 {
		sel = map[string]any{"ids": robots}
	}
	var b api.Batch
	w.must("POST", "/stops", map[string]any{"selector": sel, "by": "anna", "why": "children on the stage"}, &b, "Prefer", "wait=5")
	if b.Latch == "" || b.Unspooled {
		w.Fatalf("the answer to a stop is %+v", b)
	}
	return b
}

// latched are the ids of the stops that a robot reports.
func (w *world) latched(id string) string {
	d, _ := w.Robot(id)
	var ids []string
	for _, l := range d.Latches {
		ids = append(ids, l.ID)
	}
	return strings.Join(ids, " ")
}

// persisted waits until the database holds these stops and no other.
func (w *world) persisted(ids ...string) {
	w.Helper()
	w.until("persisted are "+strings.Join(ids, " "), func() bool {
		all := w.Latched()
		for _, h := range all {
			if !h.Persisted || !strings.Contains(strings.Join(ids, " "), h.ID) {
				return false
			}
		}
		return len(all) == len(ids)
	})
}

func (w *world) releases(ids ...string) *api.Problem {
	return w.ask("POST", "/stops/release", api.ReleaseRequest{IDs: ids, By: "ben", Why: "the stage is clear"}, nil)
}

func TestStopIsLatchedPersistedAndReleased(t *testing.T) {
	inWorld(t, func(w *world) {
		r1, _ := w.robot("r1"), w.robot("r2")
		one := w.stopped("r1")
		if one.Total != 1 || one.Counts["SUCCEEDED"] != 1 || one.Unpersisted {
			w.Errorf("got %+v", one)
		}
		all := w.stopped()
		if r1.LiveStops() != 1 {
			w.Errorf("%d live stops were received", r1.LiveStops())
		}
		w.persisted(one.Latch, all.Latch)
		w.sleep(5 * time.Second)
		if got := w.latched("r1"); got != one.Latch+" "+all.Latch && got != all.Latch+" "+one.Latch {
			w.Errorf("r1 holds %q", got)
		}
		if got := w.latched("r2"); got != all.Latch {
			w.Errorf("r2 holds %q", got)
		}
		if p := w.releases("stop-1", one.Latch); p == nil || p.Errors[0].Pointer != "/ids/0" || p.Errors[0].Code != "not_latched" {
			w.Errorf("an unknown id: %v", p)
		}
		if p := w.releases(all.Latch); p != nil {
			w.Fatal(p)
		}
		w.until("r2 holds nothing", func() bool { return w.latched("r2") == "" && w.latched("r1") == one.Latch })
		if p := w.releases(one.Latch); p != nil {
			w.Fatal(p)
		}
		w.until("r1 holds nothing", func() bool { return w.latched("r1") == "" })
		w.sleep(30 * time.Second) // what robots reported before is not taken for news
		w.persisted()
	})
}

func TestStopGivenWhileFleetdWasAwayIsPersistedLater(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.sleep(3 * time.Second)
		w.stopFleetd()
		r.LatchUnrecorded(schema.StopLatch{ID: "wall1", Level: schema.StopHalt, By: "wall1", Since: 1})
		w.startFleetd()
		w.persisted("wall1")
		if h := w.Latched()[0]; h.By != "wall1" || h.Level != schema.StopHalt || len(h.Robots) != 1 {
			w.Errorf("it is persisted as %+v", h)
		}
		if p := w.releases("wall1"); p != nil {
			w.Fatal(p)
		}
		w.until("r1 holds nothing", func() bool { return w.latched("r1") == "" })
	})
}

func TestRestartedBrokerReleasesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		b := w.stopped()
		w.persisted(b.Latch)
		old := w.broker.Load()
		w.newBroker()
		if err := old.Close(); err != nil {
			w.Fatal(err)
		}
		w.until("fleetd misses its broker", func() bool { return !w.Status().Broker.OK })
		w.until("fleetd is back", func() bool { return w.Status().Broker.OK })
		late := fleettest.Start(w.T, "r2", w.dial)
		w.until("a robot that comes holds it", func() bool { return w.latched("r2") == b.Latch })
		late.Close()
	})
}

func TestStopsWorkWithoutADatabase(t *testing.T) {
	onPostgres(t, func(w *world, g *pgtest.Cable) {
		w.startFleetd()
		r := w.robot("r1")
		g.Cut()
		w.until("fleetd says so", func() bool { return w.ask("GET", "/healthz", nil, nil) != nil })
		before := count(r.Received(), "safety/stop")
		b := w.stopped()
		if b.Counts["SUCCEEDED"] != 1 || !b.Unpersisted || count(r.Received(), "safety/stop") != before+1 || r.LiveStops() != 1 {
			w.Errorf("the answer to a stop without a database is %+v, %d live stops", b, r.LiveStops())
		}
		if all := w.Latched(); len(all) != 1 || all[0].Persisted || all[0].ID != b.Latch {
			w.Errorf("held are %+v", all)
		}
		if p := w.releases(b.Latch); p == nil || !p.Of(api.KindDatabase) {
			w.Errorf("a release without a database: %v", p)
		}

		// Fleetd ends, and begins again without its database.
		w.stopFleetd()
		w.startFleetd()
		if all := w.Latched(); len(all) != 1 || all[0].ID != b.Latch {
			w.Errorf("after a restart held are %+v", all)
		}
		w.awaitPresence("r1", "online")
		late := fleettest.Start(w.T, "r2", w.dial)
		w.until("a robot that comes is stopped too", func() bool { return count(late.Received(), "safety/stop") == 1 })
		second := w.stopped("r1")
		if second.Counts["SUCCEEDED"] != 1 || !second.Unpersisted {
			w.Errorf("the answer to a stop of a fleetd instance that never saw its database is %+v", second)
		}

		// Nobody here knows which robots are in the museum; robots are asked themselves.
		liveStops := r.LiveStops()
		var third api.Batch
		w.must("POST", "/stops", map[string]any{"selector": map[string]any{"labels": []map[string]string{{"key": "site", "value": "museum"}}}},
			&third)
		w.until("the live stop by label to be received", func() bool {
			return r.LiveStops() == liveStops+1 && strings.Contains(w.latched("r1"), third.Latch)
		})

		g.Mend()
		w.persisted(b.Latch, second.Latch, third.Latch)
		w.until("r2 is known", func() bool { d, _ := w.Robot("r2"); return d.Adopted })
		if p := w.ask("POST", "/stops",
			map[string]any{"selector": map[string]any{"labels": []map[string]string{{"key": "site", "value": "nowhere"}}}}, nil); p == nil ||
			!p.Of(api.KindInvalid) {
			w.Errorf("a label that no robot has: %v", p)
		}
		if p := w.releases(b.Latch, second.Latch, third.Latch); p != nil {
			w.Fatal(p)
		}
		w.until("r1 holds nothing", func() bool { return w.latched("r1") == "" })
	})
}
