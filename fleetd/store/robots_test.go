package store_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

func robotsAreKnown(t *testing.T, address string) {
	s := storetest.Open(t, address)
	for i, want := range []bool{true, false} {
		if added := must[bool](t)(s.AddRobot(t.Context(), "r1", at(i))); added != want {
			t.Fatalf("add %d: %v, want %v", i, added, want)
		}
	}
	wantEqual(t, "the robot", must[store.Robot](t)(s.Robot(t.Context(), "r1")),
		store.Robot{ID: "r1", Labels: map[string]string{}, FirstSeen: storetest.Start, LastSeen: storetest.Start})
	_, err := s.Robot(t.Context(), "r2")
	wantErr(t, "an unknown robot", err, store.ErrNotFound)
}

func labelsAreReplaced(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	for _, labels := range []map[string]string{{"site": "museum", "floor": "2"}, {"site": "Café ☕"}, {}} {
		transact(t, s, func(tx *store.Tx) error { return tx.SetLabels(t.Context(), "r1", labels) })
		wantEqual(t, "labels", must[store.Robot](t)(s.Robot(t.Context(), "r1")).Labels, labels)
	}
	wantEqual(t, "another robot's labels", must[store.Robot](t)(s.Robot(t.Context(), "r2")).Labels, map[string]string{})
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.SetLabels(t.Context(), "r9", map[string]string{"site": "moon"})
	})
	wantErr(t, "an unknown robot", err, store.ErrNotFound)
}

func newerDocumentIsKept(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	document := func(robot string, kind schema.TopicKind, body string, second int) store.Document {
		d := store.Document{Robot: robot, Kind: kind, ReceivedAt: at(second)}
		if body != "" {
			d.Body = []byte(body)
		}
		return d
	}
	save := func(documents ...store.Document) {
		t.Helper()
		if err := s.SaveDocuments(t.Context(), documents); err != nil {
			t.Fatal(err)
		}
	}
	save(document("r1", schema.TopicState, "one", 10), document("r1", schema.TopicCaps, "caps", 11),
		document("r2", schema.TopicState, "other", 12))
	save(document("r1", schema.TopicState, "two", 13))
	save(document("r1", schema.TopicState, "late", 12)) // written late by a slower writer
	wantEqual(t, "the documents of r1", must[[]store.Document](t)(s.Documents(t.Context(), "r1")), []store.Document{
		document("r1", schema.TopicCaps, "caps", 11), document("r1", schema.TopicState, "two", 13),
	})
	if n := len(must[[]store.Document](t)(s.Documents(t.Context(), ""))); n != 3 {
		t.Errorf("%d documents of all robots, want 3", n)
	}
	if last := must[store.Robot](t)(s.Robot(t.Context(), "r1")).LastSeen; seconds(last) != 13 {
		t.Errorf("last seen at %d s", seconds(last))
	}
	save(document("r1", schema.TopicState, "", 12)) // older than the saved document
	save(document("r1", schema.TopicCaps, "", 20))
	wantEqual(t, "what is left", must[[]store.Document](t)(s.Documents(t.Context(), "r1")),
		[]store.Document{document("r1", schema.TopicState, "two", 13)})

	err := s.SaveDocuments(t.Context(),
		[]store.Document{document("r2", schema.TopicState, "newer", 30), document("r9", schema.TopicState, "x", 30)})
	wantErr(t, "an unknown robot", err, store.ErrNotFound)
	wantEqual(t, "the other document of the call", must[[]store.Document](t)(s.Documents(t.Context(), "r2")),
		[]store.Document{document("r2", schema.TopicState, "other", 12)})
}

func event(robot, boot string, seq int64, kind string, second int) store.Event {
	return store.Event{Robot: robot, Boot: boot, Seq: seq, Type: kind, Level: "level " + kind, Body: fmt.Appendf(nil, `{"seq":%d}`, seq),
		ReceivedAt: at(second)}
}

func eventsAreKeptOnce(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	first := event("r1", "b1", 1, "mode_changed", 1)
	for _, events := range [][]store.Event{{first}, {event("r1", "b1", 1, "something_else", 9), event("r1", "b2", 1, "mode_changed", 2)},
		nil} {
		if err := s.AddEvents(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, "events", must[[]store.Event](t)(s.Events(t.Context(), store.EventQuery{})),
		[]store.Event{event("r1", "b2", 1, "mode_changed", 2), first})
	wantErr(t, "an unknown robot", s.AddEvents(t.Context(), []store.Event{event("r1", "b3", 1, "x", 1), event("r9", "b1", 1, "x", 1)}),
		store.ErrNotFound)
	if n := len(must[[]store.Event](t)(s.Events(t.Context(), store.EventQuery{}))); n != 2 {
		t.Errorf("%d events after a refusal, want 2", n)
	}
}

func eventsAreFound(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	var all []store.Event
	for i := range 6 {
		all = append(all, event(fmt.Sprintf("r%d", i%2+1), "b", int64(i+1), []string{"a", "b", "c"}[i%3], i))
	}
	if err := s.AddEvents(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    store.EventQuery
		want []int64
	}{
		{store.EventQuery{}, []int64{6, 5, 4, 3, 2, 1}},
		{store.EventQuery{Limit: 2}, []int64{6, 5}},
		{store.EventQuery{Robot: "r1"}, []int64{5, 3, 1}},
		{store.EventQuery{Type: "b"}, []int64{5, 2}},
		{store.EventQuery{Level: []string{"level b"}}, []int64{5, 2}},
		{store.EventQuery{Level: []string{"level a", "level c"}, Robot: "r1"}, []int64{3, 1}},
		{store.EventQuery{Level: []string{"level d"}}, nil},
		{store.EventQuery{Since: at(3)}, []int64{6, 5, 4}},
		{store.EventQuery{Until: at(3)}, []int64{3, 2, 1}},
		{store.EventQuery{Robot: "r2", Type: "a", Since: at(1), Until: at(9), Limit: 5}, []int64{4}},
	} {
		var got []int64
		for _, e := range must[[]store.Event](t)(s.Events(t.Context(), c.q)) {
			got = append(got, e.Seq)
		}
		wantEqual(t, fmt.Sprintf("%+v", c.q), got, c.want)
	}
}

func selectorsAgree(t *testing.T, address string) {
	s := storetest.Open(t, address)
	ids := []string{"a", "b", "b-1", "c", "d9", `z"\<é>`}
	keys, values := []string{"site", "floor", "wing"}, []string{"x", "y", "X", "%", "'"}
	robots(t, s, ids...)
	rapid.Check(t, func(rt *rapid.T) {
		labels := map[string]map[string]string{}
		for _, id := range ids {
			labels[id] = rapid.MapOfN(rapid.SampledFrom(keys), rapid.SampledFrom(values), 0, 3).Draw(rt, "labels of "+id)
		}
		transact(t, s, func(tx *store.Tx) error {
			for _, id := range ids {
				if err := tx.SetLabels(t.Context(), id, labels[id]); err != nil {
					return err
				}
			}
			return nil
		})
		for range 8 {
			sel := drawSelector(rt, append(ids, "no_robot"), keys, values)
			want := []string{}
			for _, id := range ids {
				if sel.Match(selector.Robot{ID: id, Labels: labels[id]}) {
					want = append(want, id)
				}
			}
			got := []string{}
			for _, r := range must[[]store.Robot](t)(s.Robots(t.Context(), sel)) {
				got = append(got, r.ID)
				wantEqual(t, "labels of "+r.ID, r.Labels, labels[r.ID])
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				rt.Fatalf("%q among %v: SQL says %v, memory %v", sel, labels, got, want)
			}
		}
	})
}

func drawSelector(rt *rapid.T, ids, keys, values []string) selector.Selector {
	switch rapid.IntRange(0, 3).Draw(rt, "shape") {
	case 0:
		return selector.All()
	case 1:
		return selector.IDs(rapid.SliceOfN(rapid.SampledFrom(ids), 1, 3).Draw(rt, "ids")...)
	case 2:
		var s selector.Selector
		for range rapid.IntRange(1, 3).Draw(rt, "labels") {
			s.Labels = append(s.Labels, selector.Label{Key: rapid.SampledFrom(keys).Draw(rt, "key"),
				Value: rapid.SampledFrom(values).Draw(rt, "value")})
		}
		return s
	}
	return selector.Selector{}
}

func eventsOfTypesComeInPages(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	var all, want []store.Event
	for i := range 12 { // four at the same time
		all = append(all, event(fmt.Sprintf("r%d", i%4/2+1), fmt.Sprint("b", i%2), int64(i), []string{"a", "b", "c"}[i%3], i/4))
		if i%3 < 2 {
			want = append(want, all[i])
		}
	}
	if err := s.AddEvents(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	var got []store.Event
	var after *store.Event
	for range len(all) {
		page := must[[]store.Event](t)(s.EventsOf(t.Context(), []string{"a", "b"}, at(0), after, 3))
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
		after = &page[len(page)-1]
	}
	wantEqual(t, "the events of all pages", got, want)
}
