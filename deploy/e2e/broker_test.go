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

// expectStillIn checks that a robot that refused something has not left its mode,
// not even for a moment.
func (w *world) expectStillIn(mode schema.ModeID, rid string) {
	w.t.Helper()
	// A ping is answered after all commands before it.
	w.mustRequest("op1", rid, "sys/ping", "")
	w.awaitState(rid, "in "+string(mode), func(s schema.State) bool {
		return s.Mode.Active == mode && s.Mode.Intended == mode && s.Mode.Phase == schema.PhaseRunning
	})
	for _, m := range w.observer.since(0, robotTopic(rid, "event")) {
		e, problems := schema.Decode[schema.Event]([]byte(m.Payload))
		if len(problems) == 0 && e.Type == "mode_changed" && strings.Contains(string(e.Data), `"to":"ato"`) {
			w.t.Errorf("%s was in ato: %s", rid, m)
		}
	}
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
