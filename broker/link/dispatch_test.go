package link

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// libraryMessage is a message as the library passes it on.
type libraryMessage struct {
	mqtt.Message
	topic string
}

func (a libraryMessage) Topic() string   { return a.topic }
func (a libraryMessage) Payload() []byte { return nil }
func (a libraryMessage) Qos() byte       { return 1 }
func (a libraryMessage) Retained() bool  { return false }
func (a libraryMessage) Duplicate() bool { return false }

// A stop that arrives while the session is not up yet overtakes the messages that wait for
// it, and its number must show that it is newer.
func TestNumbersFollowTheOrderOfArrival(t *testing.T) {
	c := Config{Queue: 4, Logger: slog.New(slog.DiscardHandler), Urgent: func(topic string) bool { return strings.HasSuffix(topic, "/stop") }}
	s := &session{cfg: &c, dispatcher: newDispatcher(c)}
	s.handle(libraryMessage{topic: "safety/enable"})
	s.handle(libraryMessage{topic: "safety/stop"})
	if len(s.pending) != 1 || len(s.dispatcher.urgent) != 1 {
		t.Fatalf("held %v, urgent %v", s.pending, s.dispatcher.urgent)
	}
	if enable, stop := s.pending[0].N, s.dispatcher.urgent[0].N; enable == 0 || enable >= stop {
		t.Errorf("enable has number %d, the stop after it %d", enable, stop)
	}
}

func TestFloodOfOneStopDoesNotDisplaceAnother(t *testing.T) {
	const limit = 8
	d := newDispatcher(Config{Queue: limit})
	for range 3 * limit {
		d.pushUrgent(Message{Topic: "manual/stop", N: d.nextNumber()})
	}
	if d.pushUrgent(Message{Topic: "safety/estop", N: d.nextNumber()}) {
		t.Error("the queue is not reported as full")
	}
	for range 3 * limit {
		d.pushUrgent(Message{Topic: "manual/stop", N: d.nextNumber()})
	}
	last := d.lastNumber
	if len(d.urgent) != limit+1 {
		t.Fatalf("%d messages wait: want at most %d and one for each topic", len(d.urgent), limit)
	}
	if newest := d.urgent[limit]; newest.Topic != "manual/stop" || newest.N != last {
		t.Errorf("the newest message of its topic was dropped: %+v", newest)
	}
	if !slices.ContainsFunc(d.urgent, func(m Message) bool { return m.Topic == "safety/estop" }) {
		t.Error("a flood of manual/stop displaced an estop")
	}
}

// presenceMessage is a message on the topic of the session's own presence.
type presenceMessage struct {
	libraryMessage
	payload  string
	retained bool
}

func (m presenceMessage) Payload() []byte { return []byte(m.payload) }
func (m presenceMessage) Retained() bool  { return m.retained }

// A presence that overwrites the session's own before the session is up has to reach the user, who
// corrects it.
func TestOverwrittenPresenceIsHandedOverWhenTheSessionIsUp(t *testing.T) {
	c := Config{Queue: 8, Logger: slog.New(slog.DiscardHandler), Urgent: func(string) bool { return false }}
	s := &session{cfg: &c, dispatcher: newDispatcher(c), presence: &Message{Topic: "presence", Payload: []byte("own")},
		echoed: make(chan struct{})}
	receive := func(payload string, retained bool) {
		s.handle(presenceMessage{libraryMessage{topic: "presence"}, payload, retained})
	}
	receive("earlier", true)
	receive("own", false)
	receive("own", false) // repeated
	receive("lost", false)
	if len(s.pending) != 1 || string(s.pending[0].Payload) != "lost" {
		t.Errorf("handed over: %+v", s.pending)
	}
}
