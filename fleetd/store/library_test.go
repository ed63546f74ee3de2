package store_test

import (
	"errors"
	"fmt"
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
	wantEqual(t, "revisions", must[[]library.Revision](t)(s.Revisions(t.Context(), library.KindStory, "s1")), []library.Revision{second, first})
}

func libraryRowsAreComplete(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	c := published(4)
	c.Defaults = []library.Default{desiredStory("r1", 7, "s1", 2), desiredStory("r2", 3, "", 0)}
	c.Defaults[1].Apply = ""
	apply(t, s, c)
	read := func(pins ...library.Pin) library.Rows {
		t.Helper()
		var rows library.Rows
		transact(t, s, func(tx *store.Tx) (err error) {
			rows, err = tx.Library(t.Context(), pins...)
			return err
		})
		return rows
	}
	rows := read()
	wantEqual(t, "entries", rows.Entries, c.Entries)
	wantEqual(t, "the performed and the newest revision", rows.Revisions, []library.Revision{c.Revisions[1], c.Revisions[3]})
	wantEqual(t, "defaults", rows.Defaults, c.Defaults)
	if rows.FleetID != s.FleetID() {
		t.Errorf("fleet id %s", rows.FleetID)
	}
	rows = read(library.Pin{ID: "s1", Rev: 1}, library.Pin{ID: "s1", Rev: 2}, library.Pin{ID: "s1", Rev: 9})
	wantEqual(t, "with pins", rows.Revisions, []library.Revision{c.Revisions[1], c.Revisions[3], c.Revisions[0]})
}

func libraryForReadsWhatIsNeeded(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3")
	act := func(id string, rev int64) library.Changes {
		c := library.Changes{Entries: []library.Entry{entry(library.KindAct, id, rev)}}
		for r := int64(1); r <= rev; r++ {
			c.Revisions = append(c.Revisions, revision(library.KindAct, id, r))
		}
		return c
	}
	a1, a2 := act("a1", 2), act("a2", 1)
	other := entry(library.KindStory, "s2", 0)
	c := published(3)
	c.Defaults = []library.Default{desiredStory("r1", 7, "s1", 1), desiredStory("r2", 3, "s1", 2), desiredStory("r3", 3, "", 0)}
	c.Defaults[2].Apply = ""
	c.Files = []library.File{file("gong", small)}
	c.Assets = []library.Asset{asset("gong", c.Files[0], 2)}
	for _, changes := range []library.Changes{a1, a2, {Entries: []library.Entry{other}}, c} {
		apply(t, s, changes)
	}
	s1 := c.Entries[0]
	for what, row := range map[string]struct {
		need   library.Need
		robots selector.Selector
		want   library.Rows
	}{
		"nothing":                  {library.Need{}, selector.Selector{}, library.Rows{}},
		"defaults":                 {library.Need{}, selector.IDs("r1", "r3", "r9"), library.Rows{Defaults: []library.Default{c.Defaults[0], c.Defaults[2]}}},
		"what robots perform":      {library.Need{Performed: true}, selector.IDs("r2", "r3"), library.Rows{Defaults: c.Defaults[1:], Revisions: c.Revisions[1:2]}},
		"entries and assets":       {library.Need{Assets: true, Stories: []string{"s2"}, Acts: []string{"a1", "none"}}, selector.Selector{}, library.Rows{Entries: []library.Entry{a1.Entries[0], other}, Revisions: a1.Revisions[1:], Assets: c.Assets}},
		"all stories":              {library.Need{AllStories: true}, selector.Selector{}, library.Rows{Entries: []library.Entry{s1, other}, Revisions: c.Revisions[2:]}},
		"a pin":                    {library.Need{Stories: []string{"s1"}, Pins: []library.Pin{{ID: "s1", Rev: 1}, {ID: "s1", Rev: 3}, {ID: "s1", Rev: 9}}}, selector.Selector{}, library.Rows{Entries: []library.Entry{s1}, Revisions: []library.Revision{c.Revisions[2], c.Revisions[0]}}},
		"acts named":               {library.Need{Acts: []string{"a1"}, Named: func(library.Rows) []string { return []string{"a1", "a2"} }}, selector.Selector{}, library.Rows{Entries: []library.Entry{a1.Entries[0], a2.Entries[0]}, Revisions: []library.Revision{a1.Revisions[1], a2.Revisions[0]}}},
		"whether acts are deleted": {library.Need{Deleted: true, Named: func(library.Rows) []string { return []string{"a2"} }}, selector.Selector{}, library.Rows{Entries: a2.Entries}},
	} {
		transact(t, s, func(tx *store.Tx) error {
			rows, err := tx.LibraryFor(t.Context(), row.need, row.robots)
			if rows.FleetID != s.FleetID() || rows.Reported == nil {
				t.Errorf("%s: %+v", what, rows)
			}
			rows.FleetID, rows.Reported = "", nil
			wantEqual(t, what, rows, row.want)
			return err
		})
	}
}

func libraryForTakesAnyNumberOfRobots(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	c := published(1)
	c.Defaults = []library.Default{desiredStory("r1", 7, "s1", 1)}
	apply(t, s, c)
	sel := selector.IDs("r1")
	for i := range 70_000 { // more than the parameters of a statement
		sel.IDs = append(sel.IDs, fmt.Sprint("other-", i))
	}
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(t.Context(), library.ForAgain(), sel)
		wantEqual(t, "defaults", rows.Defaults, c.Defaults)
		wantEqual(t, "revisions", rows.Revisions, c.Revisions)
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
	wantEqual(t, "the revision", must[library.Revision](t)(s.Revision(t.Context(), library.KindStory, "s1", 1)), revision(library.KindStory, "s1", 1))
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
					rows, err := tx.Library(t.Context())
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
