package brain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/robotd/event"
	"troupe/schema"
)

// TestRecordingThatCanNeverBeKeptEnds records more than an act may have, and stops twice.
func TestRecordingThatCanNeverBeKeptEnds(t *testing.T) {
	r := newRig(t)
	got := acks(r)
	ask := func(verb, id, args string) {
		group, name, _ := strings.Cut(verb, "/")
		r.give(event.Command{Client: "op1", Group: group, Verb: name, Payload: []byte(`{"id":"` + id + `","args":` + args + `}`)})
		r.until(r.now + 100*time.Millisecond)
	}
	r.boot()
	r.give(event.Connected{Session: "s"})
	r.until(time.Second)
	ask("control/acquire", "c1", `{"ttl_ms":60000}`)
	ask("manual/act-record", "r1", `{"do":"start","act":"speech"}`)
	for i := range 40 {
		ask("manual/say", fmt.Sprint("s", i), `{"text":"`+strings.Repeat("word ", 190)+`"}`)
	}
	ask("manual/act-record", "r2", `{"do":"stop"}`)
	if a := got["r2"]; a.Reason != schema.ReasonTooBig || !strings.HasSuffix(a.Detail, "the recording has ended, and nothing is kept") {
		t.Errorf("the stop was answered %s %s (%s)", a.Status, a.Reason, a.Detail)
	}
	ended := 0
	for _, raw := range r.events {
		if strings.Contains(string(raw), `"act_recording_ended"`) && strings.Contains(string(raw), `"too_big"`) {
			ended++
		}
	}
	if ended != 1 {
		t.Errorf("%d events say that the recording ended because it is too big, want 1", ended)
	}
	ask("manual/act-record", "r3", `{"do":"stop"}`)
	if a := got["r3"]; a.Reason != schema.ReasonInvalidTransition {
		t.Errorf("the second stop was answered %s %s (%s)", a.Status, a.Reason, a.Detail)
	}
}
