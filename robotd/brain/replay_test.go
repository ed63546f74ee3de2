package brain

import (
	"testing"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/robotd/report"
	"troupe/schema"
)

func TestReplayReportsItsRemainingTime(t *testing.T) {
	r := newRig(t)
	var answers []schema.Ack
	r.sent = func(p effect.Publish) {
		if a, problems := schema.Decode[schema.Ack](p.Payload); p.Topic == schema.TopicAck && len(problems) == 0 {
			answers = append(answers, a)
		}
	}
	r.boot()
	r.give(event.Connected{Session: "s"})
	for rev := range int64(100) { // held and released, each an event
		doc := latch.Document{From: latch.Robot, Rev: rev + 1, FleetID: "fleetd"}
		if rev%2 == 0 {
			doc.Stops = []schema.StopLatch{{ID: "a", Level: schema.StopStop}}
		}
		r.give(event.StopDocument{Document: doc})
	}
	began := r.now
	r.give(event.Command{Client: "op1", Group: "sys", Verb: "replay", Payload: []byte(`{"id":"r","args":{"from":1}}`)})
	said := false
	for len(answers) == 0 || !answers[len(answers)-1].Status.Final() {
		was := len(answers)
		if r.until(r.now + report.ReplayEvery); r.now-began > 1000*report.ReplayEvery {
			t.Fatal("the replay does not end")
		}
		if len(answers) > was && answers[len(answers)-1].Status == schema.StatusInProgress {
			said = true
			left := int64(r.s.report.ReplayLeft()) * report.ReplayEvery.Milliseconds()
			if eta := answers[len(answers)-1].EtaMS; eta < left || eta > left+2*report.ReplayEvery.Milliseconds() {
				t.Errorf("%d events are left, and it is said to take another %d ms", r.s.report.ReplayLeft(), eta)
			}
		}
	}
	if !said || answers[len(answers)-1].EtaMS != 0 {
		t.Errorf("it answered %+v", answers)
	}
}
