package brain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// TestOnlyCommandsThatPermitMotionLimitItsTime dispatches commands whose time to live ends soon.
func TestOnlyCommandsThatPermitMotionLimitItsTime(t *testing.T) {
	for _, c := range []struct {
		group, name string
		left, want  time.Duration
	}{
		{"safety", "enable", 200 * time.Millisecond, 200 * time.Millisecond},
		{"manual", "goto", 200 * time.Millisecond, 200 * time.Millisecond},
		{"auto", "continue", 200 * time.Millisecond, 200 * time.Millisecond},
		{"sys", "ack-fault", 200 * time.Millisecond, 200 * time.Millisecond},
		{"safety", "enable", time.Millisecond, commandTime},
		{"safety", "enable", time.Minute, stepTime},
		{"sys", "replay", 200 * time.Millisecond, stepTime},
		{"manual", "say", 200 * time.Millisecond, stepTime},
		{"control", "renew", 200 * time.Millisecond, stepTime},
		{"manual", "stop", 200 * time.Millisecond, stepTime},
	} {
		r := newRig(t)
		r.boot()
		s := step{State: r.s, now: r.wall()}
		s.motionUntil = s.now.Mono + stepTime
		s.limitMotion(effect.Dispatch{Verb: verb.Must(c.group, c.name), Expires: s.now.Mono + c.left})
		if got := s.motionUntil - s.now.Mono; got != c.want {
			t.Errorf("%s/%s with %v left: motion may begin for %v, want %v", c.group, c.name, c.left, got, c.want)
		}
	}
}

// TestCommandWithoutTSIsNotBegunAfterItsTTL lets the robot's loop or its connection hang at
// random moments. Whatever was sent then arrives in one burst, in its order.
func TestCommandWithoutTSIsNotBegunAfterItsTTL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t)
		answers := map[string]schema.Ack{}
		r.sent = func(p effect.Publish) {
			var a schema.Ack
			if p.Topic == schema.TopicAck && json.Unmarshal(p.Payload, &a) == nil && a.ID != nil && a.Status.Final() {
				answers[*a.ID] = a
			}
		}
		r.bootConnected("s1")

		ms := func(name string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * time.Millisecond
		}
		connection := rapid.Bool().Draw(t, "the connection hangs, not the loop")
		from := ms("it hangs at", 3000, 5000)
		to := from + ms("for", 0, 12_000)
		sent := ms("sent at", 2500, int(to.Milliseconds())+4000)
		ttl := ms("ttl", 1, 6000)
		verb := rapid.SampledFrom([]string{"enable", "enable", "stop"}).Draw(t, "verb")

		type message struct {
			sent time.Duration
			ev   event.Event
		}
		all := []message{{sent, event.Command{Client: "op1", Group: "safety", Verb: verb, Payload: fmt.Appendf(nil, `{"id":"k1","ttl_ms":%d}`, ttl.Milliseconds())}}}
		for at := ms("first heartbeat", 1000, 1999); at < to+5*time.Second; at += time.Second {
			r.beatSeq++
			all = append(all, message{at, event.Heartbeat{Client: "fleetd", Beat: schema.FleetHeartbeat{TS: epoch.Add(at), Session: "fleetd",
				Seq: r.beatSeq}}})
		}
		slices.SortStableFunc(all, func(a, b message) int { return int(a.sent - b.sent) })
		for _, m := range all {
			at := m.sent
			if at >= from && at < to {
				at = to
			}
			if !connection && r.now < from && at >= from { // the loop does not run meanwhile
				r.until(from)
				r.now = to
			}
			r.until(max(at, r.now))
			r.give(m.ev)
		}
		r.until(r.now + time.Second)

		held, seen := time.Duration(0), 1500*time.Millisecond // a shorter silence is no gap
		if sent >= from && sent < to {
			held = to - sent
		}
		if !connection {
			seen = 500 * time.Millisecond
		}
		a := answers["k1"]
		switch {
		case verb == "stop":
			if a.Status != schema.StatusSucceeded {
				t.Fatalf("a stop held up for %v: %+v", held, a)
			}
		case held > max(ttl, seen) && a.Status != schema.StatusExpired:
			t.Fatalf("ttl %v, held up for %v: %+v", ttl, held, a)
		case held == 0 && (sent < from || sent >= to+time.Second) && a.Status == schema.StatusExpired:
			t.Fatalf("ttl %v, not held up: %+v", ttl, a)
		}
	})
}

func TestCommandAgeIncludesItsWaitInsideRobotd(t *testing.T) {
	r := newRig(t)
	var last schema.Ack
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicAck {
			_ = json.Unmarshal(p.Payload, &last)
		}
	}
	r.boot()
	r.give(event.Connected{Session: "s1"})
	r.until(5 * time.Second)
	for read, want := range map[time.Duration]schema.Status{r.now - 999*time.Millisecond: schema.StatusSucceeded,
		r.now - 1001*time.Millisecond: schema.StatusExpired} {
		r.give(event.Command{Client: "op1", Group: "sys", Verb: "ping", Payload: []byte(`{"id":"k1","ttl_ms":1000}`), Read: read})
		if last.Status != want {
			t.Errorf("read at %v, judged at %v: %+v", read, r.now, last)
		}
	}
}
