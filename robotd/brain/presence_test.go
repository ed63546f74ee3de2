package brain

import (
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// A presence that is repaired is still about the same connection.
func TestRepairedPresenceSaysSinceWhenTheConnectionExists(t *testing.T) {
	r := newRig(t)
	var got []schema.Presence
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicPresence {
			d, problems := schema.Decode[schema.Presence](p.Payload)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got = append(got, d)
		}
	}
	r.boot()
	r.give(event.Connected{Session: "s"})
	connected := r.wall().Wall
	r.until(r.now + 10*time.Second)
	r.give(event.PresenceSeen{Presence: schema.Presence{State: schema.PresenceLost, Session: "s0", Boot: "b0"}})
	if len(got) != 1 || got[0].Since != connected || !got[0].TS.Time().After(connected.Time()) {
		t.Errorf("published %+v, want it since %v", got, connected)
	}
}
