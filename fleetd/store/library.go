package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/schema"
)

const entryColumns = `SELECT kind, id, draft, draft_rev, draft_sha256, problems, rev, changed_at, changed_by, deleted_at, deleted_by, deleted_why FROM entries`

func scanEntry(scan func(...any) error) (library.Entry, error) {
	var e library.Entry
	var problems []byte
	var changed, deleted int64
	err := scan(&e.Kind, &e.ID, &e.Draft, &e.DraftRev, &e.DraftSHA256, &problems, &e.Rev, &changed, &e.ChangedBy, &deleted, &e.DeletedBy, &e.DeletedWhy)
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

// Entries lists the acts or the stories by id; with deleted, the deleted ones too.
func (r reads) Entries(ctx context.Context, kind library.Kind, deleted bool) ([]library.Entry, error) {
	var w where
	w.addIf(true, "kind = %s", string(kind))
	if !deleted {
		w.conditions = append(w.conditions, "deleted_at = 0")
	}
	all, err := queryAll(ctx, r, scanEntry, entryColumns+w.String()+" ORDER BY id", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list the library: %w", err)
	}
	return all, nil
}

// Entry returns one act or story, deleted or not, or ErrNotFound.
func (r reads) Entry(ctx context.Context, kind library.Kind, id string) (library.Entry, error) {
	e, err := queryOne(ctx, r, scanEntry, entryColumns+" WHERE kind = $1 AND id = $2", string(kind), id)
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

const revisionColumns = `SELECT v.kind, v.id, v.rev, v.sha256, b.size, b.body, v.created_at, v.created_by, v.why
	FROM revisions v JOIN blobs b ON b.sha256 = v.sha256`

// Revisions lists the published revisions of an act or story, the newest first, without
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
	v, err := queryOne(ctx, r, scanRevision, revisionColumns+" WHERE v.kind = $1 AND v.id = $2 AND v.rev = $3", string(kind), id, rev)
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

const defaultSelect = `SELECT w.robot, w.rev, COALESCE(d.story, ''), COALESCE(d.rev, 0), COALESCE(d.apply, ''), w.payload, w.changed_at, w.changed_by
	FROM desired w LEFT JOIN defaults d ON d.robot = w.robot`

func scanDefault(scan func(...any) error) (d library.Default, err error) {
	var changed int64
	err = scan(&d.Robot, &d.DesiredRev, &d.Story, &d.Rev, &d.Apply, &d.Document, &changed, &d.ChangedBy)
	d.ChangedAt = timeOf(changed)
	return d, err
}

// Defaults lists the newest desired story of each robot, with its document, by robot.
func (r reads) Defaults(ctx context.Context) ([]library.Default, error) {
	all, err := queryAll(ctx, r, scanDefault, defaultSelect+` WHERE w.kind = 'desired_story' ORDER BY w.robot`)
	if err != nil {
		return nil, fmt.Errorf("list default stories: %w", err)
	}
	return all, nil
}

// defaultsOf lists the Defaults of some robots.
func (r reads) defaultsOf(ctx context.Context, robots selector.Selector) ([]library.Default, error) {
	w := where{conditions: []string{"w.kind = 'desired_story'"}}
	w.addSelector(robots)
	all, err := queryAll(ctx, r, scanDefault, defaultSelect+` JOIN robots r ON r.id = w.robot`+w.String()+` ORDER BY w.robot`, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list default stories: %w", err)
	}
	return all, nil
}

// Library reads everything that a plan may look at, and the revisions in also if they exist.
// Apply the changes of the plan in the same transaction.
func (t *Tx) Library(ctx context.Context, also ...library.Pin) (library.Rows, error) {
	return t.LibraryFor(ctx, library.Need{All: true, Pins: also}, selector.Selector{})
}

// LibraryFor reads only what a plan about these robots needs. If it needs the whole library,
// it gets the defaults of all robots as well. Apply the changes of the plan in the same
// transaction.
func (t *Tx) LibraryFor(ctx context.Context, need library.Need, robots selector.Selector) (library.Rows, error) {
	rows := library.Rows{Reported: func(robot string) schema.ReportedRev { return t.store.reportedOf(robot, schema.TopicDesiredStory) }}
	if err := t.queryRow(ctx, `SELECT fleet_id FROM fleet WHERE only_row = 1`).Scan(&rows.FleetID); err != nil {
		return rows, fmt.Errorf("read the fleet id: %w", err)
	}
	var err error
	if rows.Seal, err = t.seal(ctx); err != nil {
		return rows, err
	}
	if len(robots.IDs) > maxNamedRobots {
		robots = selector.All() // a statement has a limited number of parameters
	}
	if need.All {
		err = t.readLibrary(ctx, &rows)
	} else {
		err = t.readNeeded(ctx, &rows, need, robots)
	}
	if err != nil {
		return rows, err
	}
	for _, pin := range need.Pins {
		if slices.ContainsFunc(rows.Revisions, func(v library.Revision) bool {
			return v.Kind == library.KindStory && v.ID == pin.ID && v.Rev == pin.Rev
		}) {
			continue
		}
		more, err := queryAll(ctx, t.reads, scanRevision, revisionColumns+" WHERE v.kind = 'story' AND v.id = $1 AND v.rev = $2", pin.ID, pin.Rev)
		if err != nil {
			return rows, fmt.Errorf("read revision %d of %s: %w", pin.Rev, pin.ID, err)
		}
		rows.Revisions = append(rows.Revisions, more...)
	}
	if need.Named == nil {
		return rows, nil
	}
	acts := slices.DeleteFunc(need.Named(rows), func(id string) bool { return slices.Contains(need.Acts, id) })
	err = t.readEntries(ctx, &rows, !need.Deleted, library.KindAct, acts...)
	return rows, err
}

// readLibrary reads the whole library and the defaults of all robots.
func (t *Tx) readLibrary(ctx context.Context, rows *library.Rows) (err error) {
	if rows.Entries, err = queryAll(ctx, t.reads, scanEntry, entryColumns+" ORDER BY kind, id"); err != nil {
		return fmt.Errorf("read the library: %w", err)
	}
	rows.Revisions, err = queryAll(ctx, t.reads, scanRevision, revisionColumns+` JOIN entries e ON e.kind = v.kind AND e.id = v.id
		WHERE v.rev = e.rev OR EXISTS (SELECT 1 FROM defaults d WHERE d.kind = v.kind AND d.story = v.id AND d.rev = v.rev)
		ORDER BY v.kind, v.id, v.rev`)
	if err != nil {
		return fmt.Errorf("read published revisions: %w", err)
	}
	if rows.Assets, err = t.Assets(ctx); err != nil {
		return err
	}
	if rows.FileBytes, err = t.filesTotal(ctx); err != nil {
		return err
	}
	rows.Defaults, err = t.Defaults(ctx)
	return err
}

// readNeeded reads what need names, and the defaults of the robots.
func (t *Tx) readNeeded(ctx context.Context, rows *library.Rows, need library.Need, robots selector.Selector) (err error) {
	if rows.Defaults, err = t.defaultsOf(ctx, robots); err != nil {
		return err
	}
	if err := t.readEntries(ctx, rows, true, library.KindAct, need.Acts...); err != nil {
		return err
	}
	if need.AllStories {
		err = t.readEntriesWhere(ctx, rows, true, where{conditions: []string{"e.kind = 'story'"}})
	} else {
		err = t.readEntries(ctx, rows, true, library.KindStory, need.Stories...)
	}
	if err != nil {
		return err
	}
	if need.Performed {
		var w where
		w.addSelector(robots)
		performed, err := queryAll(ctx, t.reads, scanRevision, revisionColumns+` WHERE (v.kind, v.id, v.rev) IN
			(SELECT d.kind, d.story, d.rev FROM defaults d JOIN robots r ON r.id = d.robot`+w.String()+`)
			ORDER BY v.kind, v.id, v.rev`, w.args...)
		if err != nil {
			return fmt.Errorf("read the revisions that robots perform: %w", err)
		}
		rows.Revisions = append(rows.Revisions, performed...)
	}
	if need.Assets {
		rows.Assets, err = t.Assets(ctx)
	}
	return err
}

// readEntries adds these acts or stories to rows, and with revisions the newest revision of
// each.
func (t *Tx) readEntries(ctx context.Context, rows *library.Rows, revisions bool, kind library.Kind, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	var w where
	w.addIf(true, "e.kind = %s", string(kind))
	w.addIn("e.id", ids)
	return t.readEntriesWhere(ctx, rows, revisions, w)
}

func (t *Tx) readEntriesWhere(ctx context.Context, rows *library.Rows, revisions bool, w where) error {
	entries, err := queryAll(ctx, t.reads, scanEntry, entryColumns+" e"+w.String()+" ORDER BY e.kind, e.id", w.args...)
	if err != nil {
		return fmt.Errorf("read the library: %w", err)
	}
	rows.Entries = append(rows.Entries, entries...)
	if !revisions {
		return nil
	}
	newest, err := queryAll(ctx, t.reads, scanRevision, revisionColumns+` JOIN entries e ON e.kind = v.kind AND e.id = v.id AND e.rev = v.rev`+w.String()+" ORDER BY v.kind, v.id", w.args...)
	if err != nil {
		return fmt.Errorf("read published revisions: %w", err)
	}
	rows.Revisions = append(rows.Revisions, newest...)
	return nil
}

// Apply writes the changes of a plan that was made from rows of this transaction.
func (t *Tx) Apply(ctx context.Context, c library.Changes, now time.Time) error {
	if err := t.saveFiles(ctx, c.Files, now); err != nil {
		return err
	}
	if err := t.saveAssets(ctx, c); err != nil {
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
		for _, sha := range v.Files {
			if _, err := t.exec(ctx, `INSERT INTO revision_files (kind, id, rev, sha256) VALUES ($1, $2, $3, $4) ON CONFLICT (kind, id, rev, sha256) DO NOTHING`,
				string(v.Kind), v.ID, v.Rev, sha); err != nil {
				return fmt.Errorf("save a file reference of revision %d of %s %s: %w", v.Rev, v.Kind, v.ID, err)
			}
		}
	}
	if len(c.Defaults) > 0 {
		if err := t.saveCounter(ctx, c.Counter); err != nil {
			return err
		}
	}
	if err := t.saveDefaults(ctx, c.Defaults); err != nil {
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
	return expectOne(n, err, fmt.Sprintf("%s %s", e.Kind, e.ID))
}

func (t *Tx) saveDefaults(ctx context.Context, defaults []library.Default) error {
	var rows []desiredRow
	var with, without []library.Default
	for _, d := range defaults {
		rows = append(rows, desiredRow{d.Robot, schema.TopicDesiredStory, d.DesiredRev, d.Document, d.ChangedAt, d.ChangedBy})
		if d.Story == "" {
			without = append(without, d)
		} else {
			with = append(with, d)
		}
	}
	if err := t.saveDesired(ctx, rows); err != nil {
		return err
	}
	if _, err := writeRows(ctx, t, without, defaultColumns[:1], `DELETE FROM defaults WHERE robot IN (SELECT robot FROM given)`); err != nil {
		return fmt.Errorf("remove default stories: %w", err)
	}
	if _, err := writeRows(ctx, t, with, defaultColumns, `INSERT INTO defaults (robot, kind, story, rev, apply)
		SELECT robot, 'story', story, rev, apply FROM given WHERE true
		ON CONFLICT (robot) DO UPDATE SET story = excluded.story, rev = excluded.rev, apply = excluded.apply`); err != nil {
		return fmt.Errorf("write default stories: %w", err)
	}
	return nil
}

var defaultColumns = []column[library.Default]{
	text("robot", func(d library.Default) string { return d.Robot }),
	text("story", func(d library.Default) string { return d.Story }),
	number("rev", func(d library.Default) int64 { return d.Rev }),
	text("apply", func(d library.Default) string { return string(d.Apply) }),
}
