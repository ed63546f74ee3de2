package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"troupe/fleetd/audit"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// Each writer reads the newest desired revision and writes the next one. If one overwrote the
// change of another, a revision would be used twice.
func concurrentWriters(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	apply(t, s, published(1))
	const writers, rounds = 4, 5
	var wg sync.WaitGroup
	failed := make(chan error, writers*rounds)
	for w := range writers {
		wg.Go(func() {
			for range rounds {
				for {
					err := s.Tx(t.Context(), func(tx *store.Tx) error {
						rows, err := tx.LibraryFor(t.Context(), readStories, selector.All())
						if err != nil {
							return err
						}
						next := int64(1)
						for _, d := range rows.Defaults {
							if d.Robot == "r1" {
								next = d.DesiredRev + 1
							}
						}
						return tx.Apply(t.Context(), library.Changes{
							Defaults: []library.Default{desiredStory("r1", next, "s1", 1)},
							Outbox:   []library.Message{{Topic: schema.TopicDesiredStory, Target: "r1", Payload: fmt.Append(nil, next)}},
							Notes:    []library.Note{{Who: fmt.Sprint(w)}},
						}, at(1))
					})
					if errors.Is(err, store.ErrBusy) {
						continue // as callers do
					}
					failed <- err
					break
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			t.Error(err)
		}
	}
	robot := must[store.Robot](t)(s.Robot(t.Context(), "r1"))
	if robot.DesiredRev != writers*rounds {
		t.Errorf("the desired document has revision %d after %d writes", robot.DesiredRev, writers*rounds)
	}
	for i, o := range must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)) {
		if o.Seq != int64(i+1) || string(o.Payload) != fmt.Sprint(i+1) {
			t.Errorf("message %d of the outbox has number %d and payload %s", i+1, o.Seq, o.Payload)
		}
	}
	if n := len(must[[]audit.Entry](t)(s.Audit(t.Context(), store.AuditQuery{}))); n != writers*rounds {
		t.Errorf("%d audit entries of %d writes", n, writers*rounds)
	}
}

// A transaction that began before another one committed reads none or all of its changes.
func transactionReadsASnapshot(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	apply(t, s, published(1))
	var wg sync.WaitGroup
	defer wg.Wait()
	stop := make(chan struct{})
	defer close(stop)
	wg.Go(func() {
		for rev := int64(2); ; rev++ {
			select {
			case <-stop:
				return
			default:
			}
			err := s.Tx(t.Context(), func(tx *store.Tx) error {
				return tx.Apply(t.Context(), library.Changes{
					Entries:   []library.Entry{entry(library.KindStory, "s1", rev)},
					Revisions: []library.Revision{revision(library.KindStory, "s1", rev)},
				}, at(1))
			})
			if errors.Is(err, store.ErrBusy) {
				rev--
			} else if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 20 {
		transact(t, s, func(tx *store.Tx) error {
			rows, err := tx.LibraryFor(t.Context(), func(r library.Reader) { r.Newest(library.KindStory, "s1") }, selector.Selector{})
			if err != nil {
				return err
			}
			if len(rows.Revisions) != 1 || rows.Revisions[0].Rev != rows.Entries[0].Rev {
				t.Errorf("the story is at revision %d, and its newest revision is %+v", rows.Entries[0].Rev, rows.Revisions)
			}
			return nil
		})
	}
}

func outboxIsTransactional(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	message := library.Changes{Outbox: []library.Message{{Topic: schema.TopicDesiredStory, Target: "r1", Payload: []byte("{}")}}}
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		if err := tx.Apply(t.Context(), message, at(1)); err != nil {
			return err
		}
		return errOfOurs
	})
	wantErr(t, "the transaction", err, errOfOurs)
	if left := must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)); len(left) > 0 {
		t.Fatalf("a rolled back message is in the outbox: %+v", left)
	}
	apply(t, s, message)
	if left := must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)); len(left) != 1 || left[0].Seq != 1 {
		t.Fatalf("got %+v", left)
	}
}

func outboxKeepsOrder(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	c := published(1)
	blob := c.Revisions[0]
	c.Outbox = []library.Message{
		{Topic: schema.TopicBlob, Target: blob.SHA256},
		{Topic: schema.TopicDesiredStory, Target: "r2", Payload: []byte("first")},
		{Topic: schema.TopicDesiredStory, Target: "r1", Payload: []byte("second")},
	}
	apply(t, s, c)
	apply(t, s, library.Changes{Outbox: []library.Message{{Topic: schema.TopicDesiredStory, Target: "r2", Payload: []byte("third")}}})
	want := []store.Outgoing{
		{Seq: 1, Topic: schema.TopicBlob, Target: blob.SHA256, Payload: blob.Body},
		{Seq: 2, Topic: schema.TopicDesiredStory, Target: "r2", Payload: []byte("first")},
		{Seq: 3, Topic: schema.TopicDesiredStory, Target: "r1", Payload: []byte("second")},
		{Seq: 4, Topic: schema.TopicDesiredStory, Target: "r2", Payload: []byte("third")},
	}
	unsent := must[[]store.Outgoing](t)
	wantEqual(t, "the outbox", withBodies(t, s, unsent(s.Unsent(t.Context(), 0, 0))), want)
	wantEqual(t, "what follows its first row", unsent(s.Unsent(t.Context(), 1, 2)), want[1:3])
	wantEqual(t, "its beginning", withBodies(t, s, unsent(s.Unsent(t.Context(), 0, 2))), want[:2])
	wantEqual(t, "the rows of one target", unsent(s.UnsentOf(t.Context(), "r2", 0, 4, 9)), []store.Outgoing{want[1], want[3]})
	wantEqual(t, "the first of them", unsent(s.UnsentOf(t.Context(), "r2", 0, 4, 1)), want[1:2])
	wantEqual(t, "those before a number", unsent(s.UnsentOf(t.Context(), "r2", 0, 3, 9)), want[1:2])
	wantEqual(t, "those after a number", unsent(s.UnsentOf(t.Context(), "r2", 2, 4, 9)), want[3:])
	if err := s.MarkSent(t.Context(), []int64{1, 3}, at(5)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "what is left", unsent(s.Unsent(t.Context(), 0, 0)), []store.Outgoing{want[1], want[3]})
	wantEqual(t, "what is left of one target", unsent(s.UnsentOf(t.Context(), "r1", 0, 4, 9)), []store.Outgoing(nil))
	if n := must[int64](t)(s.PruneSent(t.Context(), at(5))); n != 0 {
		t.Errorf("%d rows deleted too early", n)
	}
	if n := must[int64](t)(s.PruneSent(t.Context(), at(6))); n != 2 {
		t.Errorf("%d rows deleted, want 2", n)
	}
	wantEqual(t, "what is left after tidying", unsent(s.Unsent(t.Context(), 0, 0)), []store.Outgoing{want[1], want[3]})

	var stops []store.Outgoing
	for i, m := range []library.Message{
		{Topic: schema.TopicDesiredStop, Target: "r1", Payload: []byte("fifth")},
		{Topic: schema.TopicDesiredStory, Target: "r1", Payload: []byte("sixth")},
		{Topic: schema.TopicFleetStop, Payload: []byte("seventh")},
	} {
		apply(t, s, library.Changes{Outbox: []library.Message{m}})
		if m.Topic != schema.TopicDesiredStory {
			stops = append(stops, store.Outgoing{Seq: int64(5 + i), Topic: m.Topic, Target: m.Target, Payload: m.Payload})
		}
	}
	wantEqual(t, "its stops", unsent(s.UnsentStops(t.Context(), 0, 0)), stops)
	wantEqual(t, "its first stop", unsent(s.UnsentStops(t.Context(), 0, 1)), stops[:1])
	wantEqual(t, "the stops after that", unsent(s.UnsentStops(t.Context(), 5, 0)), stops[1:])
}

func desiredDocumentsAreListed(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s) // r1 performs s1 revision 1; the default story of r2 was cleared
	blob := revision(library.KindStory, "s1", 1)
	wantEqual(t, "what the broker must hold", must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context())), []store.Outgoing{
		{Topic: schema.TopicBlob, Target: blob.SHA256, PayloadInBlob: true},
		{Topic: schema.TopicDesiredStory, Target: "r1", Payload: []byte(`{"rev":1}`)},
		{Topic: schema.TopicDesiredStory, Target: "r2", Payload: []byte(`{"rev":4}`)},
	})
	wantEqual(t, "the desired documents of r2", must[[]store.Outgoing](t)(s.DesiredDocuments(t.Context(), selector.IDs("r2", "r9"))),
		[]store.Outgoing{
			{Topic: schema.TopicDesiredStory, Target: "r2", Payload: []byte(`{"rev":4}`)},
		})
	holdStops(t, s, 9, stop.Request{ID: "s-1", Level: schema.StopStop, Robots: []string{"r2"}, At: at(9)})
	var kinds []schema.TopicKind
	for _, o := range must[[]store.Outgoing](t)(s.DesiredDocuments(t.Context(), selector.IDs("r2", "r9"))) {
		kinds = append(kinds, o.Topic)
	}
	wantEqual(t, "the desired documents of a stopped robot", kinds, []schema.TopicKind{schema.TopicDesiredStop, schema.TopicDesiredStory})
}
