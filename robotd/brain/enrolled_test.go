package brain

import (
	"testing"

	"troupe/robotd/desired"
)

func TestRobotObeysTheFleetOfItsEnrolment(t *testing.T) {
	r := newRig(t)
	r.cfg.FleetID = "db-1"
	r.boot()
	if got := r.s.desired.FleetID(); got != "db-1" {
		t.Errorf("a new robot obeys %q", got)
	}
	r.memory.Values[desired.FleetIDKey] = "db-2"
	r.boot()
	if got := r.s.desired.FleetID(); got != "db-2" {
		t.Errorf("one that was adopted since obeys %q", got)
	}
}
