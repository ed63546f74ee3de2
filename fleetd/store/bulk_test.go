package store_test

import (
	"fmt"
	"testing"

	"troupe/fleetd/command"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// many is more rows than one statement of PostgreSQL takes.
const many = 2300

func manyRobots(t testing.TB, s *store.Store) []string {
	t.Helper()
	var ids []string
	for i := range many {
		ids = append(ids, fmt.Sprintf("r%05d", i))
	}
	transact(t, s, func(tx *store.Tx) error {
		for _, id := range ids {
			if _, err := tx.AddRobot(t.Context(), id, at(0)); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

func manyRowsAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	ids := manyRobots(t, s)
	var documents []store.Document
	var events []store.Event
	for i, id := range ids {
		documents = append(documents, store.Document{Robot: id, Kind: schema.TopicState, Body: fmt.Append(nil, i), ReceivedAt: at(i)})
		events = append(events, event(id, "b", int64(i), "a", i))
	}
	if err := s.SaveDocuments(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
	if err := s.AddEvents(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "documents", must[[]store.Document](t)(s.Documents(t.Context(), "")), documents)
	wantEqual(t, "events", len(must[[]store.Event](t)(s.Events(t.Context(), store.EventQuery{Limit: many + 1}))), many)

	b, commands := batch("b1", ids...)
	addBatch(t, s, b, commands)
	for i := range commands {
		commands[i].State, commands[i].Because = command.Sent, fmt.Sprint("because of ", i)
	}
	commands[7].Owner = "fleetd-b"
	wantErr(t, "a batch with another instance's command", s.SaveCommands(t.Context(), commands), store.ErrConflict)
	for i, c := range must[[]command.Command](t)(s.OpenCommands(t.Context(), "fleetd-a", at(0))) {
		if want := commands[i]; i != 7 && (c.State != want.State || c.Because != want.Because) || i == 7 && c.State != command.Queued {
			t.Fatalf("command %d is %s, %s", i, c.State, c.Because)
		}
	}

	c := published(1)
	for _, id := range ids {
		d := desiredStory(id, 1, "s1", 1)
		c.Defaults = append(c.Defaults, d)
		c.Outbox = append(c.Outbox, library.Message{Topic: schema.TopicDesiredStory, Target: id, Payload: d.Document})
	}
	apply(t, s, c)
	wantEqual(t, "defaults", defaults(t, s), c.Defaults)
	sendAllOf(t, s, many)
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		for i := range c.Defaults {
			c.Defaults[i].DesiredRev = 2
		}
		c.Defaults[many-1].DesiredRev = 1
		return tx.Apply(t.Context(), library.Changes{Defaults: c.Defaults}, at(9))
	})
	wantErr(t, "a desired state over one that was written meanwhile, among others", err, store.ErrConflict)
	wantEqual(t, "the other desired documents", must[store.Robot](t)(s.Robot(t.Context(), ids[0])).DesiredRev, int64(1))
}

func sendAllOf(t testing.TB, s *store.Store, want int) {
	t.Helper()
	var seqs []int64
	for i, o := range must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, want+1)) {
		if o.Seq != int64(i+1) || o.Target != fmt.Sprintf("r%05d", i) {
			t.Fatalf("message %d of the outbox has number %d, for %s", i+1, o.Seq, o.Target)
		}
		seqs = append(seqs, o.Seq)
	}
	wantEqual(t, "messages in the outbox", len(seqs), want)
	if err := s.MarkSent(t.Context(), seqs[1:], at(5)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "messages that are not sent", len(must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, want+1))), 1)
}

// If the database refuses one row, wherever it stands in the batch, the call returns an error
// and writes nothing: the caller can try the whole batch again.
func badRowFailsItsBatch(t *testing.T, address string) {
	s := storetest.Open(t, address)
	ids := manyRobots(t, s)
	before := must[store.Robot](t)(s.Robot(t.Context(), ids[0])).LastSeen
	for _, bad := range []int{0, many / 2, many - 1} {
		var documents []store.Document
		var events []store.Event
		for i, id := range ids {
			if i == bad {
				id = "unknown"
			}
			documents = append(documents, store.Document{Robot: id, Kind: schema.TopicState, Body: []byte("{}"), ReceivedAt: at(i + 1)})
			events = append(events, event(id, "b", int64(i), "a", i))
		}
		wantErr(t, "documents with one of an unknown robot", s.SaveDocuments(t.Context(), documents), store.ErrNotFound)
		wantErr(t, "events with one of an unknown robot", s.AddEvents(t.Context(), events), store.ErrNotFound)
		b, commands := batch("b1", ids...)
		commands[bad].Robot = "unknown"
		wantErr(t, "a batch with an unknown robot", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.AddBatch(t.Context(), b, commands) }),
			store.ErrNotFound)
		commands[bad] = commands[(bad+1)%many]
		wantErr(t, "a batch with one id twice", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.AddBatch(t.Context(), b, commands) }),
			store.ErrConflict)
	}
	wantEqual(t, "documents", len(must[[]store.Document](t)(s.Documents(t.Context(), ""))), 0)
	wantEqual(t, "events", len(must[[]store.Event](t)(s.Events(t.Context(), store.EventQuery{}))), 0)
	wantEqual(t, "batches", len(must[[]command.Batch](t)(s.Batches(t.Context(), store.BatchQuery{}))), 0)
	wantEqual(t, "last seen", must[store.Robot](t)(s.Robot(t.Context(), ids[0])).LastSeen, before)
}

// A batch may hold several documents of one robot and kind, in any order: the newest is saved.
func newestDocumentOfABatchIsKept(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	document := func(robot, body string, second int) store.Document {
		return store.Document{Robot: robot, Kind: schema.TopicState, Body: []byte(body), ReceivedAt: at(second)}
	}
	for _, documents := range [][]store.Document{
		{document("r1", "old", 11), document("r2", "two", 14), document("r1", "new", 13), document("r1", "older", 10), document("r2", "", 12)},
		{document("r1", "newer", 20), document("r1", "", 21)},
		{document("r1", "last", 30), document("r1", "very last", 30)},
	} {
		if err := s.SaveDocuments(t.Context(), documents); err != nil {
			t.Fatal(err)
		}
		switch documents[0].Body[0] {
		case 'o':
			wantEqual(t, "documents", must[[]store.Document](t)(s.Documents(t.Context(), "")),
				[]store.Document{document("r1", "new", 13), document("r2", "two", 14)})
		case 'n':
			wantEqual(t, "documents after one was emptied", len(must[[]store.Document](t)(s.Documents(t.Context(), "r1"))), 0)
			wantEqual(t, "last seen", seconds(must[store.Robot](t)(s.Robot(t.Context(), "r1")).LastSeen), 20)
		default:
			wantEqual(t, "of two at one time", must[[]store.Document](t)(s.Documents(t.Context(), "r1")),
				[]store.Document{document("r1", "very last", 30)})
		}
	}
}
