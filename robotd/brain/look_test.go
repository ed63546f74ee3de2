package brain

import (
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode/follow"
	"troupe/schema"
)

// The key of a command comes back from an adapter as an integer of JSON, and those of calibrations
// begin at 1<<52. A command that does not hold is done for an adapter at once, and cannot be stopped.
func TestModeTurnsTheHeadByACommandThatCanBeAnsweredAndStopped(t *testing.T) {
	r := newRig(t)
	r.cfg.Mode.Modes = append(r.cfg.Mode.Modes, follow.Mode.Settings)
	looks := 0
	r.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			if s, ok := e.(effect.Start); ok && s.Unit == "head" && r.s.modes.Mode().Active == follow.Mode.ID {
				looks++
				if s.Key >= 1<<52 || !s.Holds {
					t.Errorf("the head is turned under the key %d, holds %v", s.Key, s.Holds)
				}
			}
		}
	}
	answers := acks(r)
	r.beats = true
	r.beat(0)
	r.bootConnected("s")
	ask := func(group, verb, args string) {
		r.give(event.Command{Client: "op1", Group: group, Verb: verb, Payload: []byte(`{"id":"` + verb + `","args":` + args + `}`)})
		r.until(r.now + 100*time.Millisecond)
	}
	ask("safety", "enable", `{}`)
	ask("mode", "set", `{"mode":"follow"}`)
	r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.People, Level: 1, Bearing: 0.4}})
	r.until(r.now + time.Second)
	if looks == 0 {
		t.Errorf("the mode turned the head never; its request was answered %+v", answers["set"])
	}
	if s := answers["enable"].Status; s != schema.StatusSucceeded {
		t.Errorf("safety/enable was answered %+v", answers["enable"])
	}
}
