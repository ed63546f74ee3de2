package brain

import (
	"testing"
	"time"

	"troupe/robotd/desired"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/sign"
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

func TestRobotThatIsEnrolledAgainObeysItsFleetUntilItIsAdopted(t *testing.T) {
	const other = "0b5c7a9e-6f0d-4c55-9a53-2f1f0d3a7e11"
	for what, accepted := range map[string]event.Event{
		"a mode": event.DesiredMode{Document: schema.DesiredMode{Rev: 9, FleetID: "db-1", Mode: schema.ModeMnl,
			Apply: schema.ApplyModeNow, TS: epoch}},
		"a configuration": event.DesiredConfig{Document: schema.DesiredConfig{Rev: 9, FleetID: "db-1", TS: epoch}},
		"activities":      event.DesiredSet{Kind: sign.Activities, Document: schema.DesiredSet{Rev: 9, FleetID: "db-1", TS: epoch}},
	} {
		r := newRig(t)
		r.cfg.FleetID = "db-1"
		r.boot()
		r.give(event.Connected{Session: "a"})
		r.give(accepted)
		r.until(time.Second)
		r.cfg.FleetID = other
		r.boot()
		if got := r.s.desired.FleetID(); got != "db-1" {
			t.Errorf("a robot that accepted %s of db-1 obeys %s", what, got)
		}
		r.give(event.Command{Client: "op1", Group: "sys", Verb: "adopt", Payload: []byte(`{"args":{"fleet_id":"` + other + `"}}`)})
		r.until(r.now + time.Second)
		if got := r.s.desired.FleetID(); got != other {
			t.Errorf("a robot that accepted %s of db-1 was adopted by the other fleet and obeys %s", what, got)
		}
	}
}
