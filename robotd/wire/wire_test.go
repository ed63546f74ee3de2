package wire

import (
	"log/slog"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/robotd/event"
	"troupe/schema"
)

func TestNoticeAboutAnotherClientIsNoDroppedMessage(t *testing.T) {
	for _, c := range []struct {
		notice schema.Notice
		want   bool
	}{
		{schema.Notice{TS: 1, Reason: schema.ReasonForbidden, Detail: "a client of role operator tried to connect with this name"}, false},
		{schema.Notice{TS: 1, Reason: schema.ReasonForbidden, Topic: "troupe/v1/robots/r2/state"}, true},
		{schema.Notice{TS: 1, Reason: schema.ReasonOverloaded}, true},
		{schema.Notice{TS: 1, Reason: schema.ReasonTakenOver}, false},
	} {
		payload, err := schema.Encode(&c.notice)
		if err != nil {
			t.Fatal(err)
		}
		m := link.Message{Topic: schema.DefaultNamespace.Topic(schema.TopicNotice, "r1"), Payload: payload}
		_, got := Event(schema.DefaultNamespace, m, time.Time{}, slog.New(slog.DiscardHandler)).(event.MessageDropped)
		if got != c.want {
			t.Errorf("%+v: %v", c.notice, got)
		}
	}
}
