package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"
)

// FileCheckTimeout bounds the check of an SQLite file at the start; the rest of a larger file is
// not checked. Meanwhile fleetd sends no heartbeat, and robots that are driven manually
// change to mode safe after 5 s without one.
const FileCheckTimeout = 3 * time.Second

// ownerOnly is the mode of every file of the database, which holds the audit log and the
// certificates of robots.
const ownerOnly fs.FileMode = 0o600

// The second line of a lock file; earlier versions wrote none.
const (
	markNoFleet = "no fleet yet"
	markFleet   = "fleet begun"
)

// fileLock is the locked file beside an SQLite file. Its text says which process locked it
// last and whether the database ever held a fleet.
type fileLock struct {
	*os.File
	mark string
}

// write replaces the text and syncs it to the disk. It writes the text at once, so that a
// power cut leaves the old or the new one.
func (l *fileLock) write(mark string) error {
	text := fmt.Sprintf("%d\n", os.Getpid())
	if mark != "" {
		text += mark + "\n"
	}
	_, err := l.WriteAt([]byte(text), 0)
	if err == nil {
		err = l.Truncate(int64(len(text)))
	}
	if err == nil {
		err = l.Sync()
	}
	return err
}

// prepareFile creates the file of a new database, so that SQLite gives its WAL the same mode,
// and restricts the modes of existing files. If the lock's mark says that a fleet was here
// whose file is empty or missing, it refuses to begin a new one. The caller holds the lock.
func prepareFile(path, mark string, log *slog.Logger) (created bool, err error) {
	size, there, err := sizeOf(path)
	if err != nil {
		return false, err
	}
	walSize, _, err := sizeOf(path + "-wal")
	if err != nil {
		return false, err
	}
	switch {
	case size > 0:
	case walSize > 0: // SQLite would delete it
		return false, fmt.Errorf("%w: the file is empty or missing, but its WAL %s-wal is not; restore the backup, "+
			"or remove the WAL to begin a new fleet", ErrDamaged, path)
	case there && (mark == markFleet || mark == ""):
		return false, fmt.Errorf("%w: the file is empty, and %s.lock shows that a fleetd used it; restore the backup, "+
			"or remove both to begin a new fleet", ErrDamaged, path)
	case mark == markFleet:
		return false, fmt.Errorf("%w: the file is missing, and %s.lock shows that a fleetd used it; restore the backup, "+
			"or remove the lock to begin a new fleet", ErrDamaged, path)
	}
	if !there {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, ownerOnly)
		if err != nil {
			return false, err
		}
		if err := f.Close(); err != nil {
			return true, err
		}
	}
	for _, name := range []string{path, path + "-wal", path + "-shm", path + ".lock"} {
		restrictMode(name, log)
	}
	return !there, nil
}

func sizeOf(path string) (size int64, there bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	return info.Size(), true, nil
}

// restrictMode removes all permissions of others than the owner. If it cannot, since another
// user owns the file, it logs a warning and fleetd starts all the same.
func restrictMode(path string, log *slog.Logger) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&^ownerOnly == 0 {
		return
	}
	if err := os.Chmod(path, ownerOnly); err != nil {
		log.Warn("database file is accessible to other users, and its mode cannot be changed", "file", path, "mode", info.Mode().Perm(), "error",
			err)
		return
	}
	log.Warn("database file was accessible to other users; its mode was changed", "file", path, "was", info.Mode().Perm(), "mode", ownerOnly)
}

// checkFile reads the whole file and refuses one with inconsistent pages. It changes nothing
// and does not even checkpoint the WAL. SQLite has no checksums, so a flipped bit
// in a text goes unnoticed.
func checkFile(ctx context.Context, path string, log *slog.Logger) error {
	where := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	db, err := sql.Open("sqlite", where.String())
	if err != nil {
		return err
	}
	defer db.Close()
	size, _, _ := sizeOf(path)
	log.Info("database check started", "file", path, "bytes", size)
	within, cancel := context.WithTimeout(ctx, FileCheckTimeout)
	defer cancel()
	var found string
	err = db.QueryRowContext(within, "PRAGMA quick_check(1)").Scan(&found)
	switch {
	case err == nil && found == "ok":
		return nil
	case err == nil:
		err = errors.New(strings.ReplaceAll(found, "\n", " "))
	case within.Err() != nil && ctx.Err() == nil:
		log.Warn("database checked in part; to check all of it, stop fleetd and run sqlite3 FILE 'PRAGMA quick_check'", "file", path, "after",
			FileCheckTimeout)
		return nil
	default:
		if code := sqliteCode(err) & 0xff; code != 11 && code != 26 { // SQLITE_CORRUPT, SQLITE_NOTADB
			return fmt.Errorf("check the database: %w", err)
		}
	}
	return fmt.Errorf("%w: %w; nothing was changed; restore the backup, or without one begin a new file with what sqlite3 %s .dump can "+
		"still read", ErrDamaged, err, path)
}
