package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/broker/access"
	"troupe/schema"
)

func TestBareWordAndJSONHaveTheSameEffect(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#"))
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		for _, mode := range []string{"mnl", "dance", "ato"} {
			word := w.request("op1", "r1", "mode/set", mode)
			object := w.request("op1", "r1", "mode/set", fmt.Sprintf(`{"x_ticket":{"n":7},"args":{"mode":%q,"x_colour":"blue"}}`, mode))
			if word.Status != object.Status || word.Result != object.Result || word.Reason != object.Reason || word.Detail != object.Detail {
				w.t.Errorf("%s as a word: %s\nas JSON: %s", mode, jsonText(word), jsonText(object))
			}
		}
		if a := w.request("op1", "r1", "manual/say", "\ufeffhello"); a.Reason != schema.ReasonBadRequest {
			w.t.Errorf("a byte order mark before a word: %s", jsonText(a))
		}
	})
}

func TestExpiredCommandIsNotExecuted(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		awaitDocumentAfter(w, 0, robotTopic("r1", "heartbeat"), "the fleet's time on the robot", func(h schema.Heartbeat) bool { return h.Clock.Known })
		sent := func(age time.Duration) schema.Ack {
			return w.request("op1", "r1", "mode/set", fmt.Sprintf(`{"ts":%q,"args":{"mode":"mnl"}}`, schema.TimeOf(time.Now().Add(-age))))
		}
		if a := sent(31 * time.Second); a.Status != schema.StatusExpired || a.Reason != schema.ReasonExpired {
			w.t.Errorf("sent 31 s ago: %s", jsonText(a))
		}
		if a := sent(0); a.Status != schema.StatusSucceeded || a.UncheckedAge {
			w.t.Errorf("sent now: %s", jsonText(a))
		}
	})
}

// Our own broker refuses the command with a notice; on another broker the robot
// refuses it.
func TestTooLongCommandKeepsTheConnection(t *testing.T) {
	runIn(t, []variant{mosquitto}, func(w *world) {
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

// A refused request changes nothing: the states before and after it differ only in
// the last request.
func TestRefusedModeIsShownOnlyInTheLastRequest(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.mustRequest("op1", "r1", "mode/set", "mnl")
		before := w.awaitState("r1", "that mnl was asked for", func(s schema.State) bool { return s.LastReq != nil && s.LastReq.FirstArgument == "mnl" })
		for _, mode := range []string{"dance", "ato"} {
			if a := w.request("op1", "r1", "mode/set", mode); a.Status != schema.StatusRejected {
				w.t.Fatalf("%s: %s", mode, jsonText(a))
			}
			after := w.awaitState("r1", "that "+mode+" was asked for", func(s schema.State) bool { return s.LastReq != nil && s.LastReq.FirstArgument == mode })
			if got, want := comparableState(after), comparableState(before); got != want {
				w.t.Errorf("%s was refused, and\n%s\nbecame\n%s", mode, want, got)
			}
		}
	})
}

// comparableState encodes the state without the fields that a refused request may
// change.
func comparableState(s schema.State) string {
	s.TS, s.StateSeq, s.LastReq = 0, 0, nil
	s.Link.Since, s.Life.Since = 0, 0 // computed from two clocks, which sometimes differ by a millisecond
	return jsonText(s)
}

// A subscriber receives the state that an answer refers to before that answer.
func TestSuccessIsAnsweredAfterTheStateThatShowsIt(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitActiveStory("r1", w.setDesiredStory("r1", 1, "round", "nod", "smile"))
		mark := w.observer.mark()
		for _, c := range []struct{ verb, word string }{
			{"mode/set", "ato"}, {"safety/enable", ""}, {"auto/pause", ""}, {"auto/continue", ""}, {"safety/stop", ""}, {"mode/set", "mnl"}, {"control/acquire", "manual"}, {"manual/volume", "0.5"},
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
