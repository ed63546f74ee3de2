package e2e

import (
	"strings"
	"testing"

	"troupe/schema"
)

func TestRetainedCommandIsRefusedWithANotice(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		topic := robotTopic("r1", "cmd/op1/mode/set")
		mark := w.observer.mark()
		w.publish("op1", topic, "str", "-r")
		awaitDocumentAfter(w, mark, schema.DefaultNamespace.Topic(schema.TopicNotice, "op1"), "the notice to op1", func(n schema.Notice) bool {
			return n.Reason == schema.ReasonRetainedCommand && n.Topic == topic
		})
		if seen := w.observer.since(mark, topic); len(seen) > 0 {
			w.t.Errorf("the command reached subscribers: %v", seen)
		}
		w.expectStillIn(schema.ModeMnl, "r1")
	})
}

func TestBrokerWhosePortIsTakenExits(t *testing.T) {
	t.Parallel()
	address := takenAddress(t)
	p := launch(t, "broker", program(t, "broker"), []string{"--dev", "--mqtt", address, "--http", ""}, nil)
	p.ignoreExit = true
	if code := p.wait(); code != 1 || !p.log.contains(address) {
		t.Errorf("ended with status %d", code)
	}
	if p.log.contains("ready mqtt") || !strings.Contains(p.log.String(), "in use") {
		t.Error("its log does not say so")
	}
}
