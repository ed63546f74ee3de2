package brain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// TestEveryVerbInCapsIsAnswered sends each example of every verb to a robot that is
// ready: none is malformed, a part of the robot takes each, and caps list all verbs.
func TestEveryVerbInCapsIsAnswered(t *testing.T) {
	for _, v := range verb.All {
		for _, payload := range v.Examples {
			r, acks := controlled(t)
			*acks = nil
			r.command(v.ID(), payload)
			r.until(r.now + 10*time.Second)
			if len(*acks) == 0 {
				t.Errorf("%s %q was not answered", v.ID(), payload)
			}
			for _, a := range *acks {
				if a.Reason == schema.ReasonUnknownVerb || a.Reason == schema.ReasonBadRequest {
					t.Errorf("%s %q was answered %s %s (%s)", a.Verb, payload, a.Status, a.Reason, a.Detail)
				}
			}
		}
	}
	var caps schema.Caps
	r := newRig(t)
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicCaps {
			caps, _ = schema.DecodeStrict[schema.Caps](p.Payload)
		}
	}
	r.boot()
	r.give(event.Connected{Session: "s1"})
	if got, want := strings.Join(caps.Verbs, " "), strings.Join(append(verb.IDs(), "manual/velocity"), " "); got != want {
		t.Errorf("caps list %s\nthe table has %s", got, want)
	}
}

// A sender leaves out what caps do not list, so they list exactly what this robot
// takes.
func TestCapsListTheArgumentsThatTheRobotTakes(t *testing.T) {
	r := newRig(t)
	var caps schema.Caps
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicCaps {
			caps, _ = schema.DecodeStrict[schema.Caps](p.Payload)
		}
	}
	r.boot()
	r.give(event.Connected{Session: "s1"})
	for _, v := range verb.All {
		var want []string
		for _, a := range v.Args() {
			want = append(want, a.Name)
		}
		if got := caps.Arguments[v.ID()]; !slices.Equal(got, want) {
			t.Errorf("%s takes %v, caps list %v", v.ID(), want, got)
		}
	}
	for id := range caps.Arguments {
		if !slices.Contains(caps.Verbs, id) {
			t.Errorf("caps list arguments of %s, and not the verb", id)
		}
	}
}
