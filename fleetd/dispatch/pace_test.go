package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/store"
	"troupe/schema"
)

// fleetOf adds robots, and issues a command to all of them.
func (w *world) fleetOf(robots int, verb string, ttl time.Duration) *dispatch.Handle {
	w.Helper()
	var ids []string
	var targets []command.Target
	for i := range robots {
		ids = append(ids, fmt.Sprintf("f%04d", i))
		targets = append(targets, command.Target{Robot: ids[i], Present: true})
	}
	w.Tx(func(tx *store.Tx) error {
		_, err := tx.AddRobots(context.Background(), ids, time.Now())
		return err
	})
	x, problems := command.Expand(command.Request{Verb: verb, TTL: ttl}, targets, time.Now().Truncate(time.Microsecond), func() string {
		w.n++
		return fmt.Sprintf("c%d", w.n)
	})
	if len(problems) > 0 {
		w.Fatal(problems)
	}
	h, err := w.Issue(context.Background(), x.Batch, x.Commands, false)
	if err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
	return h
}

// idOf is the id of a command by its payload.
func idOf(payload string) string {
	_, id, _ := strings.Cut(payload, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// The batch takes longer than its time to live, which each command has from its own sending.
func TestBatchForAFleetGoesOutAsRobotsAnswer(t *testing.T) {
	const robots, ttl, answerAfter, silent = 3000, 2 * time.Second, 1500 * time.Millisecond, "f2999"
	inWorld(t, func(w *world) {
		h := w.fleetOf(robots, "sys/ping", ttl)
		first := len(w.sents("sys/ping"))
		if first == 0 || first > 1000 {
			t.Fatalf("%d commands are under way before any is answered", first)
		}
		w.issue("f2998", "safety/stop") // a robot whose turn comes last
		if stops := w.sents("safety/stop"); len(stops) != 1 || len(w.sents("sys/ping")) != first {
			t.Errorf("%d stops sent while the batch waits, and %d commands", len(stops), len(w.sents("sys/ping")))
		}
		answered, rounds := 0, 0
		for ; answered < robots-1 && rounds < 20; rounds++ {
			w.Sleep(answerAfter)
			pings := w.sents("sys/ping")
			for _, m := range pings[answered:] {
				if m.robot == silent {
					continue
				}
				id := idOf(m.payload)
				w.ReceiveAnswer(m.robot, schema.Ack{
					ID: &id, Status: schema.StatusSucceeded, Session: "s", Verb: "sys/ping", TS: schema.TimeOf(time.Now()),
				})
			}
			answered = len(pings)
			synctest.Wait()
		}
		if lasted := time.Since(w.began); lasted < 2*ttl || rounds > 4 {
			t.Errorf("answered after %v, in %d rounds: want more than twice the time to live, and rounds that grow", lasted, rounds)
		}
		last := time.Duration(0)
		for _, m := range w.sents("sys/ping") {
			sentAt := schema.TimeOf(w.began.Add(m.after)).String()
			if m.after > ttl && !strings.Contains(m.payload, `"ts":"`+sentAt+`"`) {
				t.Fatalf("sent at %s: %s", sentAt, m.payload)
			}
			if m.robot == silent {
				last = m.after
			}
		}
		states := map[command.State]int{}
		w.Sleep(time.Until(w.began.Add(last + ttl - time.Millisecond)))
		for _, c := range h.Commands() {
			states[c.State]++
		}
		if states[command.Succeeded] != robots-1 || states[command.Sent] != 1 {
			t.Errorf("before the last command's own time to live is over: %v", states)
		}
		w.Sleep(10 * time.Millisecond)
		for _, c := range h.Commands() {
			if c.Robot == silent && c.State != command.Unknown {
				t.Errorf("a silent robot's command is %s after its time to live", c.State)
			}
		}
		select {
		case <-h.Settled():
		default:
			t.Error("the batch is not settled")
		}
	})
}

// Robots that are gone leave the window to others.
func TestRobotsThatLeaveHoldUpNoBatch(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fleetOf(1500, "sys/ping", time.Minute)
		for _, m := range w.sents("sys/ping") {
			w.Locked(func() { w.away[m.robot] = true })
			w.RobotOffline(m.robot)
		}
		synctest.Wait()
		if n := len(w.sents("sys/ping")); n <= 512 {
			t.Errorf("%d commands sent after the robots of the first left", n)
		}
	})
}

// What one person asks of one robot goes out at once, and the robot's command of the batch before it.
func TestCommandToOneRobotWaitsForNoBatch(t *testing.T) {
	for _, verb := range []string{"mode/set", "control/release"} {
		inWorld(t, func(w *world) {
			w.fleetOf(1500, "sys/ping", time.Minute)
			before := len(w.sents("sys/ping"))
			w.issue("f1499", verb)
			if pings := w.sents("sys/ping"); len(pings) != before+1 || pings[before].robot != "f1499" {
				t.Fatalf("%d commands of the batch are under way, and then %d", before, len(pings))
			}
			id := idOf(w.sents("sys/ping")[before].payload)
			w.ReceiveAnswer("f1499", schema.Ack{ID: &id, Status: schema.StatusSucceeded, Session: "s", Verb: "sys/ping",
				TS: schema.TimeOf(time.Now())})
			synctest.Wait()
			if n := len(w.sents(verb)); n != 1 {
				t.Errorf("%s was sent %d times", verb, n)
			}
		})
	}
}

// Nobody expects a command any more that had no turn for half a minute: it expires and is never sent.
func TestCommandThatHadNoTurnExpires(t *testing.T) {
	inWorld(t, func(w *world) {
		h := w.fleetOf(3000, "sys/ping", 5*time.Second)
		w.Sleep(3 * time.Minute)
		states := map[command.State]int{}
		for _, c := range h.Commands() {
			states[c.State]++
		}
		sent := map[string]bool{}
		for _, m := range w.sents("sys/ping") {
			sent[m.robot] = true
			if m.after > 40*time.Second {
				t.Fatalf("sent to %s after %v", m.robot, m.after)
			}
		}
		if states[command.Unknown] != len(sent) || states[command.Unknown]+states[command.Undelivered] != 3000 || len(sent) == 3000 {
			t.Errorf("%v, %d robots were sent one", states, len(sent))
		}
	})
}
