package brain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
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
		doc := event.StopDocument{From: event.RobotStops, Rev: rev + 1, FleetID: "fleetd"}
		if rev%2 == 0 {
			doc.Stops = []schema.StopLatch{{ID: "a", Level: schema.StopStop}}
		}
		r.give(doc)
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

// A client that fills a gap must not take events that do not exist yet for events that were sent.
func TestReplayBeyondNewestEventNamesIt(t *testing.T) {
	r := newRig(t)
	var last schema.Ack
	var newest int64
	r.sent = func(p effect.Publish) {
		if a, problems := schema.Decode[schema.Ack](p.Payload); p.Topic == schema.TopicAck && len(problems) == 0 {
			last = a
		}
		if e, problems := schema.Decode[schema.Event](p.Payload); p.Topic == schema.TopicEvent && len(problems) == 0 {
			newest = max(newest, e.Seq)
		}
	}
	r.boot()
	r.give(event.Connected{Session: "s"})
	r.until(r.now + time.Second)
	for to, named := range map[int64]bool{newest: false, newest + 1: true, 5000: true} {
		r.give(event.Command{Client: "op1", Group: "sys", Verb: "replay", Payload: fmt.Appendf(nil, `{"id":"r%d","args":{"from":1,"to":%d}}`, to, to)})
		r.until(r.now + time.Duration(newest+5)*report.ReplayEvery)
		if detail := fmt.Sprintf("; the newest is %d", newest); last.Status != schema.StatusSucceeded ||
			strings.Contains(last.Detail, detail) != named {
			t.Errorf("to %d of %d is answered %+v", to, newest, last)
		}
	}
}
