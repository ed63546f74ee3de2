package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet/fleettest"
	"troupe/schema"
)

// reportedLiveStop is a live stop of all robots as a robot reports it that received it.
func reportedLiveStop(id string) schema.StopLatch {
	return schema.StopLatch{ID: id, Level: schema.StopStop, By: id, Since: schema.TimeOf(time.Now()), All: true}
}

func TestStopThatARobotReportsIsPersistedWithinHalfASecond(t *testing.T) {
	inWorld(t, func(w *world) {
		r1, r2 := w.robot("r1"), w.robot("r2")
		w.sleep(3 * time.Second)
		held := schema.StopLatch{ID: "gate-7", Level: schema.StopStop, By: "gate", Since: schema.TimeOf(time.Now())}
		r1.LatchUnrecorded(held)
		w.within(500*time.Millisecond, "gate-7 is persisted", func() bool { return len(w.Latched()) == 1 && w.Latched()[0].Persisted })
		r2.LatchUnrecorded(held)
		w.within(500*time.Millisecond, "gate-7 is persisted on r2 too", func() bool { return w.Latched()[0].Count == 2 })
	})
}

// A robot may report a stop for a moment after its release.
func TestReleasedStopIsNotPersistedAgainAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		r1 := w.robot("r1")
		w.sleep(3 * time.Second)
		held := schema.StopLatch{ID: "gate-7", Level: schema.StopStop, By: "gate", Since: schema.TimeOf(time.Now())}
		r1.LatchUnrecorded(held)
		w.persisted("gate-7")
		w.sleep(time.Second)
		if p := w.releases("gate-7"); p != nil {
			w.Fatal(p)
		}
		w.until("r1 holds nothing", func() bool { return w.latched("r1") == "" })
		r1.LatchUnrecorded(held)
		w.sleep(1500 * time.Millisecond)
		w.persisted()
		w.persisted("gate-7") // it goes on
		if p := w.releases("gate-7"); p != nil {
			w.Fatal(p)
		}
		w.until("r1 holds nothing", func() bool { return w.latched("r1") == "" })
		w.sleep(3 * time.Second)
		held.Since = schema.TimeOf(time.Now()) // asked for again under the same id
		r1.LatchUnrecorded(held)
		w.within(500*time.Millisecond, "gate-7 is persisted", func() bool { return len(w.Latched()) == 1 && w.Latched()[0].Persisted })
	})
}

func TestStopOfAllIsLearnedFromTheOneRobotThatReceivedIt(t *testing.T) {
	inWorld(t, func(w *world) {
		r1, r2 := w.robot("r1"), w.robot("r2")
		w.sleep(time.Second)
		r2.Close()
		w.until("r2 is away", func() bool { d, _ := w.Robot("r2"); return d.Presence.Status != "online" })
		w.stopFleetd()
		w.caller("admin").publishLiveStop("")
		w.until("r1 received it", func() bool { return r1.LiveStops() == 1 })
		w.startFleetd()
		w.persisted("admin")
		if h := w.Latched()[0]; !h.All || h.Count != 2 {
			w.Errorf("persisted is %+v", h)
		}
		r2 = fleettest.Start(w.T, "r2", w.dial)
		w.until("r2 holds it", func() bool { return w.latched("r2") == "admin" })
		if p := w.releases("admin"); p != nil {
			w.Fatal(p)
		}
		w.until("both hold nothing", func() bool { return w.latched("r1") == "" && w.latched("r2") == "" })

		// A robot that reports it still holds nobody else.
		r2.LatchUnrecorded(schema.StopLatch{ID: "admin", Level: schema.StopStop, By: "admin", Since: schema.TimeOf(time.Now().Add(-time.Minute)), All: true})
		w.persisted("admin")
		if h := w.Latched()[0]; h.All || h.Count != 1 || w.latched("r1") != "" {
			w.Errorf("persisted is %+v, r1 holds %q", h, w.latched("r1"))
		}
		// Another live stop under the same name does hold all robots.
		if p := w.releases("admin"); p != nil {
			w.Fatal(p)
		}
		w.until("r2 holds nothing", func() bool { return w.latched("r2") == "" })
		w.sleep(3 * time.Second)
		r2.LatchUnrecorded(reportedLiveStop("admin"))
		w.until("r1 holds it too", func() bool { return w.latched("r1") == "admin" })
	})
}

// A stop that only an absent robot reported, in its last state, cannot be released.
func TestReleaseOfAStopThatOnlyAnAbsentRobotReportedIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		r1 := w.robot("r1")
		id := w.stopped("r1").Latch
		w.persisted(id)
		w.until("r1 reports it", func() bool { return w.latched("r1") == id })
		r1.Close()
		w.until("r1 is away", func() bool { d, _ := w.Robot("r1"); return d.Presence.Status != "online" })
		if p := w.releases(id); p != nil {
			w.Fatal(p)
		}
		w.sleep(3 * time.Second)
		p := w.releases(id)
		if p == nil || !p.Of(api.KindInvalid) || p.Errors[0].Code != "not_latched" {
			w.Fatalf("released twice: %+v", p)
		}
		for _, says := range []string{"ben released it at", "r1 reported it last and is not connected"} {
			if !strings.Contains(p.Errors[0].Detail, says) {
				w.Errorf("the refusal does not say %q: %s", says, p.Errors[0].Detail)
			}
		}
	})
}
