package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"troupe/fleetd/audit"
)

// BackupKind says whether a backup was made of the database, or the database was restored from one.
type BackupKind string

const (
	BackupMade     BackupKind = "made"
	BackupRestored BackupKind = "restored"
)

// Backup is a backup that was made of the database, or from which it was restored.
type Backup struct {
	ID        string
	Kind      BackupKind
	At        time.Time // made: the moment that it is a copy of; restored: when
	Bytes     int64     // size of the file
	File      string    // path on the computer where it was made or read
	By        string    // user@computer
	Migration int64     // the database's schema version in the copy
	Members   string    // what is in it besides the database, in words
	Of        string    // of a restore: id of the backup
}

const selectBackups = `SELECT id, kind, at, bytes, file, made_by, migration, members, of_backup FROM backups`

func scanBackup(scan func(...any) error) (b Backup, err error) {
	var at int64
	err = scan(&b.ID, &b.Kind, &at, &b.Bytes, &b.File, &b.By, &b.Migration, &b.Members, &b.Of)
	b.At = timeOf(at)
	return b, err
}

// Backups lists backups and restores, the newest first.
func (r reads) Backups(ctx context.Context, limit int) ([]Backup, error) {
	all, err := queryAll(ctx, r, scanBackup, selectBackups+" ORDER BY at DESC, id LIMIT $1", limitOf(limit))
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	return all, nil
}

// LastBackup returns the newest backup that was made; it is false if none was.
func (r reads) LastBackup(ctx context.Context) (Backup, bool, error) {
	b, err := queryOne(ctx, r, scanBackup, selectBackups+" WHERE kind = $1 ORDER BY at DESC, id LIMIT 1", string(BackupMade))
	switch {
	case errors.Is(err, ErrNotFound):
		return b, false, nil
	case err != nil:
		return b, false, fmt.Errorf("read the newest backup: %w", err)
	}
	return b, true, nil
}

// AddBackup records a backup or a restore, with the note that says who did it. One that is recorded already stays.
func (t *Tx) AddBackup(ctx context.Context, now time.Time, b Backup, notes ...audit.Note) error {
	n, err := t.exec(ctx, `INSERT INTO backups (id, kind, at, bytes, file, made_by, migration, members, of_backup)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
		b.ID, string(b.Kind), micros(b.At), b.Bytes, b.File, b.By, b.Migration, b.Members, b.Of)
	if err != nil {
		return fmt.Errorf("record backup %s: %w", b.ID, err)
	}
	if n == 0 {
		return nil
	}
	return t.Note(ctx, now, notes...)
}

const oldBackups = `DELETE FROM backups WHERE id IN (SELECT id FROM backups
	WHERE at < $1 AND at < (SELECT MAX(n.at) FROM backups n WHERE n.kind = 'made') ORDER BY at LIMIT $2)`

// PruneBackups forgets up to limit of the oldest backups from before then. It keeps the newest.
func (s *Store) PruneBackups(ctx context.Context, then time.Time, limit int) (int64, error) {
	return s.prune(ctx, "backups", oldBackups, micros(then), limit)
}

// CreatedAt is when the database was created.
func (r reads) CreatedAt(ctx context.Context) (time.Time, error) {
	var at int64
	if err := r.queryRow(ctx, `SELECT created_at FROM fleet WHERE only_row = 1`).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("read when the database was created: %w", err)
	}
	return timeOf(at), nil
}
