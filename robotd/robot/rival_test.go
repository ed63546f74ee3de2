package robot

import (
	"testing"

	"troupe/broker/link"
	"troupe/schema"
)

func TestSecondRobotWithTheSameNameIsDetected(t *testing.T) {
	p := &mqttTranslator{ns: schema.DefaultNamespace, id: "r1", boot: "now", boots: []string{"before", "now"}}
	presence := func(s schema.PresenceState, boot string) link.Message {
		return p.presence(&schema.Presence{State: s, Session: "s", Boot: boot})
	}
	notice := func(r schema.Reason) link.Message {
		payload, err := schema.Encode(schema.Notice{Reason: r})
		if err != nil {
			t.Fatal(err)
		}
		return link.Message{Topic: p.ns.Topic(schema.TopicNotice, p.id), Payload: payload}
	}
	for name, c := range map[string]struct {
		m     link.Message
		proof bool
	}{
		"another run is there":         {presence(schema.PresenceOnline, "other"), true},
		"another run was lost":         {presence(schema.PresenceLost, "other"), true},
		"another run ended in order":   {presence(schema.PresenceOffline, "other"), false},
		"its own will":                 {presence(schema.PresenceLost, "now"), false},
		"its own earlier run":          {presence(schema.PresenceOnline, "before"), false},
		"a presence without a run":     {presence(schema.PresenceOnline, ""), false},
		"an empty presence":            {p.message(schema.TopicPresence, "", nil), false},
		"the broker ended it for one":  {notice(schema.ReasonTakenOver), true},
		"the broker refused a message": {notice(schema.ReasonOverloaded), false},
		"a message of another topic":   {link.Message{Topic: "elsewhere", Payload: []byte(`{"reason":"taken_over"}`)}, false},
	} {
		if got := p.rival(c.m); got != c.proof {
			t.Errorf("%s: %v", name, got)
		}
	}
}
