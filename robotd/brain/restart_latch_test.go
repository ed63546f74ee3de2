package brain

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/robotd/safety"
	"troupe/schema"
)

// TestReleaseFromBeforeARestartLeavesALatchOfTheDisk makes fleetd record a latch of
// the robot's disk, the disk fail again at the next start, and the release of the first
// one arrive after that.
func TestReleaseFromBeforeARestartLeavesALatchOfTheDisk(t *testing.T) {
	for id, fails := range map[string]func(m *Memory, fails bool){
		latch.RefusingLatch: func(m *Memory, fails bool) {
			if m.Refused = ""; fails {
				m.Refused = schema.ReasonInternal
			}
		},
		latch.DiskLatch: func(m *Memory, fails bool) { m.LatchesLost = fails },
		latch.LostLatch: func(m *Memory, fails bool) { m.Lost = fails },
	} {
		r := newRig(t)
		holds := func() bool {
			return slices.ContainsFunc(r.s.latches.Latches(), func(l safety.Latch) bool { return l.ID == id })
		}
		document := func(rev int64, stops ...schema.StopLatch) {
			r.give(event.StopDocument{From: event.RobotStops, Rev: rev, FleetID: "one", Stops: stops})
			r.until(r.now + 100*time.Millisecond)
		}
		boot := func(damaged bool) {
			fails(&r.memory, damaged)
			r.boot()
			r.give(event.Connected{Session: "s1"})
			r.until(r.now + time.Second)
		}
		boot(true)
		written := schema.StopLatch{ID: id, Level: schema.StopStop, By: "disk"}
		document(1, written)
		boot(true)
		document(2)
		if !holds() {
			t.Errorf("%s: the release of the latch before the restart release the one after it", id)
		}
		document(3, written)
		document(4)
		if holds() {
			t.Errorf("%s: a release after the restart did not release it", id)
		}
		boot(false)
		if holds() {
			t.Errorf("%s: it is held though the disk works", id)
		}
	}
}

// TestLostDiskIsForgottenOnceItsLatchIsKept ends the robot before its disk has the latch.
func TestLostDiskIsForgottenOnceItsLatchIsKept(t *testing.T) {
	r := newRig(t)
	r.memory.Lost, r.memory.Values[latch.LostKey] = true, "yes"
	r.diskStuck = true
	for range 2 {
		r.boot()
		r.until(r.now + time.Second)
		if r.memory.Values[latch.LostKey] == "" {
			t.Error("the disk does not have the latch, and the next start would not hold the robot")
		}
	}
	r.diskStuck = false
	r.boot()
	r.until(r.now + time.Second)
	if r.memory.Values[latch.LostKey] != "" {
		t.Error("the disk has the latch, and the next start would hold it anew")
	}
}
