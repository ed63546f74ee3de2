package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/command"
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
	c.AnsweredAt, c.Queries, c.QueriedAt = at(6), 1, at(7)
	c.Answer = &schema.Ack{TS: schema.TimeOf(at(6)), Session: "s", ID: &id, Verb: "mode/set", Status: schema.StatusInProgress,
		Detail: "„half“"}
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

	sent.State, sent.EndedAt = command.Succeeded, at(10)
	if err := s.SaveCommands(t.Context(), []command.Command{sent}); err != nil {
		t.Fatal(err)
	}
	ends := func() int { return len(must[[]audit.Entry](t)(s.Audit(t.Context(), store.AuditQuery{}))) }
	before := ends()
	conflicts("saving over the last command of a batch", []string{done.ID}, failed)
	wantEqual(t, "how often the audit says how the batch ended", ends()-before, 0)
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
	wantEqual(t, "open commands", names(must[[]command.Command](t)(s.OpenCommands(t.Context(), "fleetd-a", at(1)))),
		[]string{"b2-r1", "b3-r1"})
	batches := must[[]command.Batch](t)(s.Batches(t.Context(), store.BatchQuery{Limit: 2}))
	if len(batches) != 2 || batches[0].ID != "b3" || batches[1].ID != "b2" {
		t.Errorf("batches %+v", batches)
	}
}

func batchesOfSitesAreFound(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3")
	for robot, site := range map[string]string{"r1": "lobby", "r2": "hall", "r3": "lobby"} {
		transact(t, s, func(tx *store.Tx) error {
			return tx.SetLabels(t.Context(), robot, map[string]string{"site": site, "floor": "hall"})
		})
	}
	for i, to := range [][]string{{"r1", "r2", "r3"}, {"r2"}, {"r3"}} {
		b, commands := batch(fmt.Sprint("b", i+1), to...)
		b.CreatedAt = at(i)
		addBatch(t, s, b, commands)
	}
	for _, c := range []struct {
		q    store.BatchQuery
		want string
	}{
		{store.BatchQuery{}, "b3 of 1, b2 of 1, b1 of 3"},
		{store.BatchQuery{Sites: []string{"lobby"}}, "b3 of 1, b1 of 2"},
		{store.BatchQuery{Sites: []string{"lobby"}, Limit: 1}, "b3 of 1"},
		{store.BatchQuery{Sites: []string{"hall", "lobby"}}, "b3 of 1, b2 of 1, b1 of 3"},
		{store.BatchQuery{Sites: []string{"attic"}}, ""},
	} {
		var got []string
		for _, b := range must[[]command.Batch](t)(s.Batches(t.Context(), c.q)) {
			got = append(got, fmt.Sprintf("%s of %d", b.ID, b.Total))
		}
		wantEqual(t, fmt.Sprintf("batches of %+v", c.q), strings.Join(got, ", "), c.want)
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
	wantEqual(t, "by their ids", names(must[[]command.Command](t)(s.CommandsByID(t.Context(), []string{"b3-r1", "none", "b1-r2"}))),
		[]string{"b1-r2", "b3-r1"})
	wantEqual(t, "by no id", len(must[[]command.Command](t)(s.CommandsByID(t.Context(), nil))), 0)
	wantEqual(t, "of others, newer", names(must[[]command.Command](t)(s.OpenCommandsOfOthers(t.Context(), "fleetd", at(1)))),
		[]string{"b2-r1", "b3-r1"})
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
	first, second := audit.Note{Who: "anna", What: "publish", Target: "story s1", Detail: "for „Sunday“"},
		audit.Note{Who: "bob", What: "delete", Outcome: audit.Refused}
	transact(t, s, func(tx *store.Tx) error { return tx.Note(t.Context(), at(1), first, second) })
	transact(t, s, func(tx *store.Tx) error { return tx.Note(t.Context(), at(2), first) })
	named := audit.Note{
		Source: audit.Source{Principal: "token-7", Address: "10.0.0.7", Via: audit.ViaToken}, Who: "eve", What: "label", Target: "robot r1",
		Why:    "moved",
		Detail: "hall=b", Before: `{"hall":"a"}`, After: `{"hall":"b"}`, Outcome: audit.Done, Of: "an-id",
	}
	transact(t, s, func(tx *store.Tx) error {
		tx.ActFor(auth.Principal{ID: "carl", Name: "Carl C.", From: auth.Origin{Address: "10.0.0.8", Via: audit.ViaWeb}})
		return tx.Note(t.Context(), at(3), audit.Note{What: "save"}, named)
	})
	all := must[[]audit.Entry](t)(s.Audit(t.Context(), store.AuditQuery{}))
	first.Outcome, first.Via, second.Via = audit.Done, audit.ViaFleetd, audit.ViaFleetd
	acted := audit.Note{Source: audit.Source{Principal: "carl", Address: "10.0.0.8", Via: audit.ViaWeb}, Who: "Carl C.", What: "save",
		Outcome: audit.Done}
	var notes []audit.Note
	for _, e := range all {
		notes = append(notes, e.Note)
	}
	wantEqual(t, "the notes", notes, []audit.Note{named, acted, first, second, first})
	if n := seconds(all[2].At); n != 2 {
		t.Errorf("the entry of second 2 is of second %d", n)
	}

	type f = audit.Filter
	for name, q := range map[string]store.AuditQuery{
		"4": {Filter: f{Who: "CARL"}}, "5": {Filter: f{Who: "n-7"}}, "3 1": {Filter: f{Who: "anna"}},
		"2": {Filter: f{Outcome: audit.Refused}}, "5 ": {Filter: f{Target: "r1"}}, "": {Filter: f{Target: "r_"}},
		"5  ": {Filter: f{Via: audit.ViaToken}}, "3 2 1": {Filter: f{Until: at(3)}}, "5 4": {Filter: f{Since: at(3)}},
		"5   ": {Filter: f{ID: "an-id"}}, "2 1": {Before: 3},
		"4 ": {Filter: f{What: "SAV"}}, "5 4 2": {Filter: f{Without: "PUBL"}}, "4  ": {Before: 5, Limit: 1},
	} {
		var seqs []string
		for _, e := range must[[]audit.Entry](t)(s.Audit(t.Context(), q)) {
			seqs = append(seqs, fmt.Sprint(e.Seq))
		}
		if got := strings.Join(seqs, " "); got != strings.TrimSpace(name) {
			t.Errorf("%+v finds %q, want %q", q, got, name)
		}
	}
}
