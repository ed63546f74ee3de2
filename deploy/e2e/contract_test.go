package e2e

import (
	"strings"
	"testing"

	"troupe/broker/access"
	"troupe/schema"
)

// Our own broker refuses the command with a notice; on another broker the robot
// refuses it.
func TestTooLongCommandKeepsTheConnection(t *testing.T) {
	runIn(t, []variant{mosquitto, nats}, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#"))
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		mark := w.observer.mark()
		a := w.request("op1", "r1", "mode/set", `{"id":"k1","why":"`+strings.Repeat("x", 9<<10)+`","args":{"mode":"mnl"}}`)
		if a.Status != schema.StatusRejected || a.Reason != schema.ReasonTooBig {
			w.t.Errorf("a command of 9 KiB: %s", jsonText(a))
		}
		if b := w.mustRequest("op1", "r1", "mode/set", "mnl"); b.Session != a.Session {
			w.t.Errorf("answered in session %s, then in %s", a.Session, b.Session)
		}
		if seen := w.observer.since(mark, robotTopic("r1", "presence")); len(seen) > 0 {
			w.t.Errorf("meanwhile the presence was %v", seen)
		}
	})
}

// A subscriber receives the state that an answer refers to before that answer.
func TestSuccessIsAnsweredAfterTheStateThatShowsIt(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitActiveStory("r1", w.setDesiredStory("r1", 1, "round", "nod", "smile"))
		mark := w.observer.mark()
		for _, c := range []struct{ verb, word string }{
			{"mode/set", "ato"}, {"safety/enable", ""}, {"auto/pause", ""}, {"auto/continue", ""}, {"safety/stop", ""}, {"mode/set", "mnl"},
			{"control/acquire", "manual"}, {"manual/volume", "0.5"},
		} {
			w.mustRequest("op1", "r1", c.verb, c.word)
		}
		awaitDocumentAfter(w, mark, robotTopic("r1", "ack/op1"), "the last answer", func(a schema.Ack) bool { return a.Verb == "manual/volume" })
		var newest int64
		answers := 0
		for _, m := range w.observer.since(mark, robotTopic("r1", "#")) {
			switch {
			case m.Topic == robotTopic("r1", "state"):
				s, _ := schema.Decode[schema.State]([]byte(m.Payload))
				newest = max(newest, s.StateSeq)
			case access.Matches(robotTopic("r1", "ack/+"), m.Topic):
				a, _ := schema.Decode[schema.Ack]([]byte(m.Payload))
				if a.Status != schema.StatusSucceeded {
					continue
				}
				if answers++; a.StateSeq == 0 || a.StateSeq > newest {
					w.t.Errorf("%s was published when the newest state was %d", m.Payload, newest)
				}
			}
		}
		if answers < 8 {
			w.t.Errorf("%d answers were seen", answers)
		}
	})
}
