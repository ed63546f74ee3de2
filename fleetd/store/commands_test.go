package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

func addBatch(t testing.TB, s *store.Store, b command.Batch, commands []command.Command) {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error { return tx.AddBatch(t.Context(), b, commands) })
}

func commandsAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	b, commands := batch("b1", "r1", "r2")
	addBatch(t, s, b, commands)
	wantEqual(t, "the batch", must[command.Batch](t)(s.Batch(t.Context(), "b1")), b)
	c := must[command.Command](t)(s.Command(t.Context(), "b1-r1"))
	wantEqual(t, "the command", c, commands[0])

	id := c.ID
	c.State, c.Because, c.Sends, c.SentAt, c.Reached = command.Running, "the robot is at it", 2, at(5), true
	c.AnsweredAt, c.Asks, c.AskedAt = at(6), 1, at(7)
	c.Answer = &schema.Ack{TS: schema.TimeOf(at(6)), Session: "s", ID: &id, Verb: "mode/set", Status: schema.StatusInProgress, Detail: "„half“"}
	if err := s.SaveCommands(t.Context(), []command.Command{c}); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "the command after a save", must[command.Command](t)(s.Command(t.Context(), id)), c)
	wantEqual(t, "its neighbour", must[command.Command](t)(s.Command(t.Context(), "b1-r2")), commands[1])
	_, err := s.Command(t.Context(), "none")
	wantErr(t, "an unknown command", err, store.ErrNotFound)
	_, err = s.Batch(t.Context(), "none")
	wantErr(t, "an unknown batch", err, store.ErrNotFound)
}

func finalCommandIsNotOverwritten(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	b, commands := batch("b1", "r1", "r2")
	addBatch(t, s, b, commands)
	done := commands[0]
	done.State, done.EndedAt = command.Succeeded, at(9)
	if err := s.SaveCommands(t.Context(), []command.Command{done}); err != nil {
		t.Fatal(err)
	}
	failed, sent := done, commands[1]
	failed.State, sent.State = command.Failed, command.Sent
	conflicts := func(what string, want []string, commands ...command.Command) {
		t.Helper()
		err := s.SaveCommands(t.Context(), commands)
		wantErr(t, what, err, store.ErrConflict)
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) {
			t.Fatalf("%s: %T does not name the commands", what, err)
		}
		wantEqual(t, what, conflict.IDs, want)
	}
	unknown := commands[1]
	unknown.ID = "none"
	conflicts("saving over a final command and an unknown one", []string{done.ID, "none"}, failed, sent, unknown)
	wantEqual(t, "the final command", must[command.Command](t)(s.Command(t.Context(), done.ID)), done)
	wantEqual(t, "the other command of the call", must[command.Command](t)(s.Command(t.Context(), sent.ID)), sent)
	foreign := sent
	foreign.Owner, foreign.State = "fleetd-b", command.Running
	conflicts("saving another instance's command", []string{sent.ID}, foreign)
	wantEqual(t, "another instance's command", must[command.Command](t)(s.Command(t.Context(), sent.ID)), sent)
	wantEqual(t, "open commands", must[[]command.Command](t)(s.OpenCommands(t.Context(), "fleetd-a", time.Time{})), []command.Command{sent})
}

func commandsAreFound(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	for i, id := range []string{"b1", "b2", "b3"} {
		b, commands := batch(id, "r1", "r2")
		b.CreatedAt = at(i)
		for k := range commands {
			commands[k].CreatedAt = at(i)
			if k == 1 {
				commands[k].State, commands[k].EndedAt = command.Succeeded, at(10)
			}
		}
		addBatch(t, s, b, commands)
	}
	for _, c := range []struct {
		q    store.CommandQuery
		want []string
	}{
		{store.CommandQuery{}, []string{"b3-r2", "b3-r1", "b2-r2", "b2-r1", "b1-r2", "b1-r1"}},
		{store.CommandQuery{Limit: 1}, []string{"b3-r2"}},
		{store.CommandQuery{Batch: "b2"}, []string{"b2-r2", "b2-r1"}},
		{store.CommandQuery{Robot: "r1"}, []string{"b3-r1", "b2-r1", "b1-r1"}},
		{store.CommandQuery{State: command.Succeeded, Since: at(1)}, []string{"b3-r2", "b2-r2"}},
		{store.CommandQuery{Until: at(1)}, []string{"b1-r2", "b1-r1"}},
		{store.CommandQuery{Batch: "b9"}, nil},
	} {
		wantEqual(t, "commands", names(must[[]command.Command](t)(s.Commands(t.Context(), c.q))), c.want)
	}
	wantEqual(t, "open commands", names(must[[]command.Command](t)(s.OpenCommands(t.Context(), "fleetd-a", at(1)))), []string{"b2-r1", "b3-r1"})
	batches := must[[]command.Batch](t)(s.Batches(t.Context(), 2))
	if len(batches) != 2 || batches[0].ID != "b3" || batches[1].ID != "b2" {
		t.Errorf("batches %+v", batches)
	}
}

func commandsHaveAnOwner(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	for i, owner := range []string{"fleetd-a", "fleetd-b", "fleetd-c"} {
		b, commands := batch(fmt.Sprint("b", i+1), "r1", "r2")
		for k := range commands {
			commands[k].Owner, commands[k].CreatedAt = owner, at(i)
		}
		commands[1].State, commands[1].EndedAt = command.Succeeded, at(9)
		addBatch(t, s, b, commands)
	}
	for owner, want := range map[string][2][]string{
		"fleetd-a": {{"b1-r1"}, {"b2-r1", "b3-r1"}},
		"fleetd-c": {{"b3-r1"}, {"b1-r1", "b2-r1"}},
		"fleetd":   {nil, {"b1-r1", "b2-r1", "b3-r1"}},
	} {
		wantEqual(t, "of "+owner, names(must[[]command.Command](t)(s.OpenCommands(t.Context(), owner, time.Time{}))), want[0])
		wantEqual(t, "of others than "+owner, names(must[[]command.Command](t)(s.OpenCommandsOfOthers(t.Context(), owner, time.Time{}))), want[1])
	}
	wantEqual(t, "by their ids", names(must[[]command.Command](t)(s.CommandsByID(t.Context(), []string{"b3-r1", "none", "b1-r2"}))), []string{"b1-r2", "b3-r1"})
	wantEqual(t, "by no id", len(must[[]command.Command](t)(s.CommandsByID(t.Context(), nil))), 0)
	wantEqual(t, "of others, newer", names(must[[]command.Command](t)(s.OpenCommandsOfOthers(t.Context(), "fleetd", at(1)))), []string{"b2-r1", "b3-r1"})
}

func names(commands []command.Command) []string {
	var ids []string
	for _, c := range commands {
		ids = append(ids, c.ID)
	}
	return ids
}

func batchIsAtomic(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	b, commands := batch("b1", "r1", "r9")
	err := s.Tx(t.Context(), func(tx *store.Tx) error { return tx.AddBatch(t.Context(), b, commands) })
	wantErr(t, "a batch with an unknown robot", err, store.ErrNotFound)
	_, err = s.Batch(t.Context(), "b1")
	wantErr(t, "the batch", err, store.ErrNotFound)
	_, err = s.Command(t.Context(), "b1-r1")
	wantErr(t, "its command", err, store.ErrNotFound)
	addBatch(t, s, b, commands[:1])
	err = s.Tx(t.Context(), func(tx *store.Tx) error { return tx.AddBatch(t.Context(), b, nil) })
	wantErr(t, "the same batch again", err, store.ErrConflict)
}

func auditKeepsNotes(t *testing.T, address string) {
	s := storetest.Open(t, address)
	first, second := library.Note{Who: "anna", What: "publish", Target: "story s1", Detail: "for „Sunday“"}, library.Note{Who: "bob", What: "delete"}
	transact(t, s, func(tx *store.Tx) error { return tx.Note(t.Context(), at(1), first, second) })
	transact(t, s, func(tx *store.Tx) error { return tx.Note(t.Context(), at(2), first) })
	named := second
	named.Principal = "token-7"
	transact(t, s, func(tx *store.Tx) error {
		tx.ActFor("local")
		return tx.Note(t.Context(), at(3), first, named)
	})
	acted := must[[]store.AuditEntry](t)(s.Audit(t.Context(), 2))
	if len(acted) != 2 || acted[0].Note != named || acted[1].Principal != "local" {
		t.Fatalf("a transaction for a principal notes %+v", acted)
	}
	audit := must[[]store.AuditEntry](t)(s.Audit(t.Context(), 0))
	if audit = audit[2:]; len(audit) != 3 || audit[0].Note != first || seconds(audit[0].At) != 2 || audit[1].Note != second || audit[2].Note != first {
		t.Fatalf("got %+v", audit)
	}
	if n := len(must[[]store.AuditEntry](t)(s.Audit(t.Context(), 1))); n != 1 {
		t.Errorf("%d audit entries, want 1", n)
	}
}
