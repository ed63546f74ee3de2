package store_test

import (
	"errors"
	"fmt"
	"testing"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/score"
)

// activity publishes an activity.
func activity(t testing.TB, s *store.Store, id string, acts ...string) {
	t.Helper()
	text := fmt.Sprintf("activity: %s\nname: {en: Activity}\nrepeat: once\nnature: solitary\nacts:\n", id)
	for _, a := range acts {
		text += "  - {act: " + a + "}\n"
	}
	publish(t, s, library.KindActivity, id, text)
}

func assignSet(ids []string, robots ...string) step {
	var activities []library.Pin
	for _, id := range ids {
		activities = append(activities, library.Pin{ID: id})
	}
	return step{library.ForActivities(activities), robots, func(rows library.Rows) (library.Changes, []schema.Problem) {
		a, problems := library.AssignActivities(rows, library.ActivitiesAssignment{Activities: activities, Robots: robots}, anna)
		return a.Changes, problems
	}}
}

// activitiesOf returns the activities of a robot, and what the set that is published for it
// contains.
func activitiesOf(t *testing.T, s *store.Store, robot string) string {
	t.Helper()
	r := must[store.Robot](t)(s.Robot(t.Context(), robot))
	text := fmt.Sprint(r.Activities)
	if documents := must[map[schema.TopicKind][]byte](t)(s.DesiredOf(t.Context(), robot)); r.ActivitiesRev > 0 {
		d, _ := schema.Decode[schema.DesiredSet](documents[schema.TopicDesiredActivities])
		if d.Rev != r.ActivitiesRev || d.Set == nil && r.ActivitiesSHA256 != "" || d.Set != nil && d.Set.SHA256 != r.ActivitiesSHA256 {
			t.Errorf("%s has the document %+v, and in its row %+v", robot, d, r)
		}
	}
	if r.ActivitiesSHA256 == "" {
		return text
	}
	set, problems := score.ParseActivities(must[[]byte](t)(s.Blob(t.Context(), r.ActivitiesSHA256)))
	if len(problems) > 0 {
		t.Error(problems)
	}
	for _, a := range set.Activities {
		text += fmt.Sprintf(" %s:", a.ID)
		for _, step := range a.Acts {
			text += " " + step.Act
		}
	}
	return text
}

func activitiesAreAssigned(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3")
	act(t, s, "a")
	act(t, s, "b")
	activity(t, s, "greet", "a", "b")
	activity(t, s, "look", "b")
	story(t, s, "x", "a", "b")
	plan := func(p step) {
		t.Helper()
		if problems := planned(t, s, p); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	plan(assignSet([]string{"look", "greet"}, "r1"))
	plan(assignSet([]string{"look"}, "r2"))
	wantEqual(t, "a set", activitiesOf(t, s, "r1"), "[{look 1} {greet 1}] look: b greet: a b")
	wantEqual(t, "another set", activitiesOf(t, s, "r2"), "[{look 1}] look: b")
	wantEqual(t, "no set", activitiesOf(t, s, "r3"), "[]")

	read := func(what string, reading library.Reading, robots selector.Selector, want string) {
		t.Helper()
		transact(t, s, func(tx *store.Tx) error {
			rows, err := tx.LibraryFor(t.Context(), reading, robots)
			text := rowsText(rows)
			for _, set := range rows.Sets {
				text += fmt.Sprintf(" %s:%v", set.Robot, set.Activities)
				if set.DesiredRev == 0 || len(set.Document) == 0 || set.ChangedBy != "anna" {
					t.Errorf("%s: %+v", what, set)
				}
			}
			wantEqual(t, what, text, want)
			return err
		})
	}
	assigned := func(kind library.Kind, id string) library.Reading {
		return func(r library.Reader) { r.Assigned(refTo(kind, id)) }
	}
	read("sets of the robots of the plan", func(r library.Reader) { r.RobotSets() }, selector.IDs("r1", "r3"), " r1:[{look 1} {greet 1}]")
	read("holders of an activity", assigned(library.KindActivity, "greet"), selector.Selector{}, "greet@1 look@1 r1:[{look 1} {greet 1}]")
	read("holders of an act", assigned(library.KindAct, "a"), selector.Selector{}, "greet@1 look@1 r1:[{look 1} {greet 1}]")
	read("entries", func(r library.Reader) { r.Newest(library.KindActivity, "look") }, selector.Selector{}, "look look@1")
	read("stories and activities with an act", func(r library.Reader) {
		r.Uses([]library.Kind{library.KindStory, library.KindActivity}, refTo(library.KindAct, "a"))
	}, selector.Selector{}, "x greet x@1 greet@1")

	// The deletion of an act changes entries, sets and documents in one transaction.
	plan(remove(library.KindAct, "b"))
	wantEqual(t, "a shortened set", activitiesOf(t, s, "r1"), "[{greet 2}] greet: a")
	wantEqual(t, "an emptied set", activitiesOf(t, s, "r2"), "[]")
	if e := must[library.Entry](t)(s.Entry(t.Context(), library.KindActivity, "look")); !e.Deleted() {
		t.Errorf("the emptied activity is %+v", e)
	}
	plan(assignSet(nil, "r1"))
	wantEqual(t, "no set", activitiesOf(t, s, "r1"), "[]")

	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.Apply(t.Context(), library.Changes{Sets: []library.ActivitySet{{Robot: "r3", DesiredRev: 1,
			Activities: []library.Pin{{ID: "greet", Rev: 9}}, Document: []byte("{}")}}}, at(9))
	})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a revision that was never published: %v", err)
	}
}
