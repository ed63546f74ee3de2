package dispatch_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/store"
	"troupe/schema"
)

func TestUnansweredCommandIsSentAgainUnchanged(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.issue("r1", "mode/set")
		w.Sleep(time.Minute)
		w.is(id, command.Unknown)
		var at []time.Duration
		var payloads []string
		for _, m := range w.sents("mode/set") {
			at = append(at, m.after.Round(time.Second))
			payloads = append(payloads, m.payload)
		}
		if want := []time.Duration{0, 2 * time.Second, 6 * time.Second, 14 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("sent at %v, want %v", at, want)
		}
		if len(slices.Compact(payloads)) != 1 {
			t.Errorf("sent as different bytes: %q", payloads)
		}
		// The outcome is unknown, not failed: a late answer resolves it.
		w.answers("r1", id, schema.StatusSucceeded)
		w.is(id, command.Succeeded)
	})
}

func TestLostAnswerIsRequested(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.issue("r1", "mode/set")
		w.answers("r1", id, schema.StatusAccepted)
		w.is(id, command.Acked)
		w.Sleep(14 * time.Second)
		if n := len(w.sents("sys/query")); n != 0 {
			t.Errorf("asked %d times before the robot was silent for long", n)
		}
		w.Sleep(3 * time.Second)
		asked := w.sents("sys/query")
		if len(asked) != 1 || !strings.Contains(asked[0].payload, `"`+id+`"`) {
			t.Fatalf("after 15 s of silence it was asked %v", asked)
		}
		// The robot does not know the command: it never arrived, or its record is lost.
		ask := "ask:" + id + ":1"
		w.ReceiveAnswer("r1", schema.Ack{ID: &ask, Status: schema.StatusRejected, Reason: schema.ReasonUnknownID})
		synctest.Wait()
		w.is(id, command.Unknown)
	})
}

func TestStateSettlesACommandWithoutAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.issue("r1", "mode/set")
		w.ReceiveLastRequest("r1", schema.LastRequest{ID: id, Client: "fleetd", Verb: "mode/set", Status: schema.StatusSucceeded})
		w.Sleep(2 * command.AnswerGrace)
		w.is(id, command.Succeeded)
	})
}

func TestModeCommandsAreSentOneAtATime(t *testing.T) {
	inWorld(t, func(w *world) {
		first, second := w.issue("r1", "mode/set"), w.issue("r1", "mode/set")
		other := w.issue("r2", "mode/set")
		w.Sleep(time.Second)
		w.is(first, command.Sent)
		w.is(second, command.Queued)
		w.is(other, command.Sent)
		w.answers("r1", first, schema.StatusAccepted)
		w.is(second, command.Sent)
		if last := w.sents("")[2]; last.robot != "r1" || !strings.Contains(last.payload, second) {
			t.Errorf("then came %+v", last)
		}
	})
}

func TestResentCommandsKeepTheirOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		asked := "auto/start auto/pause sys/ping auto/continue auto/stop auto/start"
		for verb := range strings.FieldsSeq(asked) {
			w.issue("r1", verb)
		}
		w.Sleep(3 * time.Second)
		if got := w.verbs(); got != asked+" "+asked {
			t.Errorf("sent  %v\nasked %v, and again", got, asked)
		}
	})
}

func TestAtMostEightCommandsOfARobotAreInProgress(t *testing.T) {
	inWorld(t, func(w *world) {
		var ids []string
		for range 12 {
			id := w.issue("r1", "auto/pause")
			w.answers("r1", id, schema.StatusAccepted)
			ids = append(ids, id)
		}
		w.Sleep(time.Second)
		if n := len(w.sents("auto/pause")); n != 8 {
			t.Fatalf("%d are on their way", n)
		}
		w.issue("r1", "safety/stop")
		if n := len(w.sents("safety/stop")); n != 1 {
			t.Errorf("%d stops were sent, which never wait", n)
		}
		for _, id := range ids {
			w.answers("r1", id, schema.StatusSucceeded)
			w.is(id, command.Succeeded)
		}
	})
}

func TestAnswerOfAnotherRobotIsIgnored(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.issue("r1", "mode/set")
		w.answers("r2", id, schema.StatusSucceeded)
		w.is(id, command.Sent)
		w.answers("r1", id, schema.StatusAccepted)
		ask := "ask:" + id + ":1"
		w.ReceiveAnswer("r2", schema.Ack{ID: &ask, Status: schema.StatusRejected, Reason: schema.ReasonUnknownID})
		synctest.Wait()
		w.is(id, command.Acked)
		w.ReceiveLastRequest("r2", schema.LastRequest{ID: id, Verb: "mode/set", Status: schema.StatusSucceeded})
		w.Sleep(2 * command.AnswerGrace)
		w.is(id, command.Acked)
	})
}

func TestCommandToAnAbsentRobotIsSentWhenItComes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Locked(func() { w.away["r1"] = true })
		waits := w.issue("r1", "mode/set")
		cancelled := w.issue("r1", "auto/pause")
		stopped := w.issue("r1", "safety/stop")
		w.Sleep(time.Second)
		if got := w.verbs(); got != "safety/stop" {
			t.Fatalf("an absent robot was sent %q", got)
		}
		if !w.Cancel(context.Background(), cancelled) || w.Cancel(context.Background(), stopped) {
			t.Error("a waiting command is cancelled here, and a sent one is not")
		}
		w.Locked(func() { w.away["r1"] = false })
		w.RobotOnline("r1")
		synctest.Wait()
		w.is(waits, command.Sent)
		w.is(cancelled, command.Cancelled)
		if n := len(w.sents("safety/stop")); n != 2 {
			t.Errorf("the stop was sent %d times to a robot that came late", n)
		}
	})
}

// The order of the events decides, not how far the view is when the dispatcher takes them.
func TestRobotThatCameAndLeftAgainIsSentTheStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Locked(func() { w.away["r1"] = true })
		w.issue("r1", "safety/stop")
		w.RobotOnline("r1")
		w.RobotOffline("r1")
		synctest.Wait()
		if n := len(w.sents("safety/stop")); n != 2 {
			t.Errorf("the stop was sent %d times to a robot that came and left, want twice", n)
		}
	})
}

func TestStopIsSentBeforeItIsPersisted(t *testing.T) {
	for name, fails := range map[string]func(w *world, away bool){
		"the database was never open": func(w *world, away bool) { w.Locked(func() { w.closed = away }) },
		"the database fails": func(w *world, away bool) {
			w.db.breaks(map[bool]error{true: errAway}[away])
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				fails(w, true)
				c := w.made("r1", "safety/stop")
				began := time.Now()
				h, err := w.Issue(context.Background(), batchOf(c), []command.Command{c}, true)
				if err != nil || h.Persisted() || time.Since(began) > time.Second {
					t.Fatalf("Issue of a stop returned %v, persisted: %v, after %v", err, h.Persisted(), time.Since(began))
				}
				if at := w.sents("safety/stop"); len(at) != 1 || at[0].after != 0 {
					t.Errorf("it was sent %+v", at)
				}
				w.answers("r1", c.ID, schema.StatusSucceeded)
				<-h.Settled()
				if _, err := w.Issue(context.Background(), batchOf(w.made("r1", "mode/set")), []command.Command{w.made("r1", "mode/set")},
					false); !errors.Is(err, errAway) {
					t.Errorf("Issue of another command returned %v", err)
				}
				fails(w, false)
				w.Sleep(2 * time.Second)
				w.is(c.ID, command.Succeeded)
			})
		})
	}
}

func TestStateIsSavedAfterAFailedWrite(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.issue("r1", "mode/set")
		w.db.breaks(errAway)
		w.answers("r1", id, schema.StatusSucceeded)
		w.Sleep(10 * time.Second)
		w.is(id, command.Sent)
		w.db.breaks(nil)
		w.Sleep(2 * time.Second)
		w.is(id, command.Succeeded)
	})
}

func TestCommandOfAnUnknownCommitIsEndedAndNotSent(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.made("r1", "mode/set")
		batch := batchOf(c)
		w.db.breaks(store.ErrOutcomeUnknown)
		if _, err := w.Issue(context.Background(), batch, []command.Command{c}, false); !errors.Is(err, store.ErrOutcomeUnknown) {
			t.Fatalf("Issue returned %v", err)
		}
		w.db.breaks(nil)
		c.Owner = "fleetd" // the commit takes effect later
		if err := w.db.Tx(context.Background(), func(tx *store.Tx) error {
			return tx.AddBatch(context.Background(), batch, []command.Command{c})
		}); err != nil {
			t.Fatal(err)
		}
		w.Sleep(5 * time.Second)
		w.is(c.ID, command.Cancelled)
		if got := w.verbs(); got != "" {
			t.Errorf("sent was %q", got)
		}
	})
}

func TestRestartedInstanceContinuesItsCommands(t *testing.T) {
	inWorld(t, func(w *world) {
		acked, sent := w.issue("r1", "mode/set"), w.issue("r1", "auto/pause")
		w.answers("r1", acked, schema.StatusAccepted)
		w.end()
		w.start()
		w.Sleep(3 * time.Second)
		if n := len(w.sents("auto/pause")); n != 2 {
			t.Errorf("the unanswered command was sent %d times", n)
		}
		w.answers("r1", sent, schema.StatusSucceeded)
		w.answers("r1", acked, schema.StatusSucceeded)
		w.is(sent, command.Succeeded)
		w.is(acked, command.Succeeded)
	})
}

func TestReleasedStopIsNotSentAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Locked(func() { w.away["r1"] = true })
		id := w.issue("r1", "safety/stop")
		done := false
		w.EndReleased(func(c command.Command) bool { return c.ID == id }, func() { done = true })
		synctest.Wait()
		if !done {
			t.Error("nobody was told that the commands have ended")
		}
		w.Locked(func() { w.away["r1"] = false })
		w.RobotOnline("r1")
		w.Sleep(time.Minute)
		if n := len(w.sents("safety/stop")); n != 1 {
			t.Errorf("a released stop was sent %d times", n)
		}
	})
}

func TestCommandsWaitForEarlierOnesOfOtherInstances(t *testing.T) {
	inWorld(t, func(w *world) {
		theirs := w.made("r1", "mode/set")
		theirs.Owner, theirs.State = "other", command.Sent
		if err := w.db.Tx(context.Background(), func(tx *store.Tx) error {
			return tx.AddBatch(context.Background(), batchOf(theirs), []command.Command{theirs})
		}); err != nil {
			t.Fatal(err)
		}
		w.Sleep(time.Millisecond)
		mine, ping := w.issue("r1", "mode/set"), w.issue("r1", "sys/ping")
		w.Sleep(time.Second)
		w.is(mine, command.Queued)
		w.is(ping, command.Sent)
		theirs.State = command.Succeeded
		if err := w.db.Store.SaveCommands(context.Background(), []command.Command{theirs}); err != nil {
			t.Fatal(err)
		}
		w.Sleep(time.Second)
		w.is(mine, command.Sent)
	})
}

// The command of the other instance is answered before this one reads that.
func TestQueuedModeCommandIsNotOvertakenByALaterOne(t *testing.T) {
	inWorld(t, func(w *world) {
		theirs := w.made("r1", "mode/set")
		theirs.Owner, theirs.State = "other", command.Sent
		if err := w.db.Tx(context.Background(), func(tx *store.Tx) error {
			return tx.AddBatch(context.Background(), batchOf(theirs), []command.Command{theirs})
		}); err != nil {
			t.Fatal(err)
		}
		w.Sleep(time.Millisecond)
		first := w.issue("r1", "mode/set")
		theirs.State = command.Acked
		if err := w.db.Store.SaveCommands(context.Background(), []command.Command{theirs}); err != nil {
			t.Fatal(err)
		}
		second := w.issue("r1", "mode/set")
		w.is(first, command.Queued)
		w.is(second, command.Queued)
		w.Sleep(time.Second)
		w.is(first, command.Sent)
		w.is(second, command.Queued)
		w.answers("r1", first, schema.StatusSucceeded)
		w.is(second, command.Sent)
	})
}

func TestQueuedCommandIsNextWhenTheOneBeforeEndsWithoutAnAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		lost := w.issue("r1", "mode/set")
		w.Sleep(5 * time.Second)
		next := w.issue("r1", "mode/set")
		last := w.issue("r1", "mode/set")
		w.Sleep(26 * time.Second)
		w.is(lost, command.Unknown)
		w.is(next, command.Sent)
		w.is(last, command.Queued)
	})
}

func TestCommandsOfAGoneInstanceHoldUpNone(t *testing.T) {
	inWorld(t, func(w *world) {
		theirs := w.made("r1", "mode/set")
		theirs.Owner, theirs.State = "other", command.Sent
		if err := w.db.Tx(context.Background(), func(tx *store.Tx) error {
			return tx.AddBatch(context.Background(), batchOf(theirs), []command.Command{theirs})
		}); err != nil {
			t.Fatal(err)
		}
		w.Sleep(time.Millisecond)
		mine := w.issue("r1", "mode/set")
		w.is(mine, command.Queued)
		w.Locked(func() { w.gone["other"] = true })
		w.Sleep(2 * time.Second)
		w.is(mine, command.Sent)
	})
}

// The first try to persist the stop took effect although its outcome was unknown, and its answer
// comes before the next try.
func TestAnswerToAStopOfAnUnknownCommitIsSaved(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.made("r1", "safety/stop")
		w.db.breaks(store.ErrOutcomeUnknown)
		h, err := w.Issue(context.Background(), batchOf(c), []command.Command{c}, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.db.Store.Tx(context.Background(), func(tx *store.Tx) error {
			return tx.AddBatch(context.Background(), batchOf(c), h.Commands())
		}); err != nil {
			t.Fatal(err)
		}
		w.answers("r1", c.ID, schema.StatusSucceeded)
		<-h.Settled()
		w.db.breaks(nil)
		w.Sleep(2 * time.Second)
		w.is(c.ID, command.Succeeded)
	})
}
