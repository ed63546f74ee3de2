package store

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"troupe/fleetd/library"
	"troupe/schema"
)

// partBytes is the size of the parts in which files are stored: the largest blob.
var partBytes = schema.TopicOf(schema.TopicBlob).MaxBytes

const selectAssets = `SELECT a.name, a.sha256, f.size, f.media, f.details, a.changed_at, a.changed_by FROM assets a JOIN files f ON f.sha256 = a.sha256`

func scanAsset(scan func(...any) error) (library.Asset, error) {
	var a library.Asset
	var changed int64
	var details string
	err := scan(&a.Name, &a.SHA256, &a.Size, &a.Media, &details, &changed, &a.ChangedBy)
	a.ChangedAt = timeOf(changed)
	if err == nil && details != "" {
		err = json.Unmarshal([]byte(details), &a.Details)
	}
	return a, err
}

// Assets lists the sounds, images and maps by name.
func (r reads) Assets(ctx context.Context) ([]library.Asset, error) {
	all, err := queryAll(ctx, r, scanAsset, selectAssets+" ORDER BY a.name")
	if err != nil {
		return nil, fmt.Errorf("list assets: %w", err)
	}
	return all, nil
}

// Asset returns a sound, an image or a map by its name, or ErrNotFound.
func (r reads) Asset(ctx context.Context, name string) (library.Asset, error) {
	a, err := queryOne(ctx, r, scanAsset, selectAssets+" WHERE a.name = $1", name)
	if err != nil {
		return a, fmt.Errorf("asset %s: %w", name, err)
	}
	return a, nil
}

// filesTotal returns the size of all files together.
func (r reads) filesTotal(ctx context.Context) (bytes int64, err error) {
	if err := r.queryRow(ctx, `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM files`).Scan(&bytes); err != nil {
		return 0, fmt.Errorf("sum up the sizes of files: %w", err)
	}
	return bytes, nil
}

// File reads the bytes of one digest part by part. It is not safe for concurrent use.
type File struct {
	SHA256 string
	Size   int64
	Media  library.Media

	ctx  context.Context
	from reads
	at   int64
	part int64 // the part in body, from 1; 0 = none
	body []byte
}

// File returns the file of this digest, or ErrNotFound. Its reads use ctx.
func (r reads) File(ctx context.Context, sha256 string) (*File, error) {
	f, err := queryOne(ctx, r, func(scan func(...any) error) (*File, error) {
		f := &File{SHA256: sha256, ctx: ctx, from: r}
		return f, scan(&f.Size, &f.Media)
	}, `SELECT size, media FROM files WHERE sha256 = $1`, sha256)
	if err != nil {
		return nil, fmt.Errorf("file %s: %w", sha256, err)
	}
	return f, nil
}

// Read implements io.Reader.
func (f *File) Read(b []byte) (int, error) {
	if f.at >= f.Size {
		return 0, io.EOF
	}
	part := f.at/int64(partBytes) + 1
	if part != f.part {
		err := f.from.queryRow(f.ctx, `SELECT body FROM file_parts WHERE sha256 = $1 AND part = $2`, f.SHA256, part-1).Scan(&f.body)
		if err != nil {
			return 0, fmt.Errorf("read a part of file %s: %w", f.SHA256, mapNoRows(err))
		}
		f.part = part
	}
	n := copy(b, f.body[min(int(f.at%int64(partBytes)), len(f.body)):])
	if n == 0 && len(b) > 0 {
		return 0, fmt.Errorf("read a part of file %s: %w", f.SHA256, io.ErrUnexpectedEOF)
	}
	f.at += int64(n)
	return n, nil
}

// Seek implements io.Seeker.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.Size
	}
	if offset < 0 {
		return f.at, fmt.Errorf("seek in file %s: offset %d is before the beginning", f.SHA256, offset)
	}
	f.at = offset
	return f.at, nil
}

// saveFiles saves new files. One that exists already only gets a new time.
func (t *Tx) saveFiles(ctx context.Context, files []library.File, now time.Time) error {
	for _, f := range files {
		parts := (len(f.Body) + partBytes - 1) / partBytes
		details, err := json.Marshal(f.Details)
		if err != nil {
			return fmt.Errorf("save file %s: %w", f.SHA256, err)
		}
		_, err = t.exec(ctx, `INSERT INTO files (sha256, size, parts, media, details, created_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (sha256) DO UPDATE SET created_at = excluded.created_at, details = excluded.details`, f.SHA256, len(f.Body), parts, string(f.Media), string(details), micros(now))
		if err != nil {
			return fmt.Errorf("save file %s: %w", f.SHA256, err)
		}
		for i := range parts {
			body := f.Body[i*partBytes : min((i+1)*partBytes, len(f.Body))]
			if _, err := t.exec(ctx, `INSERT INTO file_parts (sha256, part, body) VALUES ($1, $2, $3) ON CONFLICT (sha256, part) DO NOTHING`,
				f.SHA256, i, body); err != nil {
				return fmt.Errorf("save a part of file %s: %w", f.SHA256, err)
			}
		}
	}
	return nil
}

func (t *Tx) saveAssets(ctx context.Context, c library.Changes) error {
	for _, a := range c.Assets {
		_, err := t.exec(ctx, `INSERT INTO assets (name, sha256, changed_at, changed_by) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
			a.Name, a.SHA256, micros(a.ChangedAt), a.ChangedBy)
		if err != nil {
			return fmt.Errorf("save asset %s: %w", a.Name, err)
		}
	}
	for _, name := range c.Removed {
		n, err := t.exec(ctx, `DELETE FROM assets WHERE name = $1`, name)
		if err := expectOne(n, err, "the asset "+name); err != nil {
			return err
		}
	}
	return nil
}

// fileSizes returns the size of every file by its digest.
func (r reads) fileSizes(ctx context.Context) (map[string]int64, error) {
	type row struct {
		sha  string
		size int64
	}
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) { return v, scan(&v.sha, &v.size) },
		`SELECT sha256, size FROM files`)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	out := map[string]int64{}
	for _, v := range all {
		out[v.sha] = v.size
	}
	return out, nil
}

// unreferencedFiles is the condition of files that no asset, published revision or desired
// set refers to.
const unreferencedFiles = `created_at < $1 AND NOT EXISTS (SELECT 1 FROM assets a WHERE a.sha256 = files.sha256)
	AND NOT EXISTS (SELECT 1 FROM revision_files rf WHERE rf.sha256 = files.sha256)
	AND NOT EXISTS (SELECT 1 FROM desired_set_files sf WHERE sf.sha256 = files.sha256)`

// PruneFiles deletes the unreferenced files that were saved before then, and returns how
// many.
func (s *Store) PruneFiles(ctx context.Context, then time.Time) (n int64, err error) {
	err = s.Tx(ctx, func(tx *Tx) error {
		if _, err := tx.exec(ctx, `DELETE FROM file_parts WHERE sha256 IN (SELECT sha256 FROM files WHERE `+unreferencedFiles+`)`,
			micros(then)); err != nil {
			return err
		}
		n, err = tx.exec(ctx, `DELETE FROM files WHERE `+unreferencedFiles, micros(then))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete unreferenced files: %w", err)
	}
	return n, nil
}

// RecordPublishedBlob records that a blob was published without the outbox, so the broker has it.
func (s *Store) RecordPublishedBlob(ctx context.Context, sha256 string) error {
	err := s.plainTx(ctx, func(tx *Tx) error {
		return tx.notePublishedBlobs(ctx, []library.Message{{Topic: schema.TopicBlob, Target: sha256}})
	})
	if err != nil {
		return fmt.Errorf("record a published blob: %w", err)
	}
	return nil
}

// notePublishedBlobs records the blobs that the broker gets with these messages.
func (t *Tx) notePublishedBlobs(ctx context.Context, messages []library.Message) error {
	var blobs []string
	for _, m := range messages {
		if m.Topic == schema.TopicBlob && !m.Remove {
			blobs = append(blobs, m.Target)
		}
	}
	slices.Sort(blobs)
	_, err := writeRows(ctx, t, slices.Compact(blobs), digestColumn, `INSERT INTO published_blobs (sha256, unused_at)
		SELECT sha256, 0 FROM given WHERE true ON CONFLICT (sha256) DO UPDATE SET unused_at = 0`)
	if err != nil {
		return fmt.Errorf("record published blobs: %w", err)
	}
	return nil
}

var digestColumn = []column[string]{text("sha256", func(sha256 string) string { return sha256 })}

// RemoveUnusedBlobs enqueues the deletion of retained blobs that no desired document has needed
// since then, and returns how many. It looks at the desired documents of all robots, and
// records now as the time from which a blob is unused.
func (s *Store) RemoveUnusedBlobs(ctx context.Context, then, now time.Time) (n int, err error) {
	err = s.Tx(ctx, func(tx *Tx) error {
		if _, err := tx.exec(ctx, `UPDATE published_blobs SET unused_at = 0 WHERE unused_at > 0 AND sha256 IN (SELECT sha256 FROM desired_blobs)`); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `UPDATE published_blobs SET unused_at = $1 WHERE unused_at = 0 AND sha256 NOT IN (SELECT sha256 FROM desired_blobs)`, micros(now)); err != nil {
			return err
		}
		old, err := queryAll(ctx, tx.reads, func(scan func(...any) error) (sha string, err error) { return sha, scan(&sha) },
			`SELECT sha256 FROM published_blobs WHERE unused_at > 0 AND unused_at <= $1 ORDER BY sha256`, micros(then))
		if err != nil {
			return err
		}
		if _, err := tx.exec(ctx, `DELETE FROM published_blobs WHERE unused_at > 0 AND unused_at <= $1`, micros(then)); err != nil {
			return err
		}
		messages := make([]library.Message, len(old))
		for i, sha := range old {
			messages[i] = library.Message{Topic: schema.TopicBlob, Target: sha, Remove: true}
		}
		n = len(old)
		return tx.enqueue(ctx, messages, now)
	})
	if err != nil {
		return 0, fmt.Errorf("remove unused blobs: %w", err)
	}
	return n, nil
}
