package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/library"
	"troupe/schema"
)

const selectEntries = `SELECT kind, id, draft, draft_rev, draft_sha256, problems, rev, changed_at, changed_by, deleted_at, deleted_by, deleted_why FROM entries`

func scanEntry(scan func(...any) error) (library.Entry, error) {
	var e library.Entry
	var problems []byte
	var changed, deleted int64
	err := scan(&e.Kind, &e.ID, &e.Draft, &e.DraftRev, &e.DraftSHA256, &problems, &e.Rev, &changed, &e.ChangedBy, &deleted, &e.DeletedBy,
		&e.DeletedWhy)
	if err != nil {
		return e, err
	}
	e.Draft, e.ChangedAt, e.DeletedAt = nilIfEmpty(e.Draft), timeOf(changed), timeOf(deleted)
	if len(problems) > 0 {
		if err := json.Unmarshal(problems, &e.Problems); err != nil {
			return e, fmt.Errorf("read the problems of %s %s: %w", e.Kind, e.ID, err)
		}
	}
	return e, nil
}

// Entries lists the acts, the stories or the activities by id; with deleted, the deleted ones too.
func (r reads) Entries(ctx context.Context, kind library.Kind, deleted bool) ([]library.Entry, error) {
	var w where
	w.addIf(true, "kind = %s", string(kind))
	if !deleted {
		w.conditions = append(w.conditions, "deleted_at = 0")
	}
	all, err := queryAll(ctx, r, scanEntry, selectEntries+w.String()+" ORDER BY id", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list the library: %w", err)
	}
	return all, nil
}

// Entry returns one act, story or activity, deleted or not, or ErrNotFound.
func (r reads) Entry(ctx context.Context, kind library.Kind, id string) (library.Entry, error) {
	e, err := queryOne(ctx, r, scanEntry, selectEntries+" WHERE kind = $1 AND id = $2", string(kind), id)
	if err != nil {
		return e, fmt.Errorf("%s %s: %w", kind, id, err)
	}
	return e, nil
}

func scanRevision(scan func(...any) error) (library.Revision, error) {
	var v library.Revision
	var created int64
	err := scan(&v.Kind, &v.ID, &v.Rev, &v.SHA256, &v.Size, &v.Body, &created, &v.CreatedBy, &v.Why)
	v.Body, v.CreatedAt = nilIfEmpty(v.Body), timeOf(created)
	return v, err
}

const selectRevisions = `SELECT v.kind, v.id, v.rev, v.sha256, b.size, b.body, v.created_at, v.created_by, v.why
	FROM revisions v JOIN blobs b ON b.sha256 = v.sha256`

// Revisions lists the published revisions of an entry, the newest first, without
// their bytes.
func (r reads) Revisions(ctx context.Context, kind library.Kind, id string) ([]library.Revision, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v library.Revision, err error) {
		var created int64
		err = scan(&v.Kind, &v.ID, &v.Rev, &v.SHA256, &v.Size, &created, &v.CreatedBy, &v.Why)
		v.CreatedAt = timeOf(created)
		return v, err
	}, `SELECT v.kind, v.id, v.rev, v.sha256, b.size, v.created_at, v.created_by, v.why
		FROM revisions v JOIN blobs b ON b.sha256 = v.sha256 WHERE v.kind = $1 AND v.id = $2 ORDER BY v.rev DESC`, string(kind), id)
	if err != nil {
		return nil, fmt.Errorf("list revisions of %s %s: %w", kind, id, err)
	}
	return all, nil
}

// Revision returns one published revision with its bytes, or ErrNotFound.
func (r reads) Revision(ctx context.Context, kind library.Kind, id string, rev int64) (library.Revision, error) {
	v, err := queryOne(ctx, r, scanRevision, selectRevisions+" WHERE v.kind = $1 AND v.id = $2 AND v.rev = $3", string(kind), id, rev)
	if err != nil {
		return v, fmt.Errorf("revision %d of %s %s: %w", rev, kind, id, err)
	}
	return v, nil
}

// Blob returns the bytes of this digest, or ErrNotFound, also for a file that is too large
// to be published as a blob.
func (r reads) Blob(ctx context.Context, sha256 string) ([]byte, error) {
	body, err := queryOne(ctx, r, func(scan func(...any) error) (body []byte, err error) {
		return body, scan(&body)
	}, `SELECT body FROM blobs WHERE sha256 = $1
		UNION ALL SELECT p.body FROM file_parts p JOIN files f ON f.sha256 = p.sha256 AND f.parts = 1 WHERE p.sha256 = $1 LIMIT 1`, sha256)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", sha256, err)
	}
	return body, nil
}

const selectAssignedStories = `SELECT w.robot, w.rev, COALESCE(d.story, ''), COALESCE(d.rev, 0), COALESCE(d.apply, ''), w.payload, p.story, p.rev, w.changed_at, w.changed_by
	FROM desired w LEFT JOIN defaults d ON d.robot = w.robot LEFT JOIN previous_stories p ON p.robot = w.robot`

func scanAssignedStory(scan func(...any) error) (d library.Default, err error) {
	var changed int64
	var previous sql.NullString
	var rev sql.NullInt64
	err = scan(&d.Robot, &d.DesiredRev, &d.Story, &d.Rev, &d.Apply, &d.Document, &previous, &rev, &changed, &d.ChangedBy)
	if previous.Valid {
		d.Previous = &library.Pin{ID: previous.String, Rev: rev.Int64}
	}
	d.ChangedAt = timeOf(changed)
	return d, err
}

// Apply writes the changes of a plan that was made from rows of this transaction.
func (t *Tx) Apply(ctx context.Context, c library.Changes, now time.Time) error {
	if err := t.saveFiles(ctx, c.Files, now); err != nil {
		return err
	}
	if err := t.saveAssets(ctx, c); err != nil {
		return err
	}
	if err := t.forgetFolder(ctx, c); err != nil {
		return err
	}
	for _, e := range c.Entries {
		if err := t.saveEntry(ctx, e); err != nil {
			return err
		}
	}
	for _, v := range c.Revisions {
		if _, err := t.exec(ctx, `INSERT INTO blobs (sha256, size, body, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (sha256) DO NOTHING`,
			v.SHA256, len(v.Body), v.Body, micros(v.CreatedAt)); err != nil {
			return fmt.Errorf("save blob %s: %w", v.SHA256, err)
		}
		if _, err := t.exec(ctx, `INSERT INTO revisions (kind, id, rev, sha256, created_at, created_by, why) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			string(v.Kind), v.ID, v.Rev, v.SHA256, micros(v.CreatedAt), v.CreatedBy, v.Why); err != nil {
			return fmt.Errorf("publish revision %d of %s %s: %w", v.Rev, v.Kind, v.ID, err)
		}
		if err := t.saveRefs(ctx, library.Ref{Kind: v.Kind, ID: v.ID}, v.Rev, library.RefsOfRevision(v.Kind, v.Body)); err != nil {
			return err
		}
		for _, sha := range v.Files {
			if _, err := t.exec(ctx, `INSERT INTO revision_files (kind, id, rev, sha256) VALUES ($1, $2, $3, $4) ON CONFLICT (kind, id, rev, sha256) DO NOTHING`,
				string(v.Kind), v.ID, v.Rev, sha); err != nil {
				return fmt.Errorf("save a file reference of revision %d of %s %s: %w", v.Rev, v.Kind, v.ID, err)
			}
		}
	}
	if len(c.Defaults)+len(c.Sets) > 0 {
		if err := t.saveCounter(ctx, c.Counter); err != nil {
			return err
		}
	}
	if err := t.saveDefaults(ctx, c.Defaults); err != nil {
		return err
	}
	if err := t.saveSets(ctx, c); err != nil {
		return err
	}
	if err := t.enqueue(ctx, c.Outbox, now); err != nil {
		return err
	}
	return t.Note(ctx, now, c.Notes...)
}

func (t *Tx) saveEntry(ctx context.Context, e library.Entry) error {
	problems := []byte{}
	if len(e.Problems) > 0 {
		var err error
		if problems, err = json.Marshal(e.Problems); err != nil {
			return fmt.Errorf("write the problems of %s %s: %w", e.Kind, e.ID, err)
		}
	}
	n, err := t.exec(ctx, `INSERT INTO entries (kind, id, draft, draft_rev, draft_sha256, problems, rev, changed_at, changed_by, deleted_at, deleted_by, deleted_why)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (kind, id) DO UPDATE SET draft = excluded.draft, draft_rev = excluded.draft_rev, draft_sha256 = excluded.draft_sha256,
			problems = excluded.problems, rev = excluded.rev, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
			deleted_at = excluded.deleted_at, deleted_by = excluded.deleted_by, deleted_why = excluded.deleted_why
		WHERE entries.draft_rev <= excluded.draft_rev AND entries.rev <= excluded.rev`,
		string(e.Kind), e.ID, neverNil(e.Draft), e.DraftRev, e.DraftSHA256, problems, e.Rev, micros(e.ChangedAt), e.ChangedBy,
		micros(e.DeletedAt), e.DeletedBy, e.DeletedWhy)
	if err := expectOne(n, err, fmt.Sprintf("%s %s", e.Kind, e.ID)); err != nil {
		return err
	}
	return t.saveRefs(ctx, library.Ref{Kind: e.Kind, ID: e.ID}, 0, library.RefsOfDraft(e.Kind, e.Draft))
}

func (t *Tx) saveDefaults(ctx context.Context, defaults []library.Default) error {
	var rows []desiredRow
	var with, without []library.Default
	for _, d := range defaults {
		previous, err := previousStory(d)
		if err != nil {
			return err
		}
		rows = append(rows, desiredRow{d.Robot, schema.TopicDesiredStory, d.DesiredRev, d.Document, previous, d.ChangedAt, d.ChangedBy})
		if d.Story == "" {
			without = append(without, d)
		} else {
			with = append(with, d)
		}
	}
	if err := t.saveDesired(ctx, rows); err != nil {
		return err
	}
	if _, err := writeRows(ctx, t, without, assignedStoryColumns[:1],
		`DELETE FROM defaults WHERE robot IN (SELECT robot FROM given)`); err != nil {
		return fmt.Errorf("remove default stories: %w", err)
	}
	if _, err := writeRows(ctx, t, with, assignedStoryColumns, `INSERT INTO defaults (robot, kind, story, rev, apply)
		SELECT robot, 'story', story, rev, apply FROM given WHERE true
		ON CONFLICT (robot) DO UPDATE SET story = excluded.story, rev = excluded.rev, apply = excluded.apply`); err != nil {
		return fmt.Errorf("write default stories: %w", err)
	}
	changed := slices.DeleteFunc(slices.Clone(defaults), func(d library.Default) bool { return d.Previous == nil })
	if _, err := writeRows(ctx, t, changed, previousColumns, `INSERT INTO previous_stories (robot, story, rev)
		SELECT robot, story, rev FROM given WHERE true
		ON CONFLICT (robot) DO UPDATE SET story = excluded.story, rev = excluded.rev`); err != nil {
		return fmt.Errorf("write previous stories: %w", err)
	}
	return nil
}

// previousStory is the story before the present one as column previous of table desired has it, where the list
// of last assignments reads it like that of every other kind; plans read it from previous_stories, whose columns
// they join. Empty = not known.
func previousStory(d library.Default) ([]byte, error) {
	if d.Previous == nil {
		return nil, nil
	}
	return schema.Encode(d.Previous)
}

var previousColumns = []column[library.Default]{
	text("robot", func(d library.Default) string { return d.Robot }),
	text("story", func(d library.Default) string { return d.Previous.ID }),
	number("rev", func(d library.Default) int64 { return d.Previous.Rev }),
}

var assignedStoryColumns = []column[library.Default]{
	text("robot", func(d library.Default) string { return d.Robot }),
	text("story", func(d library.Default) string { return d.Story }),
	number("rev", func(d library.Default) int64 { return d.Rev }),
	text("apply", func(d library.Default) string { return string(d.Apply) }),
}
