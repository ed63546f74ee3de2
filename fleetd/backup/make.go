package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/store"
)

// Options are what a backup is made of.
type Options struct {
	Database   string // sqlite:PATH or postgres://...
	Sources    []Source
	Environ    []string // settings of the environment, name=value
	Passphrase string
	Fleet      string // name of the fleet in its certificates
	Version    string // of this fleetd
	By         string // user@computer
	Now        func() time.Time
	Progress   Progress
	// WorkFactor is the cost of guessing the passphrase; 0 = workFactor. Only tests make it cheap.
	WorkFactor int
	// ReadFile reads a file; nil = os.ReadFile. Only tests set it.
	ReadFile func(path string) ([]byte, error)
}

// Made is a backup that was made.
type Made struct {
	Manifest
	Path  string
	Bytes int64
	// Unrecorded says why the database does not know of it, so that its age is not that of the newest backup.
	Unrecorded error
}

// Make makes a backup of a fleet, beside a fleetd that may be running. It contains every change that was acknowledged before
// the call. Path exists afterwards only if the backup is whole.
func Make(ctx context.Context, path string, o Options) (made Made, err error) {
	if err := mayReplace(path); err != nil {
		return made, err
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	files, noRootKey, err := readSources(o.Sources, o.ReadFile)
	if err != nil {
		return made, fmt.Errorf("read what belongs into the backup: %w", err)
	}
	if settings, ok := settingsFile(o.Environ); ok {
		files = append(files, settings)
	}
	db, err := store.OpenBeside(ctx, o.Database)
	if err != nil {
		return made, err
	}
	defer db.Close()
	out, err := newPartial(path)
	if err != nil {
		return made, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.remove())
		}
	}()
	id, err := uuid.NewV7()
	if err != nil {
		return made, fmt.Errorf("make an id: %w", err)
	}
	if o.WorkFactor == 0 {
		o.WorkFactor = workFactor
	}
	m := Manifest{Format: format, ID: id.String(), MadeAt: o.Now().UTC().Truncate(time.Microsecond), MadeBy: o.By, Version: o.Version,
		Fleet: o.Fleet, Database: db.Dialect(),
		NoRootKey: noRootKey}
	if schema := db.Schema(); schema != store.DefaultSchema {
		m.Schema = schema
	}
	w := &writer{f: out.File, at: m.MadeAt}
	var copied Member
	if err := w.add(databaseMember, func(to io.Writer) error {
		contents, member, err := o.copyDatabase(ctx, db, to)
		copied, m.FleetID, m.Migration, m.Robots, m.Users = member, contents.FleetID, contents.Migration, contents.Robots, contents.Users
		return err
	}); err != nil {
		return made, err
	}
	m.Members = []Member{copied}
	for _, f := range files {
		m.Members = append(m.Members, f.Member)
	}
	if err := w.add(filesMember, func(to io.Writer) error {
		sealed, err := seal(to, o.Passphrase, o.WorkFactor)
		if err != nil {
			return err
		}
		return errors.Join(writeFiles(sealed, m, files), sealed.Close())
	}); err != nil {
		return made, err
	}
	if err := w.finish(m); err != nil {
		return made, err
	}
	if err := context.Cause(ctx); err != nil {
		return made, err
	}
	if err := out.commit(); err != nil {
		return made, err
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	made = Made{Manifest: m, Path: path, Bytes: w.end}
	made.Unrecorded = db.Tx(ctx, func(tx *store.Tx) error { return record(ctx, tx, o.Now(), m, path, w.end) })
	return made, nil
}

// backupsSince is the schema version that added the table of backups.
const backupsSince = 34

// errNoTable says that a database cannot record backups yet.
var errNoTable = errors.New("the database has no table of backups")

// record adds a backup to the database.
func record(ctx context.Context, tx *store.Tx, at time.Time, m Manifest, path string, size int64) error {
	now, err := tx.Contents(ctx)
	if err != nil {
		return err
	}
	if now.Migration < backupsSince {
		return fmt.Errorf("%w: it has the schema version %d, and backups are recorded from %d: start this fleetd once", errNoTable, now.Migration,
			backupsSince)
	}
	return tx.AddBackup(ctx, at, store.Backup{
		ID: m.ID, Kind: store.BackupMade, At: m.MadeAt, Bytes: size, File: path, By: m.MadeBy, Migration: m.Migration, Members: m.Keys(),
	}, audit.Note{
		Source: audit.Source{Via: audit.ViaCLI}, Who: m.MadeBy, What: audit.ActionBackup, Target: path,
		Detail: strings.TrimSuffix(fmt.Sprintf("%d bytes, %d robots; with %s", size, m.Robots, m.Keys()), "; with "),
	})
}

// copyDatabase writes the sealed copy of the database.
func (o *Options) copyDatabase(ctx context.Context, db *store.Store, to io.Writer) (c store.Contents, m Member, err error) {
	if db.Dialect() == Postgres {
		err = o.dump(ctx, db, func(contents store.Contents, from io.Reader) error {
			c = contents
			m, err = o.sealFrom(ctx, "copy the database", from, 0, to)
			return err
		})
		return c, m, err
	}
	copied, c, err := copyFile(ctx, db)
	if err != nil {
		return c, m, err
	}
	defer copied.Close()
	info, err := copied.Stat()
	if err != nil {
		return c, m, err
	}
	m, err = o.sealFrom(ctx, "copy the database", copied, info.Size(), to)
	return c, m, err
}

func (o *Options) sealFrom(ctx context.Context, step string, from io.Reader, size int64, to io.Writer) (Member, error) {
	return sealCompressed(to, o.Passphrase, o.WorkFactor, func(into io.Writer) error {
		if _, err := io.Copy(into, o.Progress.reader(ctx, step, from, size)); err != nil {
			return fmt.Errorf("copy the database: %w", err)
		}
		return nil
	})
}

// copyFile makes a copy of an SQLite database beside it, on the same disk and for the same readers, and returns it open and
// already removed from its folder.
func copyFile(ctx context.Context, db *store.Store) (_ *os.File, c store.Contents, err error) {
	path := db.Place()
	pattern := filepath.Base(path) + ".copy-*"
	if err := removeAbandoned(filepath.Join(filepath.Dir(path), pattern)); err != nil {
		return nil, c, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), pattern)
	if err != nil {
		return nil, c, fmt.Errorf("copy the database: %w", err)
	}
	tryLock(f)
	if err = db.CopyFile(ctx, f.Name()); err == nil {
		c, err = store.CheckCopy(ctx, f.Name())
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, c, errors.Join(err, f.Close())
	}
	return f, c, nil
}

// removeAbandoned removes copies of programs that ended without doing so.
func removeAbandoned(pattern string) error {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, path := range found {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue // of somebody else, or gone
		}
		if tryLock(f) {
			_ = os.Remove(path)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// RemoveOld removes backups of a folder that Name has named, but for the newest keep, and returns their names.
func RemoveOld(dir, fleet string, keep int) (removed []string, err error) {
	found, err := filepath.Glob(filepath.Join(dir, prefixOf(fleet)+"-"+strings.Repeat("[0-9]", 8)+"T"+strings.Repeat("[0-9]", 6)+
		"Z"+extension))
	if err != nil {
		return nil, err
	}
	slices.Sort(found)
	for len(found) > keep {
		if err := mayReplace(found[0]); err != nil {
			return removed, err
		}
		if err := os.Remove(found[0]); err != nil {
			return removed, fmt.Errorf("remove an old backup: %w", err)
		}
		removed = append(removed, found[0])
		found = found[1:]
	}
	return removed, nil
}

const extension = ".backup"

// Name names a backup of a fleet by its time. Names of one fleet sort by time.
func Name(fleet string, at time.Time) string {
	return prefixOf(fleet) + "-" + at.UTC().Format("20060102T150405Z") + extension
}

func prefixOf(fleet string) string {
	if fleet == "" {
		return "fleet"
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' && fleet[0] != '.' || r == '_' {
			return r
		}
		return '-'
	}, fleet)
}
