package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

func libraryIsReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	story := entry(library.KindStory, "s1", 2)
	gone := entry(library.KindStory, "s0", 0)
	gone.DeletedAt, gone.DeletedBy, gone.DeletedWhy = at(8), "bob", "left empty"
	act := entry(library.KindAct, "s1", 0) // an act and a story may have the same id
	act.Problems, act.Draft = nil, nil
	c := library.Changes{Entries: []library.Entry{story, gone, act}, Revisions: published(2).Revisions}
	apply(t, s, c)
	entries := must[[]library.Entry](t)
	wantEqual(t, "stories", entries(s.Entries(t.Context(), library.KindStory, false)), []library.Entry{story})
	wantEqual(t, "all stories", entries(s.Entries(t.Context(), library.KindStory, true)), []library.Entry{gone, story})
	wantEqual(t, "acts", entries(s.Entries(t.Context(), library.KindAct, true)), []library.Entry{act})
	wantEqual(t, "one", must[library.Entry](t)(s.Entry(t.Context(), library.KindStory, "s0")), gone)
	_, err := s.Entry(t.Context(), library.KindAct, "s0")
	wantErr(t, "an unknown act", err, store.ErrNotFound)

	first, second := c.Revisions[0], c.Revisions[1]
	wantEqual(t, "a revision", must[library.Revision](t)(s.Revision(t.Context(), library.KindStory, "s1", 2)), second)
	_, err = s.Revision(t.Context(), library.KindStory, "s1", 3)
	wantErr(t, "an unknown revision", err, store.ErrNotFound)
	wantEqual(t, "its bytes", must[[]byte](t)(s.Blob(t.Context(), second.SHA256)), second.Body)
	_, err = s.Blob(t.Context(), "none")
	wantErr(t, "an unknown blob", err, store.ErrNotFound)
	first.Body, second.Body = nil, nil
	wantEqual(t, "revisions", must[[]library.Revision](t)(s.Revisions(t.Context(), library.KindStory, "s1")),
		[]library.Revision{second, first})
}

// rowsText lists the rows that a plan got, in their order.
func rowsText(rows library.Rows) string {
	var all []string
	for _, e := range rows.Entries {
		all = append(all, e.ID)
	}
	for _, v := range rows.Revisions {
		all = append(all, fmt.Sprintf("%s@%d", v.ID, v.Rev))
	}
	for _, d := range rows.Defaults {
		all = append(all, fmt.Sprintf("%s:%s@%d", d.Robot, d.Story, d.Rev))
	}
	for _, a := range rows.Assets {
		all = append(all, a.Name)
	}
	for _, id := range rows.ActIDs {
		all = append(all, id+"?")
	}
	return strings.Join(all, " ")
}

func refTo(kind library.Kind, id string) library.Ref { return library.Ref{Kind: kind, ID: id} }

// readStories reads the default stories of the robots of a plan.
func readStories(r library.Reader) { r.RobotStories(false) }

func libraryForReadsWhatIsNeeded(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3", "r4")
	gong := file("gong", small)
	apply(t, s, library.Changes{Files: []library.File{gong}, Assets: []library.Asset{asset("gong", gong, 2)}})
	publish(t, s, library.KindAct, "a", "act: a\nactions: [{type: sound, start_ms: 0, timeout_ms: 900, sound: gong}]\n")
	act(t, s, "b")
	act(t, s, "b2") // not named by any story
	story(t, s, "x", "a", "b")
	story(t, s, "z", "b")
	story(t, s, "gone", "a")
	for _, p := range []step{assign("x", "r1"), assign("z", "r3"), remove(library.KindStory, "gone")} {
		if problems := planned(t, s, p); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	story(t, s, "x", "b")
	if problems := planned(t, s, assign("x", "r2")); len(problems) > 0 {
		t.Fatal(problems)
	}
	apply(t, s, library.Changes{
		Entries: []library.Entry{{Kind: library.KindStory, ID: "y", Draft: []byte("story: y\nacts: [{act: a}]\n"), DraftRev: 1,
			ChangedAt: at(1)}},
		Defaults: []library.Default{{Robot: "r4", DesiredRev: 1, ChangedAt: at(1)}},
	})
	a, b, sound, x := refTo(library.KindAct, "a"), refTo(library.KindAct, "b"), refTo(library.KindAsset, "gong"), refTo(library.KindStory, "x")
	sequences := []library.Kind{library.KindStory, library.KindActivity}
	sequencesWith := func(of ...library.Ref) library.Reading { return func(r library.Reader) { r.Uses(sequences, of...) } }
	assigned := func(of ...library.Ref) library.Reading { return func(r library.Reader) { r.Assigned(of...) } }
	for _, row := range []struct {
		what   string
		read   library.Reading
		robots selector.Selector
		want   string
	}{
		{"nothing", func(library.Reader) {}, selector.Selector{}, ""},
		{"the robots of the plan", readStories, selector.IDs("r1", "r4", "r9"), "r1:x@1 r4:@0"},
		{"no robots", readStories, selector.Selector{}, ""},
		{"all robots", readStories, selector.All(), "r1:x@1 r2:x@2 r3:z@1 r4:@0"},
		{"what robots perform", library.ForRenumber(), selector.IDs("r1", "r3", "r4"), "x@1 z@1 r1:x@1 r3:z@1 r4:@0"},
		{"entries", func(r library.Reader) {
			r.Newest(library.KindAct, "a", "none")
			r.Newest(library.KindStory, "x", "y", "gone")
		}, selector.Selector{}, "a gone x y a@1 gone@1 x@2"},
		{"only entries", func(r library.Reader) { r.Entries(library.KindAct, "a"); r.Entries(library.KindStory, "x") }, selector.Selector{},
			"a x"},
		{"pins", func(r library.Reader) {
			r.Newest(library.KindStory, "x")
			for _, rev := range []int64{1, 2, 9} {
				r.Revisions(library.KindStory, library.Pin{ID: "x", Rev: rev})
			}
		}, selector.Selector{}, "x x@2 x@1"},
		{"assets", func(r library.Reader) { r.Assets() }, selector.Selector{}, "gong"},
		{"ids of acts", func(r library.Reader) { r.ActIDs() }, selector.Selector{}, "a? b? b2?"},
		{"stories with an act in the draft only", sequencesWith(a), selector.Selector{}, "y"},
		{"stories with an act", sequencesWith(b), selector.Selector{}, "x z x@2 z@1"},
		{"stories with either act", sequencesWith(a, b), selector.Selector{}, "x y z x@2 z@1"},
		{"acts with a sound", func(r library.Reader) { r.Uses([]library.Kind{library.KindAct}, sound) }, selector.Selector{}, "a a@1"},
		{"stories with a sound", sequencesWith(sound), selector.Selector{}, ""},
		{"holders of a story", assigned(x), selector.Selector{}, "x@1 x@2 r1:x@1 r2:x@2"},
		{"holders of an act of an earlier revision", assigned(a), selector.Selector{}, "x@1 r1:x@1"},
		{"holders of an act of a newest revision", assigned(b), selector.Selector{}, "x@1 x@2 z@1 r1:x@1 r2:x@2 r3:z@1"},
		{"holders of a sound", assigned(sound), selector.Selector{}, "x@1 r1:x@1"},
		{"more, by what was read", func(r library.Reader) {
			readStories(r)
			r.Newest(library.KindAct, "a")
			r.Newest(library.KindAct, r.Rows().Entries[0].ID, "b")
			r.Assigned(b)
		}, selector.IDs("r1"), "a b a@1 b@1 x@1 x@2 z@1 r1:x@1 r2:x@2 r3:z@1"},
		{"an entry, and then its revision", func(r library.Reader) {
			r.Entries(library.KindAct, "a")
			r.Newest(library.KindAct, "a")
		}, selector.Selector{}, "a a@1"},
	} {
		transact(t, s, func(tx *store.Tx) error {
			rows, err := tx.LibraryFor(t.Context(), row.read, row.robots)
			if rows.FleetID != s.FleetID() || rows.Reported == nil {
				t.Errorf("%s: %+v", row.what, rows)
			}
			wantEqual(t, row.what, rowsText(rows), row.want)
			return err
		})
	}
}

// The rows have every column.
func libraryForReadsWholeRows(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	c := published(3)
	c.Defaults = []library.Default{desiredStory("r1", 7, "s1", 2), desiredStory("r2", 3, "", 0)}
	c.Defaults[1].Apply = ""
	apply(t, s, c)
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(t.Context(), func(r library.Reader) {
			r.RobotStories(true)
			r.Newest(library.KindStory, "s1")
		}, selector.All())
		wantEqual(t, "entries", rows.Entries, c.Entries)
		wantEqual(t, "the performed and the newest revision", rows.Revisions, c.Revisions[1:])
		wantEqual(t, "defaults", rows.Defaults, c.Defaults)
		return err
	})
}

func libraryForTakesAnyNumberOfRobots(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	c := published(1)
	c.Defaults = []library.Default{desiredStory("r1", 7, "s1", 1)}
	apply(t, s, c)
	sel := selector.IDs("r1")
	names := 33_000 // more than the parameters of a statement
	if strings.HasPrefix(address, "postgres") {
		names = 66_000
	}
	for i := range names {
		sel.IDs = append(sel.IDs, fmt.Sprint("other-", i))
	}
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(t.Context(), library.ForRenumber(), sel)
		wantEqual(t, "defaults", rows.Defaults, c.Defaults)
		wantEqual(t, "revisions", rows.Revisions, c.Revisions)
		return err
	})
}

func libraryForTakesAnyNumberOfNames(t *testing.T, address string) {
	s := storetest.Open(t, address)
	act(t, s, "a")
	story(t, s, "x", "a")
	acts, refs := []string{"a"}, []library.Ref{refTo(library.KindAct, "a")}
	names := 33_000 // more than the parameters of a statement
	if strings.HasPrefix(address, "postgres") {
		names = 66_000
	}
	for i := range names {
		id := fmt.Sprint("other-", i)
		acts, refs = append(acts, id), append(refs, refTo(library.KindAct, id))
	}
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(t.Context(), func(r library.Reader) {
			r.Newest(library.KindAct, acts...)
			r.Uses([]library.Kind{library.KindStory, library.KindActivity}, refs...)
			r.Assigned(append(refs, refTo(library.KindStory, "x"))...)
		}, selector.Selector{})
		wantEqual(t, "rows", rowsText(rows), "a x a@1 x@1")
		return err
	})
}

func revisionsAreImmutable(t *testing.T, address string) {
	s := storetest.Open(t, address)
	apply(t, s, published(1))
	other := revision(library.KindStory, "s1", 1)
	other.Body, other.SHA256 = []byte("other bytes"), "other"
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.Apply(t.Context(), library.Changes{Revisions: []library.Revision{other}}, at(9))
	})
	wantErr(t, "publishing a revision again", err, store.ErrConflict)
	wantEqual(t, "the revision", must[library.Revision](t)(s.Revision(t.Context(), library.KindStory, "s1", 1)),
		revision(library.KindStory, "s1", 1))
	_, err = s.Blob(t.Context(), "other")
	wantErr(t, "the other blob", err, store.ErrNotFound)

	// The same bytes under another name are one blob.
	again := revision(library.KindStory, "s1", 1)
	again.Kind, again.ID = library.KindAct, "a1"
	apply(t, s, library.Changes{Entries: []library.Entry{entry(library.KindAct, "a1", 1)}, Revisions: []library.Revision{again}})
	orphan := revision(library.KindStory, "s9", 1)
	err = s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.Apply(t.Context(), library.Changes{Revisions: []library.Revision{orphan}}, at(9))
	})
	wantErr(t, "a revision of nothing", err, store.ErrNotFound)
}

func unpublishedDefaultIsRefused(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	apply(t, s, published(1))
	for _, d := range []library.Default{desiredStory("r1", 1, "s1", 2), desiredStory("r1", 1, "s2", 1), desiredStory("r9", 1, "s1", 1)} {
		err := s.Tx(t.Context(), func(tx *store.Tx) error {
			return tx.Apply(t.Context(), library.Changes{Defaults: []library.Default{d}}, at(9))
		})
		wantErr(t, fmt.Sprintf("%s performs %s revision %d", d.Robot, d.Story, d.Rev), err, store.ErrNotFound)
	}
	apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", 1, "s1", 1)}})
	r := must[store.Robot](t)(s.Robot(t.Context(), "r1"))
	if r.Story != "s1" || r.StoryRev != 1 || r.DesiredRev != 1 {
		t.Errorf("got %+v", r)
	}
	apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", 2, "", 0)}})
	if r = must[store.Robot](t)(s.Robot(t.Context(), "r1")); r.Story != "" || r.StoryRev != 0 || r.DesiredRev != 2 {
		t.Errorf("after it was cleared: %+v", r)
	}
}

func lowerDesiredRevisionIsRefused(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	apply(t, s, published(1))
	apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", 5, "s1", 1)}})
	for _, rev := range []int64{5, 4} {
		err := s.Tx(t.Context(), func(tx *store.Tx) error {
			return tx.Apply(t.Context(), library.Changes{Defaults: []library.Default{desiredStory("r1", rev, "", 0)}}, at(9))
		})
		wantErr(t, fmt.Sprintf("desired state %d over desired state 5", rev), err, store.ErrConflict)
	}
	if r := must[store.Robot](t)(s.Robot(t.Context(), "r1")); r.Story != "s1" || r.DesiredRev != 5 {
		t.Errorf("got %+v", r)
	}
}

func olderDraftIsRefused(t *testing.T, address string) {
	s := storetest.Open(t, address)
	newer := entry(library.KindStory, "s1", 0)
	newer.DraftRev = 3
	apply(t, s, library.Changes{Entries: []library.Entry{newer}})
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.Apply(t.Context(), library.Changes{Entries: []library.Entry{entry(library.KindStory, "s1", 0)}}, at(9))
	})
	wantErr(t, "an older draft", err, store.ErrConflict)
	wantEqual(t, "the draft", must[library.Entry](t)(s.Entry(t.Context(), library.KindStory, "s1")), newer)
}

// Both authors saw revision 1 of the draft. The plan runs on the current rows, so one of them
// gets a conflict.
func concurrentDraftsConflict(t *testing.T, address string) {
	s := storetest.Open(t, address)
	apply(t, s, library.Changes{Entries: []library.Entry{entry(library.KindStory, "s1", 0)}})
	var wg sync.WaitGroup
	answers := make([]error, 2)
	for author := range answers {
		wg.Go(func() {
			for {
				answers[author] = s.Tx(t.Context(), func(tx *store.Tx) error {
					rows, err := tx.LibraryFor(t.Context(), func(r library.Reader) { r.Newest(library.KindStory, "s1") }, selector.Selector{})
					if err != nil {
						return err
					}
					e := rows.Entries[0]
					if e.DraftRev != 1 {
						return store.ErrConflict
					}
					e.DraftRev, e.ChangedBy = 2, fmt.Sprint("author ", author)
					return tx.Apply(t.Context(), library.Changes{Entries: []library.Entry{e}}, at(9))
				})
				if !errors.Is(answers[author], store.ErrBusy) {
					return
				}
			}
		})
	}
	wg.Wait()
	e := must[library.Entry](t)(s.Entry(t.Context(), library.KindStory, "s1"))
	for author, err := range answers {
		won := e.ChangedBy == fmt.Sprint("author ", author)
		if won && err != nil || !won && !errors.Is(err, store.ErrConflict) {
			t.Errorf("author %d got %v, and the draft is by %s", author, err, e.ChangedBy)
		}
	}
}
