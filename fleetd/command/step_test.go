package command

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
)

func TestTableIsSound(t *testing.T) {
	ends := []State{Succeeded, Failed, Rejected, Cancelled, Superseded, Expired, Undelivered}
	for _, fault := range Table.Check(Queued, States, ends...) {
		t.Error(fault)
	}
	for _, s := range States {
		if s.Final() != slices.Contains(ends, s) {
			t.Errorf("%s: Final is %v, which contradicts the table", s, s.Final())
		}
		if len(Table.Accepts(s)) > 0 == s.Final() {
			t.Errorf("%s has the edges %v", s, Table.Accepts(s))
		}
	}
}

// anyEvent draws any event, also impossible ones.
func anyEvent(t *rapid.T, c Command, present bool) Event {
	n := Event{Present: present, Kind: rapid.SampledFrom([]EventKind{Begin, Wake, Wake, RobotOnline, RobotOffline, Answered, Answered,
		NoRecord, Shown}).Draw(t, "kind")}
	status := rapid.SampledFrom([]schema.Status{
		schema.StatusAccepted, schema.StatusAccepted, schema.StatusInProgress, schema.StatusInProgress, schema.StatusSucceeded,
		schema.StatusFailed,
		schema.StatusRejected, schema.StatusCancelled, schema.StatusExpired, schema.StatusSuperseded, "SOMETHING_NEW",
	}).Draw(t, "status")
	id := rapid.SampledFrom([]string{c.ID, c.ID, c.ID, "another"}).Draw(t, "id")
	switch n.Kind {
	case RobotOnline:
		n.Present = true
	case RobotOffline:
		n.Present = false
	case Answered:
		n.Answer = schema.Ack{ID: &id, Status: status}
	case Shown:
		n.Last = schema.LastRequest{ID: id, Status: status}
	}
	return n
}

func TestStepKeepsInvariantsForAnyEvents(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		verb := rapid.SampledFrom([]string{"mode/set", "safety/enable", "safety/stop", "sys/ping", "auto/start"}).Draw(rt, "verb")
		c := newCommand(t, verb)
		first := c
		now := morning
		present := rapid.Bool().Draw(rt, "present")
		sends := 0
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			if due, ok := Due(c, present); ok && rapid.Bool().Draw(rt, "wait until it is due") {
				now = later(now, due)
			} else {
				now = now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(rt, "ms")) * time.Millisecond)
			}
			n := anyEvent(rt, c, present)
			present = n.Present
			was := c
			var effects []Effect
			c, effects = Step(c, now, n)

			if was.State.Final() && (c.State != was.State || len(effects) > 0) {
				rt.Fatalf("%s is final and became %s with %v", was.State, c.State, effects)
			}
			if c.State.Final() == c.EndedAt.IsZero() {
				rt.Fatalf("%s ended at %v", c.State, c.EndedAt)
			}
			if c.State != was.State && !slices.Contains(effects, Save) {
				rt.Fatalf("%s to %s without saving", was.State, c.State)
			}
			if c.State != was.State && c.Because == "" {
				rt.Fatalf("%s without a reason", c.State)
			}
			if slices.Contains(effects, Send) {
				sends++
				if verb != "safety/stop" && (!present || !now.Before(c.ExpiresAt)) {
					rt.Fatalf("sent %s at %v, present %v, expires %v", verb, now, present, c.ExpiresAt)
				}
			}
			if slices.Contains(effects, Query) && (!present || verb == "sys/ping") {
				rt.Fatalf("asked about %s, present %v", verb, present)
			}
			if c.ID != first.ID || !bytes.Equal(c.Payload, first.Payload) || c.Robot != first.Robot {
				rt.Fatalf("the command was changed: %+v", c)
			}
			if c.State == Undelivered && c.Answer != nil {
				rt.Fatal("undelivered, though the robot answered it")
			}
			if due, ok := Due(c, present); ok && !due.After(now) {
				rt.Fatalf("%s is due at %v right after a step at %v", c.State, due, now)
			}
		}
		most := MaxSends
		if verb == "safety/stop" {
			most++
		}
		if sends > most || sends != c.Sends {
			rt.Fatalf("sent %d times, counted %d", sends, c.Sends)
		}
	})
}

// Without answers, every command to a connected robot settles.
func TestEveryCommandSettles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newCommand(t, rapid.SampledFrom([]string{"mode/set", "safety/stop", "sys/ping"}).Draw(rt, "verb"))
		c, _ = Step(c, morning, Event{Kind: Begin, Present: true})
		if rapid.Bool().Draw(rt, "acknowledged") {
			c, _ = Step(c, morning, Event{Kind: Answered, Present: true, Answer: schema.Ack{ID: &c.ID, Status: schema.StatusAccepted}})
		}
		now := morning
		for i := 0; ; i++ {
			due, ok := Due(c, true)
			if !ok {
				break
			}
			if i > 20 {
				rt.Fatalf("still %s and due at %v after %d steps", c.State, due, i)
			}
			now = due
			c, _ = Step(c, now, Event{Kind: Wake, Present: true})
		}
		if !c.State.Settled() || now.Sub(morning) > 2*time.Minute {
			rt.Fatalf("%s after %v", c.State, now.Sub(morning))
		}
	})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
