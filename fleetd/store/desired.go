package store

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/schema"
	"troupe/schema/sign"
)

// SignWith sets the keys that sign desired documents from now on: key signs the documents,
// release the contents that they refer to. Either may be nil; without release, robots that
// require its signature refuse new contents.
func (s *Store) SignWith(key, release ed25519.PrivateKey) {
	s.key, s.release = key, release
}

// SetReportedRevisions sets where plans learn the revisions that robots report, so that a new desired
// document gets a higher one. reported returns what a robot says of its desired documents on
// one topic; it is called within transactions.
func (s *Store) SetReportedRevisions(reported func(robot string, topic schema.TopicKind) schema.ReportedRev) {
	s.reported = reported
}

func (s *Store) reportedOf(robot string, topic schema.TopicKind) schema.ReportedRev {
	if s.reported == nil {
		return schema.ReportedRev{}
	}
	return s.reported(robot, topic)
}

// signer returns the keys and the newest signature counter for the documents of this transaction.
// Its column is named release_counter, but it counts all signed documents of the fleet, see
// [sign.Signer.Next].
func (t *Tx) signer(ctx context.Context) (sign.Signer, error) {
	s := sign.Signer{Key: t.store.key, Release: t.store.release}
	if err := t.queryRow(ctx, `SELECT release_counter FROM fleet WHERE only_row = 1`).Scan(&s.Counter); err != nil {
		return s, fmt.Errorf("read the signature counter: %w", err)
	}
	return s, nil
}

// saveCounter saves the newest signature counter. The stored one never decreases.
func (t *Tx) saveCounter(ctx context.Context, counter int64) error {
	if _, err := t.exec(ctx, `UPDATE fleet SET release_counter = $1 WHERE only_row = 1 AND release_counter < $1`, counter); err != nil {
		return fmt.Errorf("save the signature counter: %w", err)
	}
	return nil
}

// DesiredRows reads what a plan for the desired documents of these robots needs.
func (t *Tx) DesiredRows(ctx context.Context, topic schema.TopicKind, sel selector.Selector) (rows desired.Rows, err error) {
	if err := t.queryRow(ctx, `SELECT fleet_id FROM fleet WHERE only_row = 1`).Scan(&rows.FleetID); err != nil {
		return rows, fmt.Errorf("read the fleet id: %w", err)
	}
	if rows.Signer, err = t.signer(ctx); err != nil {
		return rows, err
	}
	robots, err := t.Robots(ctx, sel)
	if err != nil {
		return rows, err
	}
	newest, err := t.newestDesired(ctx, topic, sel)
	if err != nil {
		return rows, err
	}
	if topic == schema.TopicDesiredPlaces || topic == schema.TopicDesiredActivities {
		if rows.Files, err = t.fileSizes(ctx); err != nil {
			return rows, err
		}
	}
	for _, r := range robots {
		rows.Robots = append(rows.Robots,
			desired.Robot{ID: r.ID, Labels: r.Labels, Current: newest[r.ID].Document, Previous: newest[r.ID].previous,
				Reported: t.store.reportedOf(r.ID, topic)})
	}
	return rows, nil
}

// NewestDesired returns the newest desired document of one kind of each of these robots that
// has one.
func (r reads) NewestDesired(ctx context.Context, topic schema.TopicKind, sel selector.Selector) (map[string]desired.Document, error) {
	all, err := r.newestDesired(ctx, topic, sel)
	out := map[string]desired.Document{}
	for robot, v := range all {
		out[robot] = v.Document
	}
	return out, err
}

// newest is the newest desired document of a robot, and the one before the newest change.
type newest struct {
	robot string
	desired.Document
	previous []byte
}

func (r reads) newestDesired(ctx context.Context, topic schema.TopicKind, sel selector.Selector) (map[string]newest, error) {
	var w where
	w.addIf(true, "w.kind = %s", string(topic))
	w.addSelector(sel)
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v newest, err error) {
		return v, scan(&v.robot, &v.Rev, &v.Payload, &v.previous)
	}, `SELECT w.robot, w.rev, w.payload, w.previous FROM desired w JOIN robots r ON r.id = w.robot`+w.String(), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list desired documents of %s: %w", topic, err)
	}
	out := map[string]newest{}
	for _, v := range all {
		out[v.robot] = v
	}
	return out, nil
}

// RankedClients returns the names of the clients to which the desired settings of some robot give
// a rank.
func (r reads) RankedClients(ctx context.Context) (map[string]bool, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (payload []byte, err error) {
		return payload, scan(&payload)
	}, `SELECT payload FROM desired WHERE kind = $1`, string(schema.TopicDesiredConfig))
	if err != nil {
		return nil, fmt.Errorf("list desired settings: %w", err)
	}
	out := map[string]bool{}
	for _, payload := range all {
		desired, problems := schema.Decode[schema.DesiredConfig](payload)
		if len(schema.Errors(problems)) > 0 {
			continue // in the form of an older version
		}
		ranks, problems := schema.Decode[map[string]string](desired.Values["clients"])
		if len(schema.Errors(problems)) > 0 {
			continue
		}
		for name := range ranks {
			out[name] = true
		}
	}
	return out, nil
}

// DesiredRevs returns the revisions of all desired documents, by robot and topic.
func (r reads) DesiredRevs(ctx context.Context) (map[string]map[schema.TopicKind]int64, error) {
	type row struct {
		robot string
		topic schema.TopicKind
		rev   int64
	}
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) {
		return v, scan(&v.robot, &v.topic, &v.rev)
	}, `SELECT robot, kind, rev FROM desired`)
	if err != nil {
		return nil, fmt.Errorf("list the revisions of desired documents: %w", err)
	}
	out := map[string]map[schema.TopicKind]int64{}
	for _, v := range all {
		if out[v.robot] == nil {
			out[v.robot] = map[schema.TopicKind]int64{}
		}
		out[v.robot][v.topic] = v.rev
	}
	return out, nil
}

// DesiredOf returns the newest desired documents of a robot, by topic.
func (r reads) DesiredOf(ctx context.Context, robot string) (map[schema.TopicKind][]byte, error) {
	type row struct {
		topic   schema.TopicKind
		payload []byte
	}
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) {
		return v, scan(&v.topic, &v.payload)
	}, `SELECT kind, payload FROM desired WHERE robot = $1`, robot)
	if err != nil {
		return nil, fmt.Errorf("list desired documents of %s: %w", robot, err)
	}
	out := map[schema.TopicKind][]byte{}
	for _, v := range all {
		out[v.topic] = v.payload
	}
	return out, nil
}

// ApplyDesired writes the changes of a plan that was made from rows of this transaction, and
// enqueues the documents. If another transaction wrote one of them meanwhile, the error is
// ErrConflict.
func (t *Tx) ApplyDesired(ctx context.Context, c desired.Changes, by audit.Attribution) error {
	var messages []library.Message
	if c.Blob != nil {
		if _, err := t.exec(ctx, `INSERT INTO blobs (sha256, size, body, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (sha256) DO NOTHING`,
			c.SHA256, len(c.Blob), c.Blob, micros(by.At)); err != nil {
			return fmt.Errorf("save blob %s: %w", c.SHA256, err)
		}
		for _, f := range c.Files {
			if f.IsBlob() {
				messages = append(messages, library.Message{Topic: schema.TopicBlob, Target: f.SHA256})
			}
		}
		messages = append(messages, library.Message{Topic: schema.TopicBlob, Target: c.SHA256})
	}
	var rows []desiredRow
	for _, r := range c.Documents {
		rows = append(rows, desiredRow{r.ID, c.Topic, r.Current.Rev, r.Current.Payload, r.Previous, by.At, by.Who})
		messages = append(messages, library.Message{Topic: c.Topic, Target: r.ID, Payload: r.Current.Payload})
	}
	if len(messages) == 0 {
		return nil
	}
	if err := t.saveDesired(ctx, rows); err != nil {
		return err
	}
	if err := t.saveSetFiles(ctx, c); err != nil {
		return err
	}
	if err := t.saveCounter(ctx, c.Counter); err != nil {
		return err
	}
	if err := t.enqueue(ctx, messages, by.At); err != nil {
		return err
	}
	if c.Note == "" {
		return nil
	}
	return t.Note(ctx, by.At, audit.Note{Who: by.Who, Why: by.Why, What: audit.ActionDesired, Target: c.Note,
		Detail: library.RobotsText(c.Updated), Before: c.Before, After: c.After})
}

// desiredRow is one desired document of one robot.
type desiredRow struct {
	robot    string
	kind     schema.TopicKind
	rev      int64
	payload  []byte
	previous []byte // empty = not known
	at       time.Time
	by       string
}

var desiredColumns = []column[desiredRow]{
	text("robot", func(r desiredRow) string { return r.robot }),
	text("kind", func(r desiredRow) string { return string(r.kind) }),
	number("rev", func(r desiredRow) int64 { return r.rev }),
	binary("payload", func(r desiredRow) []byte { return r.payload }),
	binary("previous", func(r desiredRow) []byte { return r.previous }),
	number("changed_at", func(r desiredRow) int64 { return micros(r.at) }),
	text("changed_by", func(r desiredRow) string { return r.by }),
}

// saveDesired writes desired documents over those of lower revisions. If another transaction
// wrote one of them meanwhile, the error is ErrConflict. If previous is unchanged, the row repeats
// the assignment: its time and author stay.
func (t *Tx) saveDesired(ctx context.Context, rows []desiredRow) error {
	n, err := writeRows(ctx, t, rows, desiredColumns, `INSERT INTO desired (robot, kind, rev, payload, previous, changed_at, changed_by, assigned_at, assigned_by)
		SELECT robot, kind, rev, payload, previous, changed_at, changed_by, CASE WHEN length(previous) = 0 THEN 0 ELSE changed_at END, changed_by FROM given WHERE true
		ON CONFLICT (robot, kind) DO UPDATE SET rev = excluded.rev, payload = excluded.payload, previous = excluded.previous, changed_at = excluded.changed_at, changed_by = excluded.changed_by,
			replaced_at = CASE WHEN desired.previous = excluded.previous THEN desired.replaced_at ELSE desired.assigned_at END,
			assigned_at = CASE WHEN desired.previous = excluded.previous THEN desired.assigned_at ELSE excluded.assigned_at END,
			assigned_by = CASE WHEN desired.previous = excluded.previous THEN desired.assigned_by ELSE excluded.assigned_by END
		WHERE desired.rev < excluded.rev`)
	return expectRows(int64(len(rows)), n, err, fmt.Sprintf("desired documents for %d robots", len(rows)))
}

// saveSetFiles records which blob and which files the desired sets refer to, so that they
// are not deleted.
func (t *Tx) saveSetFiles(ctx context.Context, c desired.Changes) error {
	if c.Again || c.Topic != schema.TopicDesiredPlaces && c.Topic != schema.TopicDesiredActivities {
		return nil
	}
	var robots, files []setFile
	for _, r := range c.Documents {
		robots = append(robots, setFile{r.ID, c.Topic, c.SHA256})
		for _, f := range c.Files {
			files = append(files, setFile{r.ID, c.Topic, f.SHA256})
		}
	}
	return t.writeSetFiles(ctx, robots, files)
}

// writeSetFiles writes the blob of each robot's set, which has no digest if the robot has no
// set any more, and the files of these sets.
func (t *Tx) writeSetFiles(ctx context.Context, robots, files []setFile) error {
	if _, err := writeRows(ctx, t, robots, setFileColumns[:2],
		`DELETE FROM desired_set_files WHERE (robot, kind) IN (SELECT robot, kind FROM given)`); err != nil {
		return fmt.Errorf("write the files of sets: %w", err)
	}
	if _, err := writeRows(ctx, t, files, setFileColumns, `INSERT INTO desired_set_files (robot, kind, sha256)
		SELECT robot, kind, sha256 FROM given WHERE true ON CONFLICT (robot, kind, sha256) DO NOTHING`); err != nil {
		return fmt.Errorf("write the files of sets: %w", err)
	}
	if _, err := writeRows(ctx, t, robots, setFileColumns[:2],
		`DELETE FROM desired_sets WHERE (robot, kind) IN (SELECT robot, kind FROM given)`); err != nil {
		return fmt.Errorf("remove the sets of %d robots: %w", len(robots), err)
	}
	robots = slices.DeleteFunc(slices.Clone(robots), func(f setFile) bool { return f.sha256 == "" })
	if _, err := writeRows(ctx, t, robots, setFileColumns,
		`INSERT INTO desired_sets (robot, kind, sha256) SELECT robot, kind, sha256 FROM given`); err != nil {
		return fmt.Errorf("write the sets of %d robots: %w", len(robots), err)
	}
	return nil
}

// setFile is a blob or file that the desired set of a robot refers to.
type setFile struct {
	robot  string
	kind   schema.TopicKind
	sha256 string
}

var setFileColumns = []column[setFile]{
	text("robot", func(p setFile) string { return p.robot }),
	text("kind", func(p setFile) string { return string(p.kind) }),
	text("sha256", func(p setFile) string { return p.sha256 }),
}
