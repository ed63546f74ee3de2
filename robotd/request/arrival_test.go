package request

import (
	"strings"
	"testing"

	"troupe/schema"
)

func TestOversizedCommandIsRefusedUnread(t *testing.T) {
	s, _ := Restore(1, nil, nil)
	out := Step(s, Now{}, Arrival{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"k1","why":"` + strings.Repeat("x", 9000) + `"}`)}, nil)
	if a := out[0].(SendAck).Ack; len(out) != 1 || a.Reason != schema.ReasonTooBig || a.Status != schema.StatusRejected || a.ID != nil {
		t.Errorf("got %+v", out)
	}
}

func TestMalformedPayloadIsQuotedTruncated(t *testing.T) {
	s, _ := Restore(1, nil, nil)
	payload := []byte("{\xff\xfe" + strings.Repeat("y", 200))
	a := Step(s, Now{}, Arrival{Client: "op1", Group: "mode", Verb: "set", Payload: payload}, nil)[0].(SendAck).Ack
	if a.Reason != schema.ReasonBadRequest || strings.Count(a.Detail, "y") < 60 || strings.Count(a.Detail, "y") > 70 || !strings.Contains(a.Detail, `\xff`) {
		t.Errorf("got %q", a.Detail)
	}
	if b, err := schema.Encode(&a); err != nil || len(b) > schema.TopicOf(schema.TopicAck).MaxBytes {
		t.Errorf("the answer has %d bytes, %v", len(b), err)
	}
}

func TestPerformCarriesLocal(t *testing.T) {
	for _, local := range []bool{true, false} {
		s, _ := Restore(1, nil, nil)
		Step(s, Now{}, Arrival{Client: "op1", Group: "safety", Verb: "reset", Payload: []byte(`{"id":"k1"}`), Local: local}, nil)
		out := Step(s, Now{}, Saved{Keys: []Key{"op1/k1"}}, nil)
		if p := out[0].(Perform); p.Local != local {
			t.Errorf("command with local %v was performed with local %v", local, p.Local)
		}
	}
}
