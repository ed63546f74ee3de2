package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

type entryList struct {
	Entries []Entry `json:"entries"`
}

// Text is the source of an act or story, in YAML or JSON.
type Text struct {
	RawBody []byte `contentType:"application/yaml"`
}

type entryAnswer struct {
	ETag string `header:"ETag"`
	Body Entry
}

// library registers the requests for acts or stories.
func (s *server) library(h huma.API, kind library.Kind, plural string) {
	at := func(id, method, path, summary string, description ...string) huma.Operation {
		return op(id+"-"+string(kind), method, "/"+plural+path, plural, summary, description...)
	}
	huma.Register(h, at("list", http.MethodGet, "", "List "+plural), func(ctx context.Context, in *struct {
		Deleted bool `query:"deleted" doc:"also list deleted ones"`
	}) (*answer[entryList], error) {
		return s.entries(ctx, kind, in.Deleted)
	})
	huma.Register(h, at("get", http.MethodGet, "/{id}", "Get one "+string(kind)+": draft, problems, revisions"), func(ctx context.Context, in *One) (*entryAnswer, error) {
		return s.entry(ctx, kind, in.ID)
	})
	huma.Register(h, at("get-published", http.MethodGet, "/{id}/revisions/{rev}", "Get the exact bytes of a published revision"), func(ctx context.Context, in *struct {
		One
		Rev int64 `path:"rev" minimum:"1"`
	}) (*struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}, error) {
		db, err := s.fleet.Store()
		if err != nil {
			return nil, s.fail(err, "revision")
		}
		v, err := db.Revision(ctx, kind, in.ID, in.Rev)
		if err != nil {
			return nil, s.fail(err, fmt.Sprintf("revision %d of %s %s", in.Rev, kind, in.ID))
		}
		return &struct {
			ContentType string `header:"Content-Type"`
			Body        []byte
		}{"application/json", v.Body}, nil
	})
	huma.Register(h, at("save", http.MethodPut, "/{id}", "Save a draft",
		"YAML, or JSON if the text starts with {. A draft may have errors, but cannot be published then. If-Match prevents overwriting somebody else's change."),
		func(ctx context.Context, in *struct {
			One
			Text
			By      string `query:"by" maxLength:"63"`
			IfMatch string `header:"If-Match"`
		}) (*answer[Saved], error) {
			over, err := draftOf(in.IfMatch)
			if err != nil {
				return nil, err
			}
			return s.save(ctx, kind, in.ID, in.RawBody, over, in.By)
		})
	huma.Register(h, at("validate", http.MethodPost, "/validate", "List the problems of a text", "Nothing is saved."),
		func(ctx context.Context, in *Text) (*answer[Validity], error) {
			return s.validity(ctx, kind, in.RawBody)
		})
	huma.Register(h, at("publish", http.MethodPost, "/{id}/publish", "Publish the draft as the next revision",
		"Robots keep the revision that is assigned to them. Refused while the draft has errors. If-Match publishes only the draft that you read."),
		func(ctx context.Context, in *struct {
			One
			IfMatch string `header:"If-Match"`
			Body    Signed
		}) (*answer[Published], error) {
			over, err := draftOf(in.IfMatch)
			if err != nil {
				return nil, err
			}
			return s.publish(ctx, kind, in.ID, over, in.Body)
		})
	huma.Register(h, at("delete", http.MethodDelete, "/{id}", "Delete; recover undoes it",
		"An act is removed from every story that uses it; a story left empty is deleted too; robots get the changed stories. The request must repeat the numbers that a dry run shows, and name the stories whose robots would be left without a default story."),
		func(ctx context.Context, in *struct {
			One
			DryRun  bool     `query:"dry_run"`
			Stories int      `query:"expected_stories" minimum:"0" doc:"stories that change"`
			Robots  int      `query:"expected_robots" minimum:"0" doc:"robots that get a new desired story"`
			Clear   []string `query:"clear,explode" doc:"stories whose robots may be left without a default story"`
			By      string   `query:"by" maxLength:"63"`
			Why     string   `query:"why" maxLength:"256"`
		}) (*answer[Deletion], error) {
			expect := &library.Expect{Stories: in.Stories, Robots: in.Robots, Clear: in.Clear}
			if in.DryRun {
				expect = nil
			}
			return s.remove(ctx, kind, in.ID, expect, Signed{in.By, in.Why})
		})
	huma.Register(h, at("recover", http.MethodPost, "/{id}/recover", "Recover what was deleted", "It is assigned to no robot."),
		func(ctx context.Context, in *struct {
			One
			Body Signed
		}) (*answer[Saved], error) {
			return s.recover(ctx, kind, in.ID, in.Body)
		})
}

// draftOf parses If-Match; nil means any revision.
func draftOf(match string) (*int64, error) {
	match = strings.Trim(strings.TrimPrefix(match, "W/"), `"`)
	if match == "" || match == "*" {
		return nil, nil
	}
	rev, err := strconv.ParseInt(match, 10, 64)
	if err != nil {
		return nil, KindStale.Problem(fmt.Sprintf("If-Match %q is not a revision of a draft", match), "send the ETag that you got")
	}
	return &rev, nil
}

func (s *server) entries(ctx context.Context, kind library.Kind, deleted bool) (*answer[entryList], error) {
	db, err := s.fleet.Store()
	if err != nil {
		return nil, s.fail(err, "library")
	}
	rows, err := db.Entries(ctx, kind, deleted)
	if err != nil {
		return nil, s.fail(err, "library")
	}
	performed := s.robotsByStory()
	out := entryList{Entries: []Entry{}}
	for _, row := range rows {
		e := entryOf(row)
		e.Robots, e.Draft = performed[e.ID], ""
		if kind != library.KindStory {
			e.Robots = 0
		}
		out.Entries = append(out.Entries, e)
	}
	return &answer[entryList]{out}, nil
}

// robotsByStory counts the robots per default story.
func (s *server) robotsByStory() map[string]int {
	out := map[string]int{}
	for _, r := range s.fleet.Robots() {
		if r.Desired.Story != nil {
			out[r.Desired.Story.ID]++
		}
	}
	return out
}

func (s *server) entry(ctx context.Context, kind library.Kind, id string) (*entryAnswer, error) {
	what := string(kind) + " " + id
	db, err := s.fleet.Store()
	if err != nil {
		return nil, s.fail(err, what)
	}
	row, err := db.Entry(ctx, kind, id)
	if err != nil {
		return nil, s.fail(err, what)
	}
	revisions, err := db.Revisions(ctx, kind, id)
	if err != nil {
		return nil, s.fail(err, what)
	}
	e := entryOf(row)
	if kind == library.KindStory {
		e.Robots = s.robotsByStory()[id]
	}
	e.Revisions = make([]Revision, len(revisions))
	for i, v := range revisions {
		e.Revisions[i] = revisionOf(v)
	}
	return &entryAnswer{ETag: strconv.Quote(strconv.FormatInt(row.DraftRev, 10)), Body: e}, nil
}

// plan runs a plan over the rows of the library that it needs, with the default stories of
// these robots, and applies what it decides, in one transaction. With nothing decided
// nothing is written.
func (s *server) plan(ctx context.Context, what string, need library.Need, robots selector.Selector, decide func(*store.Tx, library.Rows, time.Time) (library.Changes, error)) error {
	db, err := s.fleet.Store()
	if err != nil {
		return s.fail(err, what)
	}
	changed := false
	err = db.Tx(ctx, func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(ctx, need, robots)
		if err != nil {
			return err
		}
		now := s.fleet.Now()
		rows.Catalogue = s.fleet.Catalogue()
		changes, err := decide(tx, rows, now)
		if err != nil {
			return err
		}
		if changed = !changes.Empty(); !changed {
			return nil
		}
		return tx.Apply(ctx, changes, now)
	})
	if err != nil {
		return s.fail(err, what)
	}
	if changed {
		s.fleet.Changed(ctx)
	}
	return nil
}

func (b Signed) at(now time.Time) library.By { return library.By{Who: b.By, Why: b.Why, At: now} }

func (s *server) save(ctx context.Context, kind library.Kind, id string, body []byte, over *int64, by string) (*answer[Saved], error) {
	var out Saved
	err := s.plan(ctx, string(kind)+" "+id, library.ForDraft(kind, body), selector.Selector{}, func(_ *store.Tx, rows library.Rows, now time.Time) (library.Changes, error) {
		saved, problems := library.Save(rows, kind, body, over, Signed{By: by}.at(now))
		if len(problems) > 0 {
			return library.Changes{}, refusal(inDocument(problems))
		}
		if saved.Entry.ID != id {
			return library.Changes{}, refusal(inDocument([]schema.Problem{schema.Fault("/"+string(kind), "bad_id",
				fmt.Sprintf("the text names %s %s, the URL names %s", kind, saved.Entry.ID, id), "make them equal")}))
		}
		out = Saved{entryOf(saved.Entry), saved.Unchanged}
		return saved.Changes, nil
	})
	if err != nil {
		return nil, err
	}
	return &answer[Saved]{out}, nil
}

func (s *server) validity(ctx context.Context, kind library.Kind, body []byte) (*answer[Validity], error) {
	var out Validity
	err := s.plan(ctx, "library", library.ForDraft(kind, body), selector.Selector{}, func(_ *store.Tx, rows library.Rows, _ time.Time) (library.Changes, error) {
		id, problems := library.Validate(rows, kind, body)
		out = Validity{ID: id, Valid: len(schema.Errors(problems)) == 0, Problems: nonNil(problems)}
		return library.Changes{}, nil
	})
	if err != nil {
		return nil, err
	}
	return &answer[Validity]{out}, nil
}

func (s *server) publish(ctx context.Context, kind library.Kind, id string, over *int64, by Signed) (*answer[Published], error) {
	var out Published
	err := s.plan(ctx, string(kind)+" "+id, library.ForPublish(kind, id), selector.Selector{}, func(_ *store.Tx, rows library.Rows, now time.Time) (library.Changes, error) {
		p, problems := library.Publish(rows, kind, id, over, by.at(now))
		if len(problems) > 0 {
			return library.Changes{}, refusal(inDocument(problems))
		}
		out = Published{Kind: string(kind), ID: id, Revision: revisionOf(p.Revision), Unchanged: p.Unchanged, Stale: nonNil(p.Stale)}
		return p.Changes, nil
	})
	if err != nil {
		return nil, err
	}
	return &answer[Published]{out}, nil
}

func (s *server) recover(ctx context.Context, kind library.Kind, id string, by Signed) (*answer[Saved], error) {
	var out Saved
	err := s.plan(ctx, string(kind)+" "+id, library.Need{All: true}, selector.Selector{}, func(_ *store.Tx, rows library.Rows, now time.Time) (library.Changes, error) {
		saved, problems := library.Recover(rows, kind, id, by.at(now))
		if len(problems) > 0 {
			return library.Changes{}, refusal(inDocument(problems))
		}
		out = Saved{entryOf(saved.Entry), saved.Unchanged}
		return saved.Changes, nil
	})
	if err != nil {
		return nil, err
	}
	return &answer[Saved]{out}, nil
}

func (s *server) remove(ctx context.Context, kind library.Kind, id string, expect *library.Expect, by Signed) (*answer[Deletion], error) {
	var out Deletion
	err := s.plan(ctx, string(kind)+" "+id, library.Need{All: true}, selector.Selector{}, func(_ *store.Tx, rows library.Rows, now time.Time) (library.Changes, error) {
		r, problems := library.Delete(rows, kind, id, expect, by.at(now))
		if len(problems) > 0 {
			p := refusal(expectations(problems)).withCount(r.Impact.Robots)
			p.Confirm = strings.Join(r.Impact.Clears, " ")
			return library.Changes{}, p
		}
		out = deletionOf(r.Impact)
		out.DryRun = expect == nil
		return r.Changes, nil
	})
	if err != nil {
		return nil, err
	}
	return &answer[Deletion]{out}, nil
}

// expectations adds the query parameters that a refused deletion is about.
func expectations(problems []schema.Problem) []Finding {
	found := findings("query", problems)
	for i := range found {
		switch found[i].Code {
		case library.CodeCountChanged:
			found[i].Pointer = "/expected_stories"
		case library.CodeConfirm:
			found[i].Pointer = "/clear"
		}
	}
	return found
}
