package change

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/content"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Library changes acts, stories, activities and assets.
type Library struct{ Deps }

// applyLibraryPlan is applyPlan for a plan about no robots. If the plan finds problems, nothing is written.
func (l *Library) applyLibraryPlan(ctx context.Context, p auth.Principal, read library.Reading,
	plan func(library.Rows, time.Time) (library.Changes, []schema.Problem)) (found []schema.Problem, err error) {
	err = l.applyPlan(ctx, p, read, selector.Selector{}, func(_ *store.Tx, rows library.Rows, now time.Time) (c library.Changes, err error) {
		if c, found = plan(rows, now); len(found) > 0 {
			return library.Changes{}, errRefused
		}
		return c, nil
	})
	return found, err
}

// show runs a plan that writes nothing, after the transaction that reads its rows: with many texts it
// takes long, and would keep every other change waiting.
func (l *Library) show(ctx context.Context, read library.Reading,
	plan func(library.Rows, time.Time) []schema.Problem) ([]schema.Problem, error) {
	var rows library.Rows
	err := l.query(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.LibraryFor(ctx, read, selector.Selector{})
		return err
	})
	if err != nil {
		return nil, err
	}
	rows.Catalogue = l.Catalogue()
	return plan(rows, l.Now()), nil
}

// Save saves a draft under an id. draftRev is the draft revision that its author read; nil
// overwrites any.
func (l *Library) Save(ctx context.Context, p auth.Principal, kind library.Kind, id string, text []byte, draftRev *int64,
	by audit.Attribution) (saved library.Saved, found []schema.Problem, err error) {
	found, err = l.applyLibraryPlan(ctx, p, library.ForDraft(kind, text), func(rows library.Rows, now time.Time) (library.Changes,
		[]schema.Problem) {
		var found []schema.Problem
		if saved, found = library.Save(rows, kind, text, draftRev, by.WithTime(now)); len(found) > 0 {
			return library.Changes{}, found
		}
		if saved.Entry.ID != id {
			return library.Changes{}, []schema.Problem{schema.NewProblem("/"+string(kind), "bad_id",
				fmt.Sprintf("the text names %s %s, the URL names %s", kind, saved.Entry.ID, id), "make them equal")}
		}
		return saved.Changes, nil
	})
	return saved, found, err
}

// Validate returns the problems of each text, as if the assets and acts of the request had
// been published. Nothing is saved.
func (l *Library) Validate(ctx context.Context, texts []library.Source,
	assets []library.Asset) (checked []library.Checked, found []schema.Problem, err error) {
	found, err = l.show(ctx, library.ForValidate(texts), func(rows library.Rows, _ time.Time) (found []schema.Problem) {
		checked, found = library.Validate(rows, texts, assets)
		return found
	})
	return checked, found, err
}

// Publish publishes the draft as the next revision, and before it the drafts of these acts.
func (l *Library) Publish(ctx context.Context, p auth.Principal, kind library.Kind, id string, draftRev *int64, acts []string,
	by audit.Attribution) (done library.Published, found []schema.Problem, err error) {
	found, err = l.applyLibraryPlan(ctx, p, library.ForPublish(kind, id, acts...), func(rows library.Rows, now time.Time) (library.Changes,
		[]schema.Problem) {
		var found []schema.Problem
		done, found = library.Publish(rows, kind, id, draftRev, by.WithTime(now), acts...)
		return done.Changes, found
	})
	return done, found, err
}

// PublishAll saves texts and publishes them, all or none; dry only shows what would change,
// as if the assets had been uploaded.
func (l *Library) PublishAll(ctx context.Context, p auth.Principal, texts []library.Source, assets []library.Asset, dry bool,
	by audit.Attribution) (done library.PublishedAll, found []schema.Problem, err error) {
	found, err = l.show(ctx, library.ForPublishAll(texts), func(rows library.Rows, now time.Time) (found []schema.Problem) {
		done, found = library.PublishAll(rows, texts, assets, by.WithTime(now))
		return found
	})
	if dry || err != nil || len(found) > 0 {
		return done, found, err
	}
	found, err = l.applyLibraryPlan(ctx, p, library.ForPublishAll(texts), func(rows library.Rows, now time.Time) (library.Changes,
		[]schema.Problem) {
		var found []schema.Problem
		done, found = library.PublishAll(rows, texts, assets, by.WithTime(now))
		return done.Changes, found
	})
	return done, found, err
}

// Delete deletes an entry if its effects are as expected; expect nil only shows
// them. The effects are returned also with problems.
func (l *Library) Delete(ctx context.Context, p auth.Principal, kind library.Kind, id string, expect *library.Expect,
	by audit.Attribution) (done library.Removal, found []schema.Problem, err error) {
	err = l.applyPlan(ctx, p, library.ForDelete(kind, id), selector.Selector{},
		func(tx *store.Tx, rows library.Rows, now time.Time) (c library.Changes, err error) {
			if found, err = namedElsewhere(ctx, tx, kind, id); err != nil {
				return c, err
			}
			removal, more := library.Delete(rows, kind, id, expect, by.WithTime(now))
			if done, found = removal, append(more, found...); len(found) > 0 {
				return c, errRefused
			}
			return done.Changes, nil
		})
	return done, found, err
}

// namedElsewhere says which policies and schedules name a story or an activity, and would fail without it.
func namedElsewhere(ctx context.Context, tx *store.Tx, kind library.Kind, id string) (found []schema.Problem, err error) {
	if kind == library.KindAct {
		return nil, nil
	}
	policies, err := tx.Policies(ctx, "")
	if err != nil {
		return nil, err
	}
	refuse := func(who string, c content.Content, hint string) {
		if slices.Contains(policyEntries([]policy.Policy{{Content: c}})[kind], id) {
			found = append(found, schema.NewProblem("", library.CodeInUse, fmt.Sprintf("%s names the %s %s", who, kind, id), hint))
		}
	}
	for _, p := range policies {
		refuse("policy "+p.ID, p.Content, "put the policy with something else, or delete it first: fleetd policy delete "+p.ID)
	}
	schedules, err := tx.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range schedules {
		if s.Action.Assign != nil {
			refuse("schedule "+s.ID, *s.Action.Assign, "put the schedule with something else, or delete it first: fleetd schedule delete "+s.ID)
		}
	}
	return found, nil
}

// Recover recovers a deleted entry.
func (l *Library) Recover(ctx context.Context, p auth.Principal, kind library.Kind, id string,
	by audit.Attribution) (saved library.Saved, found []schema.Problem, err error) {
	found, err = l.applyLibraryPlan(ctx, p, library.ForRecover(kind, id), func(rows library.Rows, now time.Time) (library.Changes,
		[]schema.Problem) {
		var found []schema.Problem
		saved, found = library.Recover(rows, kind, id, by.WithTime(now))
		return saved.Changes, found
	})
	return saved, found, err
}

// PutAsset stores a sound or an image under a name.
func (l *Library) PutAsset(ctx context.Context, p auth.Principal, name string, body []byte,
	by audit.Attribution) (up library.Uploaded, found []schema.Problem, err error) {
	found, err = l.applyLibraryPlan(ctx, p, library.ForPutAsset(name), func(rows library.Rows, now time.Time) (library.Changes,
		[]schema.Problem) {
		var found []schema.Problem
		up, found = library.PutAsset(rows, name, body, by.WithTime(now))
		return up.Changes, found
	})
	return up, found, err
}

// DeleteAsset deletes an asset that nothing uses.
func (l *Library) DeleteAsset(ctx context.Context, p auth.Principal, name string,
	by audit.Attribution) (found []schema.Problem, err error) {
	return l.applyLibraryPlan(ctx, p, library.ForDeleteAsset(name), func(rows library.Rows, now time.Time) (library.Changes,
		[]schema.Problem) {
		return library.DeleteAsset(rows, name, by.WithTime(now))
	})
}

// Assets lists the assets, and the uses of each by name.
func (l *Library) Assets(ctx context.Context) (all []library.Asset, uses map[string][]library.Use, found []schema.Problem, err error) {
	found, err = l.show(ctx, library.ForUses(), func(rows library.Rows, _ time.Time) (found []schema.Problem) {
		all = rows.Assets
		uses, found = library.Uses(rows)
		return found
	})
	return all, uses, found, err
}

// Entries lists the acts, stories or activities, with the deleted ones if asked for.
func (l *Library) Entries(ctx context.Context, kind library.Kind, deleted bool) ([]library.Entry, error) {
	return read(&l.Deps, func(db *store.Store) ([]library.Entry, error) { return db.Entries(ctx, kind, deleted) })
}

// Entry returns one entry with its revisions, which have no bodies.
func (l *Library) Entry(ctx context.Context, kind library.Kind, id string) (e library.Entry, revisions []library.Revision, err error) {
	db, err := l.Store()
	if err != nil {
		return e, nil, err
	}
	if e, err = db.Entry(ctx, kind, id); err != nil {
		return e, nil, err
	}
	revisions, err = db.Revisions(ctx, kind, id)
	return e, revisions, err
}

// Revision returns one published revision with its body.
func (l *Library) Revision(ctx context.Context, kind library.Kind, id string, rev int64) (library.Revision, error) {
	return read(&l.Deps, func(db *store.Store) (library.Revision, error) { return db.Revision(ctx, kind, id, rev) })
}

// File opens the file with a digest for one reader, which reads it part by part.
func (l *Library) File(ctx context.Context, digest string) (io.ReadSeeker, library.Media, error) {
	db, err := l.Store()
	if err != nil {
		return nil, "", err
	}
	f, err := db.File(ctx, digest)
	if err != nil {
		return nil, "", err
	}
	return f, f.Media, nil
}
