package act

import (
	"testing"
	"time"

	"troupe/schema"
)

// A driver that answers a velocity at once may still drive, so the executor stops it.
func TestVelocityEndsWithAStopWhateverTheUnitReports(t *testing.T) {
	r := newRig(t)
	r.act(velocity("ahead", 0, 1000))
	r.ticks(100*time.Millisecond, tick)
	r.done("ahead")
	r.ticks(900*time.Millisecond, tick)
	r.want(Stop, "ahead", 0)
	r.ticks(920*time.Millisecond, tick)
	r.want(Stop, "ahead", 1)
	r.ticks(2*time.Second, tick)
	r.wantOutcome(EntryCompleted, "")
}

func TestVelocityThatFailsEndsItsAct(t *testing.T) {
	r := newRig(t)
	r.act(velocity("ahead", 0, 1000))
	r.ticks(100*time.Millisecond, tick)
	r.report("ahead", schema.ReasonUnitError)
	r.ticks(200*time.Millisecond, tick)
	r.want(Stop, "ahead", 0)
	r.wantOutcome(EntryFailed, schema.ReasonUnitError)
}
