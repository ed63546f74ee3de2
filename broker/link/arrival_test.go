package link

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// arrived is a message as the library hands it over.
type arrived struct {
	mqtt.Message
	topic string
}

func (a arrived) Topic() string   { return a.topic }
func (a arrived) Payload() []byte { return nil }
func (a arrived) Qos() byte       { return 1 }
func (a arrived) Retained() bool  { return false }
func (a arrived) Duplicate() bool { return false }

// A stop that arrives while the session is not up yet overtakes what waits for
// it, and must be seen to be the younger of the two.
func TestWhatWaitsForItsSessionIsOlderThanTheStopAfterIt(t *testing.T) {
	c := Config{Queue: 4, Logger: slog.New(slog.DiscardHandler), Urgent: func(topic string) bool { return strings.HasSuffix(topic, "/stop") }}
	s := &session{cfg: &c, sink: newDispatcher(c)}
	s.take(arrived{topic: "safety/enable"})
	s.take(arrived{topic: "safety/stop"})
	if len(s.held) != 1 || len(s.sink.urgent) != 1 {
		t.Fatalf("held %v, urgent %v", s.held, s.sink.urgent)
	}
	if enable, stop := s.held[0].N, s.sink.urgent[0].N; enable == 0 || enable >= stop {
		t.Errorf("the enable is numbered %d, the stop after it %d", enable, stop)
	}
}

func TestNoFloodOfOneStopShutsOutAnother(t *testing.T) {
	const limit = 8
	d := newDispatcher(Config{Queue: limit})
	for range 3 * limit {
		d.first(Message{Topic: "manual/stop", N: d.number()})
	}
	if d.first(Message{Topic: "safety/estop", N: d.number()}) {
		t.Error("the queue is said not to be full")
	}
	for range 3 * limit {
		d.first(Message{Topic: "manual/stop", N: d.number()})
	}
	last := d.n
	if len(d.urgent) != limit+1 {
		t.Fatalf("%d wait, at most %d and one for each topic may", len(d.urgent), limit)
	}
	if newest := d.urgent[limit]; newest.Topic != "manual/stop" || newest.N != last {
		t.Errorf("the newest on its topic was let go: %+v", newest)
	}
	if !slices.ContainsFunc(d.urgent, func(m Message) bool { return m.Topic == "safety/estop" }) {
		t.Error("a flood of manual/stop shut out an estop")
	}
}
