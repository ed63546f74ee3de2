package brain

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/event"
	"troupe/robotd/report"
	"troupe/schema"
)

// TestLatchSavedInPlaceDoesNotClearDiskRefuses has robot.db refuse while robot.latches,
// which needs no space, takes a stop.
func TestLatchSavedInPlaceDoesNotClearDiskRefuses(t *testing.T) {
	r := newRig(t)
	r.bootConnected("s1")
	alerted := func() bool {
		return slices.ContainsFunc(r.s.report.Alerts(), func(a schema.Alert) bool { return a.Type == "disk_refuses" })
	}
	r.diskFull = true
	r.give(event.ValuesSaved{Refused: schema.ReasonNoSpace})
	r.give(event.LiveStop{Client: "op1", Payload: []byte(`{"id":"k1"}`)})
	r.until(r.now + 2*report.DiskAlertClearsAfter + 100*time.Millisecond)
	if !alerted() {
		t.Error("a stop on the disk cleared the alert, and the disk takes nothing else")
	}
	r.diskFull = false
	r.give(event.ValuesSaved{})
	r.until(r.now + report.DiskAlertClearsAfter)
	if alerted() {
		t.Error("the disk takes everything again and the alert stands")
	}
}
