package brain

import (
	"testing"

	"github.com/go-json-experiment/json"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// fleetd learns from one robot that a live stop means all of them.
func TestStateShowsThatALiveStopMeansAll(t *testing.T) {
	for payload, want := range map[string]bool{
		``:                             true,
		`{{{`:                          true,
		`{"id":"k1"}`:                  true,
		`{"id":"k1","robots":["r1"]}`:  false,
		`{"labels":{"site":"museum"}}`: false,
	} {
		r := newRig(t)
		var last schema.State
		r.sent = func(p effect.Publish) {
			if p.Topic == schema.TopicState {
				last = schema.State{}
				if err := json.Unmarshal(p.Payload, &last); err != nil {
					t.Error(err)
				}
			}
		}
		for range 2 { // and after a restart
			r.boot()
			r.give(event.Connected{Session: "s1"})
			if len(last.Safety.Latches) == 0 {
				r.give(event.LiveStop{Client: "wall1", Payload: []byte(payload)})
			}
			r.until(r.now + 1e9)
			if l := last.Safety.Latches; len(l) != 1 || l[0].All != want {
				t.Errorf("%q: the state shows %+v", payload, l)
			}
		}
	}
}
