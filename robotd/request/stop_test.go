package request

import (
	"testing"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// A newer fleetd may send fields that this robot does not know.
func TestMalformedStopStillLatches(t *testing.T) {
	for payload, want := range map[string]string{
		`{"args":{"latch":"fire"}}`:                          "fire",
		`{"id":"k1","mood":"angry","args":{"latch":"fire"}}`: "fire",
		`{"id":"a b","ttl_ms":-1,"args":{"latch":"fire"}}`:   "fire",
		`{"args":{"latch":"fire","gently":true}}`:            "fire",
		`{"args":{"latch":7}}`:                               "",
		`{{{`:                                                "",
		``:                                                   "",
	} {
		s := Restore(1, nil, nil)
		out := s.at(clock.Now{}, arrives(event.Command{Client: "op1", Group: "safety", Verb: "stop", Payload: []byte(payload)}))
		p, ok := out[0].(effect.Dispatch)
		if !ok || p.Args.(verb.Stop).Latch != want || p.If != (schema.Precondition{}) {
			t.Errorf("%s: %+v", payload, out[0])
		}
	}
}
