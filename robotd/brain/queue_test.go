package brain

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestEndedActsAreListedWithTheirRequests performs acts of the story, requested ones and
// one that fails.
func TestEndedActsAreListedWithTheirRequests(t *testing.T) {
	r := newRig(t)
	var q schema.StateQueue
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicState {
			d, _ := schema.Decode[schema.State](p.Payload)
			q = d.Queue
		}
	}
	r.cfg.Mode.Boot = schema.ModeAto
	r.boot()
	r.give(event.Connected{Session: "s"})
	pin := stories["talk"]
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	r.beats = true
	r.beat(0)
	r.until(3500 * time.Millisecond)
	if n := len(q.Completed); n < 2 || n > 5 || q.Completed[0] != "greet" || q.CompletedActs[0] != (schema.QueuedAct{Act: "greet"}) {
		t.Fatalf("after a while of the story: %+v", q)
	}
	for i := range 7 {
		r.give(event.Command{Client: "resp1", Group: "act", Verb: "perform", Payload: fmt.Appendf(nil, `{"id":"q%d","args":{"actions":[{"type":"wait","start_ms":0,"end_ms":100}]}}`, i)})
	}
	r.until(r.now + 300*time.Millisecond)
	if n := len(q.Queued); q.Current != "inline" || len(q.Waiting) < 3 || n != len(q.Waiting)+1 || q.Queued[0] == q.Queued[1] ||
		q.Queued[n-1] != (schema.QueuedAct{Act: "greet"}) || q.Queued[n-2].ReqID != "resp1/q6" {
		t.Errorf("while requests queue: %+v", q)
	}
	r.until(r.now + 700*time.Millisecond)
	if len(q.Completed) != 5 || len(q.CompletedActs) != 5 {
		t.Fatalf("five are kept: %+v", q)
	}
	for i, c := range q.CompletedActs {
		want := schema.QueuedAct{Act: "inline", ReqID: fmt.Sprintf("resp1/q%d", 6-i)}
		if c != want || q.Completed[i] != "inline" {
			t.Errorf("%d is %+v, want %+v", i, c, want)
		}
	}
	for i := range 2 {
		r.give(event.Command{Client: "resp1", Group: "act", Verb: "perform", Payload: fmt.Appendf(nil, `{"id":"f%d","args":{"actions":[{"type":"say","start_ms":0,"timeout_ms":900,"text":{"en":"hello"}}]}}`, i)})
		r.until(r.now + 300*time.Millisecond)
		newest := slices.Max(slices.Collect(maps.Keys(r.body.busy)))
		r.give(event.Reported{Event: driver.Event{Kind: driver.Failed, Key: newest, Reason: schema.ReasonUnitError}})
		r.until(r.now + time.Second)
	}
	if len(q.Failed) != 2 || q.Failed[0].ReqID != "resp1/f1" || q.Failed[1].ReqID != "resp1/f0" ||
		q.Failed[0].Reason != schema.ReasonUnitError {
		t.Errorf("failed: %+v", q.Failed)
	}
}
