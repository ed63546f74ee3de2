package dispatch_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/store"
	"troupe/schema"
)

// ofOthers persists a command in a given state of the instance called other.
func (w *world) ofOthers(robot string, state command.State) string {
	w.Helper()
	c := w.made(robot, "mode/set")
	c.Owner, c.State = "other", state
	if err := w.db.Tx(context.Background(), func(tx *store.Tx) error {
		return tx.AddBatch(context.Background(), batchOf(c), []command.Command{c})
	}); err != nil {
		w.Fatal(err)
	}
	return c.ID
}

// orphaned runs what ends orphaned commands while test runs.
func orphaned(t *testing.T, test func(w *world, o *dispatch.OrphanEnder)) {
	inWorld(t, func(w *world) {
		o := dispatch.NewOrphanEnder(w.deps)
		defer w.Start(func(ctx context.Context) { o.Run(ctx, w.db) })()
		test(w, o)
	})
}

// overhears posts the answer of a robot to the other instance.
func overhears(o *dispatch.OrphanEnder, robot, id string, status schema.Status) {
	a := schema.Ack{ID: &id, Status: status, Session: "s", Verb: "mode/set", TS: schema.TimeOf(time.Now())}
	payload, err := schema.Encode(&a)
	if err != nil {
		panic(err)
	}
	o.Observe(schema.TopicParams{RID: robot, CID: "other"}, payload, time.Now())
}

func TestCommandsOfAGoneInstanceAreEndedByTheLeader(t *testing.T) {
	orphaned(t, func(w *world, o *dispatch.OrphanEnder) {
		answered, silent := w.ofOthers("r1", command.Sent), w.ofOthers("r1", command.Sent)
		overhears(o, "r1", answered, schema.StatusSucceeded)
		overhears(o, "r2", silent, schema.StatusSucceeded) // another robot says so
		w.Sleep(5 * time.Second)
		w.is(answered, command.Sent) // the instance is running, and received the answer too
		w.Locked(func() { w.gone["other"], w.Leading = true, false })
		w.Sleep(5 * time.Second)
		w.is(answered, command.Sent)
		w.Locked(func() { w.Leading = true })
		w.Sleep(5 * time.Second)
		w.is(answered, command.Succeeded)
		w.is(silent, command.Unknown)
		if c := w.row(silent); !strings.Contains(c.Because, "gone") {
			t.Errorf("it ended because %q", c.Because)
		}
		overhears(o, "r1", silent, schema.StatusSucceeded) // late
		w.Sleep(5 * time.Second)
		w.is(silent, command.Succeeded)
		if got := w.verbs(); got != "" {
			t.Errorf("commands of another instance were sent: %s", got)
		}
	})
}

func TestQueuedCommandOfAGoneInstanceWaitsUntilItExpires(t *testing.T) {
	orphaned(t, func(w *world, _ *dispatch.OrphanEnder) {
		w.Locked(func() { w.gone["other"] = true })
		id := w.ofOthers("r1", command.Queued)
		w.Sleep(command.AnswerTimeout - time.Second)
		w.is(id, command.Queued) // its instance may return
		w.Sleep(5 * time.Second)
		w.is(id, command.Unknown)
	})
}

func TestOverheardAnswersAreForgotten(t *testing.T) {
	orphaned(t, func(w *world, o *dispatch.OrphanEnder) {
		id := w.ofOthers("r1", command.Sent)
		overhears(o, "r1", id, schema.StatusSucceeded)
		o.Observe(schema.TopicParams{RID: "r1", CID: "other"}, []byte("{{{"), time.Now())
		w.Sleep(3 * time.Minute)
		w.Locked(func() { w.gone["other"] = true })
		w.Sleep(5 * time.Second)
		w.is(id, command.Unknown)
	})
}
