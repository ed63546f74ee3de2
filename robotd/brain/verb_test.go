package brain

import (
	"slices"
	"strings"
	"testing"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestEveryVerbInCapsIsAnswered asks for each verb of the table: none is
// unknown to this robot, and caps lists them all.
func TestEveryVerbInCapsIsAnswered(t *testing.T) {
	r := newRig(t)
	var caps schema.Caps
	var answer schema.Ack
	r.sent = func(p effect.Publish) {
		switch p.Topic {
		case schema.TopicCaps:
			caps, _ = schema.DecodeStrict[schema.Caps](p.Payload)
		case schema.TopicAck:
			answer, _ = schema.DecodeStrict[schema.Ack](p.Payload)
		}
	}
	r.boot()
	r.give(event.Connected{Session: "s1"})
	if got, want := strings.Join(caps.Verbs, " "), strings.Join(append(schema.VerbIDs(), "manual/velocity"), " "); got != want {
		t.Errorf("caps lists %s\nthe table has %s", got, want)
	}
	for _, v := range schema.Verbs {
		args := ""
		for i, a := range v.Args {
			if a.Required || v.ID() == "act/perform" && i == 0 { // which takes actions instead of it, too
				value := map[schema.ArgType]string{schema.ArgBoolean: "true", schema.ArgInteger: "1", schema.ArgNumber: "1", schema.ArgUUID: `"b108326f-f261-4a6b-ad48-fee8efb991ba"`}[a.Type]
				if value == "" {
					value = `"x"`
				}
				args += `"` + a.Name + `":` + value + ","
			}
		}
		answer = schema.Ack{}
		r.give(event.Command{Client: "op1", Group: v.Group, Verb: v.Name, Payload: []byte(`{"id":"` + v.Group + "." + v.Name + `","args":{` + strings.TrimSuffix(args, ",") + `}}`)})
		r.until(r.now + 2*r.cfg.AtLatest)
		if answer.Verb != v.ID() || answer.Reason == schema.ReasonUnknownVerb || answer.Reason == schema.ReasonBadRequest {
			t.Errorf("%s was answered %s %s %s (%s)", v.ID(), answer.Verb, answer.Status, answer.Reason, answer.Detail)
		}
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
	for _, v := range schema.Verbs {
		var want []string
		for _, a := range v.Args {
			want = append(want, a.Name)
		}
		if got := caps.Arguments[v.ID()]; !slices.Equal(got, want) {
			t.Errorf("%s takes %v, caps list %v", v.ID(), want, got)
		}
	}
	for verb := range caps.Arguments {
		if !slices.Contains(caps.Verbs, verb) {
			t.Errorf("caps list arguments of %s, and not the verb", verb)
		}
	}
}
