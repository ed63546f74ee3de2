package fleet_test

import (
	"testing"
	"time"

	"troupe/schema"
)

// A stop that a robot reports is persisted 300 ms later.
func TestStopListIsIncompleteUntilAReportedStopIsPersisted(t *testing.T) {
	inWorld(t, func(w *world) {
		r1 := w.robot("r1")
		w.sleep(3 * time.Second)
		if !w.LatchedComplete() {
			w.Fatal("the list is incomplete before anything is held")
		}
		r1.LatchUnrecorded(schema.StopLatch{ID: "gate-7", Level: schema.StopStop, By: "gate", Since: schema.TimeOf(time.Now())})
		w.sleep(100 * time.Millisecond)
		if held := w.Latched(); len(held) > 0 || w.latched("r1") != "gate-7" {
			w.Fatalf("r1 holds %q, listed is %+v", w.latched("r1"), held)
		}
		if w.LatchedComplete() {
			w.Error("the list is called complete without the stop that r1 reports")
		}
		w.sleep(time.Second)
		w.persisted("gate-7")
		if !w.LatchedComplete() {
			w.Error("the list is incomplete with the stop that r1 reports")
		}
	})
}

// A robot that is away cannot report that it released a stop.
func TestStopListIsCompleteDespiteAnAbsentRobot(t *testing.T) {
	inWorld(t, func(w *world) {
		r1 := w.robot("r1")
		w.sleep(3 * time.Second)
		held := schema.StopLatch{ID: "gate-7", Level: schema.StopStop, By: "gate", Since: schema.TimeOf(time.Now())}
		r1.LatchUnrecorded(held)
		w.persisted("gate-7")
		if p := w.releases("gate-7"); p != nil {
			w.Fatal(p)
		}
		w.until("r1 holds nothing", func() bool { return w.latched("r1") == "" })
		r1.LatchUnrecorded(held)
		w.sleep(100 * time.Millisecond)
		r1.Close()
		w.until("r1 is away", func() bool { d, _ := w.Robot("r1"); return d.Presence.Status != "online" })
		w.sleep(time.Minute)
		if w.latched("r1") != "gate-7" || len(w.Latched()) > 0 {
			w.Fatalf("r1 reports %q, listed is %+v", w.latched("r1"), w.Latched())
		}
		if !w.LatchedComplete() {
			w.Error("the list is incomplete for ever")
		}
	})
}
