package request

import (
	"strings"
	"testing"

	"troupe/robotd/clock"
	"troupe/robotd/event"
	"troupe/schema"
)

func TestOversizedCommandIsRefusedUnread(t *testing.T) {
	s := Restore(1, nil, nil)
	out := s.at(clock.Now{}, arrives(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"k1","why":"` + strings.Repeat("x", 9000) + `"}`)}))
	if a := out[0].(SendAck).Ack; len(out) != 1 || a.Reason != schema.ReasonTooBig || a.Status != schema.StatusRejected || a.ID != nil {
		t.Errorf("got %+v", out)
	}
}

func TestMalformedPayloadIsQuotedTruncated(t *testing.T) {
	s := Restore(1, nil, nil)
	payload := []byte("{\xff\xfe" + strings.Repeat("y", 200))
	a := s.at(clock.Now{}, arrives(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: payload}))[0].(SendAck).Ack
	if a.Reason != schema.ReasonBadRequest || strings.Count(a.Detail, "y") < 60 || strings.Count(a.Detail, "y") > 70 || !strings.Contains(a.Detail, `\xff`) {
		t.Errorf("got %q", a.Detail)
	}
	if b, err := schema.Encode(&a); err != nil || len(b) > schema.TopicOf(schema.TopicAck).MaxBytes {
		t.Errorf("the answer has %d bytes, %v", len(b), err)
	}
}
