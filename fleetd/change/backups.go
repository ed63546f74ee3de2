package change

import (
	"context"
	"time"

	"troupe/fleetd/store"
)

// Backups reads which backups were made of the database.
type Backups struct{ Deps }

// Backup is a backup that was made of the database, or from which it was restored.
type Backup = store.Backup

// List lists backups and restores, the newest first.
func (b *Backups) List(ctx context.Context, limit int) ([]Backup, error) {
	return read(&b.Deps, func(db *store.Store) ([]Backup, error) { return db.Backups(ctx, limit) })
}

// Newest is when the newest backup was made; made is false if none was, and at is then when the database was created.
func (b *Backups) Newest(ctx context.Context) (at time.Time, made bool, err error) {
	db, err := b.Store()
	if err != nil {
		return at, false, err
	}
	last, made, err := db.LastBackup(ctx)
	if err != nil || made {
		return last.At, made, err
	}
	at, err = db.CreatedAt(ctx)
	return at, false, err
}
