package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// Arguments of Hold: pause before the round trip, prompt for the round trip.
const (
	prompt = 30 * time.Second
	pause  = time.Millisecond
)

// requestLead tries to become the leader.
func requestLead(t testing.TB, s *store.Store, name string, now int) (*store.LeaderLock, store.Leader) {
	t.Helper()
	l, who, err := s.TryLead(t.Context(), name, at(now))
	if err != nil {
		t.Fatal(err)
	}
	if l != nil {
		t.Cleanup(func() { _ = l.Resign(context.Background(), at(now)) })
	}
	return l, who
}

func onlyOneInstanceLeads(t *testing.T, address string) {
	s := storetest.Open(t, address)
	wantEqual(t, "before anybody led", must[store.PollResult](t)(s.Poll(t.Context(), store.PollResult{})).Leader, store.Leader{})
	first, before := requestLead(t, s, "fleetd-a", 1)
	if first == nil || first.Term != 1 {
		t.Fatalf("the first instance got %+v", first)
	}
	wantEqual(t, "before the first", before, store.Leader{})
	second, who := requestLead(t, s, "fleetd-b", 2)
	if second != nil {
		t.Fatal("two instances lead")
	}
	wantEqual(t, "who leads", who, store.Leader{Term: 1, Name: "fleetd-a", Since: at(1)})
	for range 3 {
		if err := first.Hold(t.Context(), pause, prompt); err != nil {
			t.Fatal(err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	wantErr(t, "holding on after the end", first.Hold(over, time.Hour, prompt), context.Canceled)
	for i := range 200 { // at any point of the round trip
		over, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Microsecond)
		_ = first.Hold(over, 0, prompt) // lost, or just in time
		cancel()
	}
	if err := first.Hold(t.Context(), pause, prompt); err != nil {
		t.Fatalf("hold after cancelled calls: %v", err)
	}

	if err := first.Resign(t.Context(), at(3)); err != nil {
		t.Fatal(err)
	}
	if err := first.Resign(t.Context(), at(4)); err != nil {
		t.Fatalf("resigned twice: %v", err)
	}
	second, before = requestLead(t, s, "fleetd-b", 5)
	if second == nil || second.Term != 2 {
		t.Fatalf("after a resignation: %+v", second)
	}
	wantEqual(t, "before the second", before, store.Leader{Term: 1, Name: "fleetd-a", Since: at(1), ResignedAt: at(3)})
	wantEqual(t, "who leads now", must[store.PollResult](t)(s.Poll(t.Context(), store.PollResult{})).Leader,
		store.Leader{Term: 2, Name: "fleetd-b", Since: at(5)})
}

// An instance that ends without resigning, as a killed one does, is recognized by the next
// leader.
func droppedLeadIsLost(t *testing.T, address string) {
	s := storetest.Open(t, address)
	l, _ := requestLead(t, s, "fleetd-a", 1)
	l.Drop()
	wantErr(t, "holding on to what is lost", l.Hold(t.Context(), time.Hour, prompt), store.ErrLeadLost)
	next, before := requestLead(t, s, "fleetd-b", 2)
	for next == nil { // until the server notices the closed connection
		next, before = requestLead(t, s, "fleetd-b", 2)
	}
	wantEqual(t, "before", before, store.Leader{Term: 1, Name: "fleetd-a", Since: at(1)})
	if err := l.Resign(t.Context(), at(3)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "who leads", must[store.PollResult](t)(s.Poll(t.Context(), store.PollResult{})).Leader,
		store.Leader{Term: 2, Name: "fleetd-b", Since: at(2)})
}

func changesNameRobots(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3")
	first := must[store.PollResult](t)(s.Poll(t.Context(), store.PollResult{}))
	if !first.All {
		t.Errorf("the first poll: %+v", first)
	}
	since := first
	named := func(what string, want ...string) {
		t.Helper()
		n := must[store.PollResult](t)(s.Poll(t.Context(), since))
		slices.Sort(n.Robots)
		if n.All || !slices.Equal(n.Robots, want) {
			t.Errorf("%s: all %v, robots %v, want %v", what, n.All, n.Robots, want)
		}
		since = n
	}
	label := func(robot, site string) {
		transact(t, s, func(tx *store.Tx) error { return tx.SetLabels(t.Context(), robot, map[string]string{"site": site}) })
	}
	enqueue := func(messages ...library.Message) {
		transact(t, s, func(tx *store.Tx) error { return tx.Apply(t.Context(), library.Changes{Outbox: messages}, at(1)) })
	}
	named("nothing")
	label("r2", "museum")
	named("a label", "r2")
	named("once")
	enqueue(library.Message{Topic: schema.TopicDesiredStory, Target: "r1"}, library.Message{Topic: schema.TopicDesiredMode, Target: "r3"},
		library.Message{Topic: schema.TopicDesiredMode, Target: "r1"})
	label("r3", "shop")
	named("desired documents and a label", "r1", "r3")
	enqueue(library.Message{Topic: schema.TopicFleetStop})
	named("a document of the whole fleet")
	robots(t, s, "r4")
	named("a new robot", "r4")
	since = first
	named("all since the first poll", "r1", "r2", "r3", "r4")

	archive(t, s, "r4", at(9))
	if n := must[store.PollResult](t)(s.Poll(t.Context(), since)); !n.All {
		t.Errorf("after a robot left the fleet: %+v", n)
	}
	since = must[store.PollResult](t)(s.Poll(t.Context(), since))

	execute(t, raw(t, address), `UPDATE fleet SET changes = changes + 1`)
	if n := must[store.PollResult](t)(s.Poll(t.Context(), since)); !n.All {
		t.Errorf("after a change by an instance that names no robots: %+v", n)
	}
	since = must[store.PollResult](t)(s.Poll(t.Context(), since))
	label("r1", "museum")
	named("afterwards", "r1")

	var many []string
	for i := range selector.MaxIDs + 1 {
		many = append(many, fmt.Sprintf("m%d", i))
	}
	transact(t, s, func(tx *store.Tx) error {
		for _, id := range many {
			if _, err := tx.AddRobot(t.Context(), id, at(1)); err != nil {
				return err
			}
		}
		return nil
	})
	if n := must[store.PollResult](t)(s.Poll(t.Context(), since)); !n.All {
		t.Errorf("after %d robots: not all are read", len(many))
	}
}

func changesAreCounted(t *testing.T, address string) {
	s := storetest.Open(t, address)
	was := must[store.PollResult](t)(s.Poll(t.Context(), store.PollResult{})).Changes
	rises := func(what string, want bool) {
		t.Helper()
		now := must[store.PollResult](t)(s.Poll(t.Context(), store.PollResult{})).Changes
		if (now > was) != want || now < was {
			t.Errorf("%s: changes are %d after %d", what, now, was)
		}
		was = now
	}
	robots(t, s, "r1")
	rises("a robot", true)
	robots(t, s, "r1")
	rises("the same robot", false)
	transact(t, s, func(tx *store.Tx) error { return tx.SetLabels(t.Context(), "r1", map[string]string{"site": "museum"}) })
	rises("a label", true)
	transact(t, s, func(tx *store.Tx) error {
		return tx.Apply(t.Context(), library.Changes{Outbox: []library.Message{{Topic: schema.TopicDesiredStory, Target: "r1"}}}, at(1))
	})
	rises("a desired state", true)
	if err := s.SaveDocuments(t.Context(),
		[]store.Document{{Robot: "r1", Kind: schema.TopicState, Body: []byte("{}"), ReceivedAt: at(2)}}); err != nil {
		t.Fatal(err)
	}
	rises("what a robot says", false)
}
