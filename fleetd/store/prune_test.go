package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/command"
	"troupe/fleetd/content"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

// pruned calls step until it removes nothing, and returns how many rows each call removed.
func pruned(t *testing.T, step func(ctx context.Context, then time.Time, limit int) (int64, error), then time.Time,
	limit int) (rows []int64) {
	t.Helper()
	for {
		n := must[int64](t)(step(t.Context(), then, limit))
		if n == 0 {
			return rows
		}
		rows = append(rows, n)
		if len(rows) > 100 {
			t.Fatalf("pruning does not end: %v", rows)
		}
	}
}

func oldAuditIsPruned(t *testing.T, address string) {
	s := storetest.Open(t, address)
	transact(t, s, func(tx *store.Tx) error {
		for i := range 8 {
			if err := tx.Note(t.Context(), at(i), library.Note{Who: "anna", What: "publish", Target: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	wantEqual(t, "rows by step", pruned(t, func(ctx context.Context, then time.Time, limit int) (int64, error) {
		return s.PruneAudit(ctx, at(9), then, limit)
	}, at(5), 2), []int64{2, 2, 1})
	var left []string
	for _, n := range must[[]audit.Entry](t)(s.Audit(t.Context(), store.AuditQuery{})) {
		left = append(left, n.Target)
	}
	wantEqual(t, "what is left", left, []string{"audit", "audit", "audit", "7", "6", "5"})
}

func oldEventsArePruned(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	var all []store.Event
	for i := range 8 {
		all = append(all, event(fmt.Sprintf("r%d", i%2+1), "b", int64(i), "a", i/2))
	}
	if err := s.AddEvents(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	routine := event("r1", "acts", 1, "act_ended", 3)
	routine.Routine = true
	if err := s.AddEvents(t.Context(), []store.Event{routine}); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "events of acts by step", pruned(t, s.PruneRoutineEvents, at(4), 4), []int64{1})
	wantEqual(t, "rows by step", pruned(t, s.PruneEvents, at(3), 4), []int64{4, 2})
	var left []int64
	for _, e := range must[[]store.Event](t)(s.Events(t.Context(), store.EventQuery{})) {
		left = append(left, e.Seq)
	}
	wantEqual(t, "what is left", left, []int64{6, 7})
}

func oldBatchesArePruned(t *testing.T, address string) {
	s := storetest.Open(t, address)
	ids := []string{"r1", "r2", "r3"}
	robots(t, s, ids...)
	const never = -1
	for _, b := range []struct {
		id         string
		made       int
		ended      [3]int // by robot
		wantPruned bool
	}{
		{"finished", 1, [3]int{2, 3, 4}, true},
		{"finished-later", 2, [3]int{3, 9, 3}, true},
		{"one-is-open", 3, [3]int{4, never, 4}, false},
		{"ended-lately", 4, [3]int{5, 5, 12}, false},
		{"finished-too", 5, [3]int{6, 6, 6}, true},
		{"new", 11, [3]int{12, 12, 12}, false},
	} {
		made, commands := batch(b.id, ids...)
		made.CreatedAt = at(b.made)
		for i := range commands {
			commands[i].CreatedAt = at(b.made)
			if b.ended[i] != never {
				commands[i].State, commands[i].EndedAt = command.Succeeded, at(b.ended[i])
			}
		}
		addBatch(t, s, made, commands)
	}
	// Batches are removed whole: the second of three commands would exceed a limit of five.
	wantEqual(t, "rows by step", pruned(t, s.PruneBatches, at(10), 5), []int64{4, 4, 4})
	var left []string
	for _, b := range must[[]command.Batch](t)(s.Batches(t.Context(), store.BatchQuery{})) {
		left = append(left, b.ID)
		if n := len(must[[]command.Command](t)(s.Commands(t.Context(), store.CommandQuery{Batch: b.ID}))); n != b.Total {
			t.Errorf("batch %s: %d of %d commands are left", b.ID, n, b.Total)
		}
	}
	wantEqual(t, "what is left", left, []string{"new", "ended-lately", "one-is-open"})
	if n := len(must[[]command.Command](t)(s.Commands(t.Context(), store.CommandQuery{}))); n != 9 {
		t.Errorf("%d commands are left, want 9", n)
	}

	// The open command ends, and its batch is pruned as well.
	open := must[command.Command](t)(s.Command(t.Context(), "one-is-open-r2"))
	open.State, open.EndedAt = command.Unknown, at(20)
	if err := s.SaveCommands(t.Context(), []command.Command{open}); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "rows later", pruned(t, s.PruneBatches, at(30), 5), []int64{4, 4, 4})
}

// A batch with more commands than the limit is pruned all the same.
func largeBatchesArePruned(t *testing.T, address string) {
	s := storetest.Open(t, address)
	ids := []string{"r1", "r2", "r3"}
	robots(t, s, ids...)
	b, commands := batch("large", ids...)
	for i := range commands {
		commands[i].State, commands[i].EndedAt = command.Succeeded, at(5)
	}
	addBatch(t, s, b, commands)
	none, _ := batch("nobody-was-meant")
	addBatch(t, s, none, nil)
	wantEqual(t, "rows by step", pruned(t, s.PruneBatches, at(10), 1), []int64{4, 1})
}

// Newcomers get what a policy says only if its rollout ended well, which must be known for as long as the policy names it.
func rolloutsOfPoliciesAreKept(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	for _, id := range []string{"o1", "o2"} {
		o, members := rolloutOf(id, 1, "r1", "r2")
		o.State, o.EndedAt = rollout.Aborted, at(5)
		addRollout(t, s, o, members)
	}
	p := policyOf("lobby", 10, content.Content{Story: &content.Story{ID: "museum", Rev: 3}})
	transact(t, s, func(tx *store.Tx) error { return tx.SavePolicy(t.Context(), p) })
	pruned(t, s.PruneRollouts, at(10), 100)
	must[rollout.Rollout](t)(s.Rollout(t.Context(), p.Rollout))
	_, err := s.Rollout(t.Context(), "o2")
	wantErr(t, "a rollout that no policy names", err, store.ErrNotFound)
	transact(t, s, func(tx *store.Tx) error { return tx.DeletePolicy(t.Context(), p) })
	pruned(t, s.PruneRollouts, at(10), 100)
	_, err = s.Rollout(t.Context(), p.Rollout)
	wantErr(t, "the rollout of a deleted policy", err, store.ErrNotFound)
}
