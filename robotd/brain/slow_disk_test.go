package brain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestSlowDiskAnswersEachStopWhenItIsKept sends stops faster than a healthy disk writes:
// each write takes 400 ms, which is less than a disk that hangs.
func TestSlowDiskAnswersEachStopWhenItIsKept(t *testing.T) {
	for name, stop := range map[string]func(id string) event.Event{
		"live": func(id string) event.Event {
			return event.LiveStop{Client: "op1", Payload: fmt.Appendf(nil, `{"id":%q}`, id)}
		},
		"command": func(id string) event.Event {
			return event.Command{Client: "op1", Group: "safety", Verb: "stop", Payload: fmt.Appendf(nil, `{"id":%q,"args":{"latch":%q}}`, id, id)}
		},
	} {
		r := newRig(t)
		answers := map[string]schema.Ack{}
		r.sent = func(p effect.Publish) {
			var a schema.Ack
			if p.Topic == schema.TopicAck && json.Unmarshal(p.Payload, &a) == nil && a.ID != nil {
				answers[*a.ID] = a
			}
		}
		r.bootConnected("s1")
		r.diskStuck = true
		began, first := r.now, int64(0)
		for _, step := range []struct {
			at       time.Duration
			asked    string
			saved    int64  // writes, counted from the first stop's
			answered string // by now
			lost     bool   // with a restart, the answer says
		}{
			{at: 0, asked: "k1"},
			{at: 300 * time.Millisecond, asked: "k2"},
			{at: 400 * time.Millisecond, saved: 1, answered: "k1"},
			{at: 410 * time.Millisecond, asked: "k3"},
			{at: 800 * time.Millisecond, saved: 2, answered: "k2"},
			{at: 1200 * time.Millisecond, saved: 3, answered: "k3"},
			{at: 2 * time.Second, asked: "k4"},
			{at: 2510 * time.Millisecond, answered: "k4", lost: true}, // now it hangs
		} {
			r.until(began + step.at)
			was := len(answers)
			switch {
			case step.asked != "":
				r.give(stop(step.asked))
				if first == 0 {
					first, _ = r.s.latches.Writes()
				}
				r.until(r.now + time.Millisecond)
			case step.saved > 0:
				r.give(event.LatchesSaved{N: first + step.saved - 1})
			}
			a := answers[step.answered]
			if len(answers) != was && step.answered == "" || step.answered != "" && (a.Status != schema.StatusSucceeded ||
				strings.Contains(a.Detail, "disk does not have") != step.lost) {
				t.Errorf("%s, at %v: %d answers, %+v", name, step.at, len(answers), a)
			}
		}
	}
}
