package brain

import (
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestCommandAgeIsMeasuredByFleetTime: the robot's own is wrong by five years.
func TestCommandAgeIsMeasuredByFleetTime(t *testing.T) {
	r := newRig(t)
	r.boot()
	answers := map[string]schema.Ack{}
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicAck {
			a, _ := schema.DecodeStrict[schema.Ack](p.Payload)
			answers[*a.ID] = a
		}
	}
	const years = 5 * 365 * 24 * time.Hour
	fleet := func() schema.Time { return r.wall().Wall.Add(years) }
	ask := func(id string, ts schema.Time) {
		r.give(event.Command{Client: "op1", Group: "sys", Verb: "ping", Payload: []byte(`{"id":"` + id + `","ttl_ms":30000,"ts":"` + ts.String() + `"}`)})
	}
	r.give(event.Connected{Session: "s1"})
	ask("before", fleet())
	for i := range 4 {
		wrong := time.Duration(0)
		if i == 2 {
			wrong = 24 * time.Hour
		}
		r.give(event.Heartbeat{Client: "fleetd", Beat: schema.FleetHeartbeat{TS: fleet().Add(wrong), Session: "fleetd", Seq: int64(i + 1)}})
		r.until(r.now + time.Second)
	}
	ask("fresh", fleet())
	ask("old", fleet().Add(-31*time.Second))
	ask("early", fleet().Add(31*time.Second))
	ask("robot-time", r.wall().Wall)
	want := map[string]schema.Status{"before": schema.StatusSucceeded, "fresh": schema.StatusSucceeded, "old": schema.StatusExpired,
		"early": schema.StatusRejected, "robot-time": schema.StatusExpired}
	for id, status := range want {
		if a := answers[id]; a.Status != status {
			t.Errorf("%s is %s (%s), want %s", id, a.Status, a.Detail, status)
		}
	}
	if !answers["before"].UncheckedAge || answers["fresh"].UncheckedAge {
		t.Errorf("unchecked_age: before any heartbeat %v, after it %v", answers["before"].UncheckedAge, answers["fresh"].UncheckedAge)
	}
	if answers["early"].Reason != schema.ReasonClockSkew {
		t.Errorf("31 s ahead: %s", answers["early"].Reason)
	}
}
