package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"troupe/fleetd/audit"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/score"
)

// step is a plan with what it needs, as in fleetd's API.
type step struct {
	read   library.Reading
	robots []string
	plan   func(library.Rows) (library.Changes, []schema.Problem)
}

// planned runs a plan in a transaction, as fleetd does, and returns its problems. It repeats
// the transaction while the database is busy, as a person would repeat the request.
func planned(t testing.TB, s *store.Store, p step) []schema.Problem {
	t.Helper()
	for {
		var problems []schema.Problem
		err := s.Tx(t.Context(), func(tx *store.Tx) error {
			rows, err := tx.LibraryFor(t.Context(), p.read, selector.IDs(p.robots...))
			if err != nil {
				return err
			}
			var c library.Changes
			c, problems = p.plan(rows)
			return tx.Apply(t.Context(), c, at(1))
		})
		if errors.Is(err, store.ErrBusy) {
			continue
		}
		if err != nil {
			t.Error(err)
		}
		return problems
	}
}

var anna = audit.Attribution{Who: "anna", At: storetest.Start}

func publish(t testing.TB, s *store.Store, kind library.Kind, id, text string) {
	t.Helper()
	for _, p := range []step{
		{library.ForDraft(kind, []byte(text)), nil, func(rows library.Rows) (library.Changes, []schema.Problem) {
			saved, problems := library.Save(rows, kind, []byte(text), nil, anna)
			return saved.Changes, problems
		}},
		{library.ForPublish(kind, id), nil, func(rows library.Rows) (library.Changes, []schema.Problem) {
			p, problems := library.Publish(rows, kind, id, nil, anna)
			return p.Changes, problems
		}},
	} {
		if problems := planned(t, s, p); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
}

// act publishes an act.
func act(t testing.TB, s *store.Store, id string) {
	t.Helper()
	publish(t, s, library.KindAct, id, fmt.Sprintf("act: %s\nactions: [{type: wait, start_ms: 0, end_ms: 1000}]\n", id))
}

func story(t testing.TB, s *store.Store, id string, acts ...string) {
	t.Helper()
	text := fmt.Sprintf("story: %s\nname: {en: Story}\nrepeat: loop\nacts:\n", id)
	for _, a := range acts {
		text += "  - {act: " + a + "}\n"
	}
	publish(t, s, library.KindStory, id, text)
}

func assign(story string, robots ...string) step {
	return step{library.ForAssignment(story, 0), robots, func(rows library.Rows) (library.Changes, []schema.Problem) {
		a, problems := library.Assign(rows, library.Assignment{Story: story, Robots: robots}, anna)
		return a.Changes, problems
	}}
}

// remove deletes an act or story with all consequences.
func remove(kind library.Kind, id string) step {
	return step{library.ForDelete(kind, id), nil, func(rows library.Rows) (library.Changes, []schema.Problem) {
		dry, problems := library.Delete(rows, kind, id, nil, anna)
		if len(problems) > 0 {
			return library.Changes{}, problems
		}
		r, problems := library.Delete(rows, kind, id,
			&library.Expect{Stories: len(dry.Impact.Stories), Activities: len(dry.Impact.Activities), Robots: dry.Impact.Robots,
				Clear: dry.Impact.Clears}, anna)
		return r.Changes, problems
	}}
}

func plansAreApplied(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	act(t, s, "a")
	act(t, s, "b")
	story(t, s, "x", "a", "b")
	story(t, s, "z", "b")
	for _, p := range []step{assign("x", "r1"), assign("z", "r2"), remove(library.KindAct, "b")} {
		if problems := planned(t, s, p); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	var published []string
	for _, o := range withBodies(t, s, must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0))) {
		if o.Topic == schema.TopicBlob {
			b, problems := score.ParsePublishedStory(o.Payload)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			published = append(published, fmt.Sprintf("blob %s/%d", b.Story.ID, b.Rev))
			continue
		}
		desired, problems := schema.DecodeStrict[schema.DesiredStory](o.Payload)
		if len(problems) > 0 || desired.FleetID != s.FleetID() {
			t.Fatalf("%s: %v", o.Payload, problems)
		}
		if desired.Story == nil {
			published = append(published, fmt.Sprintf("%s/%d nothing", o.Target, desired.Rev))
		} else {
			published = append(published, fmt.Sprintf("%s/%d %s/%d", o.Target, desired.Rev, desired.Story.ID, desired.Story.Rev))
		}
	}
	wantEqual(t, "published documents", published,
		[]string{"blob x/1", "r1/1 x/1", "blob z/1", "r2/1 z/1", "blob x/2", "r1/2 x/2", "r2/2 nothing"})
	z := must[library.Entry](t)(s.Entry(t.Context(), library.KindStory, "z"))
	if !z.Deleted() {
		t.Errorf("the emptied story is %+v", z)
	}
}

// Stories are assigned while an act of theirs is deleted. In any order, no robot keeps the
// deleted act.
func concurrentAssignAndDelete(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3")
	act(t, s, "a")
	act(t, s, "b")
	story(t, s, "x", "a", "b")
	story(t, s, "z", "b")
	var wg sync.WaitGroup
	for _, robot := range []string{"r1", "r2", "r3"} {
		for _, id := range []string{"x", "z"} {
			wg.Go(func() {
				planned(t, s, assign(id, robot))
			})
		}
	}
	wg.Go(func() {
		if problems := planned(t, s, remove(library.KindAct, "b")); len(problems) > 0 {
			t.Error(problems)
		}
	})
	wg.Wait()
	for _, d := range defaults(t, s) {
		if d.Story == "" {
			continue
		}
		v := must[library.Revision](t)(s.Revision(t.Context(), library.KindStory, d.Story, d.Rev))
		b, problems := score.ParsePublishedStory(v.Body)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if d.Story != "x" || slices.ContainsFunc(b.Story.Acts, func(step score.Step) bool { return step.Act == "b" }) {
			t.Errorf("%s performs %s revision %d: %s", d.Robot, d.Story, d.Rev, v.Body)
		}
	}
}
