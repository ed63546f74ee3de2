package change

import (
	"context"
	"fmt"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/schema"
)

// Restore saves the content of a published revision as the draft. draftRev is the draft revision
// that the caller read; nil overwrites any.
func (l *Library) Restore(ctx context.Context, p auth.Principal, kind library.Kind, id string, rev int64, draftRev *int64,
	by audit.Attribution) (library.Saved, []schema.Problem, error) {
	v, err := l.Revision(ctx, kind, id, rev)
	if err != nil {
		return library.Saved{}, nil, err
	}
	text, err := library.SourceOf(v)
	if err != nil {
		return library.Saved{}, nil, err
	}
	by = by.Because(fmt.Sprintf("restored revision %d", rev))
	return l.Save(ctx, p, kind, id, text, draftRev, by)
}

// Duplicate saves a copy of a draft under another id, which must be free.
func (l *Library) Duplicate(ctx context.Context, p auth.Principal, kind library.Kind, id, to string,
	by audit.Attribution) (library.Saved, []schema.Problem, error) {
	e, _, err := l.Entry(ctx, kind, id)
	if err != nil {
		return library.Saved{}, nil, err
	}
	text, problems := library.Renamed(kind, e.Draft, to)
	if len(problems) > 0 {
		return library.Saved{}, problems, nil
	}
	by = by.Because("copied from " + id)
	isNew := int64(0)
	saved, problems, err := l.Save(ctx, p, kind, to, text, &isNew, by)
	for i, found := range problems {
		if found.Code == library.CodeConflict {
			problems[i] = schema.NewProblem("", library.CodeTaken, fmt.Sprintf("there is %s %s already", kind, to), "choose another id")
		}
	}
	return saved, problems, err
}

// Summaries summarises entries of a kind, by id.
func (l *Library) Summaries(ctx context.Context, kind library.Kind,
	ids []string) (all map[string]library.Summary, found []schema.Problem, err error) {
	found, err = l.show(ctx, library.ForSummaries(kind, ids), func(rows library.Rows, _ time.Time) (found []schema.Problem) {
		all, found = library.Summaries(rows, kind)
		return found
	})
	return all, found, err
}

// UsesOfAct lists what performs an act.
func (l *Library) UsesOfAct(ctx context.Context, act string) (uses []library.ActUse, found []schema.Problem, err error) {
	found, err = l.show(ctx, library.ForUsesOfAct(act), func(rows library.Rows, _ time.Time) (found []schema.Problem) {
		uses, found = library.UsesOfAct(rows, act)
		return found
	})
	return uses, found, err
}

// Import saves texts as drafts, all or none, or with skipWrong those without errors; dry only shows what would be saved, as if the assets
// had been uploaded.
func (l *Library) Import(ctx context.Context, p auth.Principal, texts []library.Source, assets []library.Asset, skipWrong, dry bool,
	by audit.Attribution) (done library.Imported, found []schema.Problem, err error) {
	found, err = l.show(ctx, library.ForImport(texts), func(rows library.Rows, now time.Time) (found []schema.Problem) {
		done, found = library.Import(rows, texts, assets, skipWrong, by.WithTime(now))
		return found
	})
	if dry || err != nil || len(found) > 0 || done.Saved == nil {
		return done, found, err
	}
	found, err = l.applyLibraryPlan(ctx, p, library.ForImport(texts), func(rows library.Rows, now time.Time) (library.Changes,
		[]schema.Problem) {
		var found []schema.Problem
		done, found = library.Import(rows, texts, assets, skipWrong, by.WithTime(now))
		return done.Changes, found
	})
	return done, found, err
}
