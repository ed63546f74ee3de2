package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/atomicfile"
	"troupe/fleetd/audit"
	"troupe/fleetd/store"
)

// ErrNotEmpty says that a target has a fleet, or files that a restore would replace.
var ErrNotEmpty = errors.New("the target is not empty")

// Verify reads all of a backup and checks each byte against its digests. It needs no passphrase.
func Verify(ctx context.Context, path string, progress Progress) (Manifest, int64, error) {
	b, err := open(ctx, path, progress)
	if err != nil {
		return Manifest{}, 0, err
	}
	defer b.Close()
	return b.Manifest, b.size, nil
}

// VerifySealed is Verify, and opens and checks all that is sealed. The manifest is the sealed one, which names the files.
func VerifySealed(ctx context.Context, path, passphrase string, progress Progress) (m Manifest, size int64, err error) {
	b, err := open(ctx, path, progress)
	if err != nil {
		return m, 0, err
	}
	defer b.Close()
	m, _, err = b.unsealFiles(passphrase)
	if err == nil {
		err = b.copyDatabase(ctx, m, passphrase, progress, io.Discard)
	}
	return m, b.size, err
}

// unsealFiles returns the files of a backup and its sealed manifest.
func (b *file) unsealFiles(passphrase string) (m Manifest, files []sealedFile, err error) {
	opened, err := unseal(b.section(filesMember), passphrase)
	if err == nil {
		m, files, err = readFiles(opened)
	}
	if err == nil && !m.same(b.Manifest) {
		err = fmt.Errorf("%w: the two manifests differ: somebody changed the one that is not sealed", ErrDamaged)
	}
	if err != nil {
		return m, nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	return m, files, nil
}

// copyDatabase writes the database of a backup, and checks that it is the one of the sealed manifest.
func (b *file) copyDatabase(ctx context.Context, m Manifest, passphrase string, progress Progress, to io.Writer) error {
	plain, err := unsealCompressed(b.section(databaseMember), passphrase)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Name(), err)
	}
	defer plain.Close()
	want := m.Members[0]
	c := newCounter()
	// A limit, so that nothing that is not the database fills the disk.
	_, err = io.Copy(io.MultiWriter(to, c), io.LimitReader(progress.reader(ctx, "read the database", plain, want.Bytes), want.Bytes+1))
	if err != nil {
		return fmt.Errorf("read the database of %s: %w", b.Name(), err)
	}
	if c.member(databaseName) != want {
		return fmt.Errorf("%s: %w: the database is not the one of the manifest", b.Name(), ErrDamaged)
	}
	return nil
}

// RestoreOptions say where a backup is restored to.
type RestoreOptions struct {
	Database   string // sqlite:PATH or postgres://...
	Files      string // folder for keys, certificates and settings; empty = they are not written
	Spool      string // file for the stops that the database did not have yet; empty = beside an SQLite file, else in Files
	Passphrase string
	Replace    bool   // replace what is there
	By         string // user@computer
	Now        func() time.Time
	Progress   Progress
}

// Restored is what a restore wrote.
type Restored struct {
	Manifest
	Place string // of the database
	Files []RestoredFile
	Spool string // file with the stops that the database did not have yet; empty = none was written
	Kept  string // file with stops that was there, and stays
	// Unrecorded says why the audit does not know of the restore.
	Unrecorded error
	// Unanalyzed says why PostgreSQL has no statistics of the restored tables yet, without which it is slow.
	Unanalyzed error
}

// RestoredFile is a file or a folder that a setting names.
type RestoredFile struct {
	Setting string
	Was     string // where it was when the backup was made
	Path    string // where it is now
}

// Restore fills a database, and a folder, from a backup. It checks all of the backup and the target before it writes.
func Restore(ctx context.Context, path string, o RestoreOptions) (r Restored, err error) {
	b, err := open(ctx, path, o.Progress)
	if err != nil {
		return r, err
	}
	defer b.Close()
	m, files, err := b.unsealFiles(o.Passphrase)
	if err != nil {
		return r, err
	}
	newest, err := store.NewestMigration()
	if err != nil {
		return r, err
	}
	if m.Migration > newest {
		return r, fmt.Errorf(
			"%w: the backup has the schema version %d, and this fleetd knows versions up to %d: restore with fleetd %s or a later one",
			store.ErrNewer, m.Migration, newest, m.Version)
	}
	sqlite, intoFile := strings.CutPrefix(o.Database, "sqlite:")
	if kind := map[bool]string{true: SQLite, false: Postgres}[intoFile]; kind != m.Database {
		return r, fmt.Errorf("the backup is of a %s database and cannot fill a %s one: name one of its kind with --into", m.Database, kind)
	}
	r.Manifest = m
	plan, err := o.planFiles(files, sqlite)
	if err != nil {
		return r, err
	}
	if intoFile {
		err = o.fillFile(ctx, b, m, sqlite, plan, &r)
	} else {
		err = o.fillPostgres(ctx, b, m, plan, &r)
	}
	return r, err
}

// plannedFile is a file to write.
type plannedFile struct {
	sealedFile
	to string
}

type filePlan struct {
	files  []plannedFile
	exists []string // files that are there with another content
	spool  plannedFile
	kept   string // a file with stops that stays
}

// planFiles says which file of a backup is written where.
func (o *RestoreOptions) planFiles(files []sealedFile, sqlite string) (p filePlan, err error) {
	spool := o.Spool
	switch {
	case spool != "":
	case sqlite != "":
		spool = sqlite + ".stops"
	case o.Files != "":
		spool = filepath.Join(o.Files, "fleetd.stops")
	}
	for _, f := range files {
		to := plannedFile{f, filepath.Join(o.Files, filepath.FromSlash(f.Name))}
		switch f.Name {
		case SealKeyFile:
			if spool == "" {
				continue
			}
			to.to = SealKeyOf(spool)
		case StopsFile:
			if to.to = spool; spool == "" || f.Bytes == 0 {
				continue
			}
			// Stops that were made since are in the file that is there.
			if info, err := os.Stat(spool); err == nil && info.Size() > 0 {
				p.kept = spool
				continue
			}
			p.spool = to
			continue
		}
		if o.Files == "" && f.Name != SealKeyFile {
			continue
		}
		body, err := os.ReadFile(to.to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return p, fmt.Errorf("look at the target: %w", err)
		case string(body) == string(f.body):
		default:
			p.exists = append(p.exists, to.to)
		}
		p.files = append(p.files, to)
	}
	return p, nil
}

// SealKeyOf is the file with the key that seals secrets in the database, of a fleetd with this spool.
func SealKeyOf(spool string) string { return strings.TrimSuffix(spool, ".stops") + ".seal-key" }

// refuseFull returns ErrNotEmpty if the target has what a restore without Replace must not touch.
func (o *RestoreOptions) refuseFull(database string, p filePlan) error {
	full := slices.Clone(p.exists)
	if database != "" {
		full = append([]string{database}, full...)
	}
	if o.Replace || len(full) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; nothing was changed. Name another target, or replace what is there with --replace", ErrNotEmpty,
		strings.Join(full, ", "))
}

// write writes the files.
func (p filePlan) write(r *Restored) error {
	files := p.files
	if p.spool.to != "" {
		files = append(slices.Clone(files), p.spool)
		r.Spool = p.spool.to
	}
	r.Kept = p.kept
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.to), 0o700); err != nil {
			return fmt.Errorf("write the files: %w", err)
		}
		if err := atomicfile.Write(f.to, f.body, fs.FileMode(f.Mode).Perm()); err != nil {
			return fmt.Errorf("write %s: %w", f.to, err)
		}
		one := RestoredFile{Setting: f.Setting, Was: f.From, Path: f.to}
		if folder, ok := strings.CutPrefix(f.Name, "ca/"); ok && f.Setting == "ca" { // the setting names the folder
			one.Was, one.Path = strings.TrimSuffix(f.From, string(filepath.Separator)+filepath.FromSlash(folder)),
				strings.TrimSuffix(f.to, string(filepath.Separator)+filepath.FromSlash(folder))
		}
		if !slices.Contains(r.Files, one) {
			r.Files = append(r.Files, one)
		}
	}
	return nil
}

// records are the rows that a restored database has of the backup, which was recorded after the copy, and of the restore.
func (o *RestoreOptions) record(ctx context.Context, tx *store.Tx, b *file, m Manifest) error {
	if err := record(ctx, tx, o.Now(), m, b.Name(), b.size); err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	return tx.AddBackup(ctx, o.Now(), store.Backup{
		ID: id.String(), Kind: store.BackupRestored, At: o.Now(), Bytes: b.size, File: b.Name(), By: o.By, Migration: m.Migration,
		Members: m.Keys(), Of: m.ID,
	}, audit.Note{
		Source: audit.Source{Via: audit.ViaCLI}, Who: o.By, What: audit.ActionRestoreBackup, Target: b.Name(),
		Detail: "the database is as it was at " + m.MadeAt.Format(time.RFC3339) + "; what was changed afterwards is lost",
	})
}

// rolloutsSince is the schema version that added rollouts.
const rolloutsSince = 30

// pauseRollouts pauses what was under way when the backup was made: it has gone on since, and must not begin again where it was.
func (o *RestoreOptions) pauseRollouts(ctx context.Context, tx *store.Tx, m Manifest) error {
	if m.Migration < rolloutsSince {
		return nil
	}
	open, err := tx.OpenRollouts(ctx)
	if err != nil {
		return err
	}
	ids := make([]string, len(open))
	for i, v := range open {
		ids[i] = v.ID
	}
	return tx.PauseRollouts(ctx, ids, audit.Attribution{Who: o.By, At: o.Now(),
		Why: "the database was restored as it was at " + m.MadeAt.Format(time.RFC3339) + ": look at what robots have before it goes on"})
}

// fillFile restores into an SQLite file.
func (o *RestoreOptions) fillFile(ctx context.Context, b *file, m Manifest, path string, plan filePlan, r *Restored) error {
	place, err := store.LockFile(path)
	if err != nil {
		return err
	}
	defer place.Close()
	empty, err := place.Empty()
	if err != nil {
		return err
	}
	held := ""
	if !empty {
		held = "there is a database at " + path
	}
	if err := o.refuseFull(held, plan); err != nil {
		return err
	}
	next, err := newPartial(path)
	if err != nil {
		return err
	}
	written := false
	defer func() {
		if !written {
			_ = errors.Join(next.remove(), store.RemoveBeside(next.Name()))
		}
	}()
	if err := store.RemoveBeside(next.Name()); err != nil { // of a restore that was killed
		return err
	}
	if err := b.copyDatabase(ctx, m, o.Passphrase, o.Progress, next); err != nil {
		return err
	}
	contents, err := store.CheckCopy(ctx, next.Name())
	if err != nil {
		return fmt.Errorf("the database of %s: %w", b.Name(), err)
	}
	if contents.FleetID != m.FleetID || contents.Migration != m.Migration {
		return fmt.Errorf("%s: %w: the database is not the one of the manifest", b.Name(), ErrDamaged)
	}
	if err := store.ChangeCopy(ctx, next.Name(), func(tx *store.Tx) error {
		if err := o.pauseRollouts(ctx, tx, m); err != nil {
			return fmt.Errorf("pause the rollouts of the backup: %w", err)
		}
		err := o.record(ctx, tx, b, m)
		if errors.Is(err, errNoTable) {
			r.Unrecorded, err = err, nil
		}
		return err
	}); err != nil {
		return fmt.Errorf("note the restore in the database; nothing was changed: %w", err)
	}
	if err := next.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := plan.write(r); err != nil {
		return err
	}
	if err := place.Fill(ctx, next.Name()); err != nil {
		return err
	}
	written, r.Place = true, path
	return next.Close()
}

// afterCommit bounds what a restore still does once PostgreSQL has the database, even if the person ends it meanwhile.
const afterCommit = time.Minute

// fillPostgres restores into a PostgreSQL database. psql commits the tables, so the rollouts in them are paused in a transaction of
// its own, the first one: only a fleetd that starts between the two sees them run.
func (o *RestoreOptions) fillPostgres(ctx context.Context, b *file, m Manifest, plan filePlan, r *Restored) error {
	db, err := store.OpenBeside(ctx, o.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	server, err := db.ServerVersion(ctx)
	if err != nil {
		return err
	}
	target, err := db.Target(ctx)
	if err != nil {
		return err
	}
	if want := cmp.Or(m.Schema, store.DefaultSchema); target.Schema != "" && target.Schema != want {
		return fmt.Errorf("the backup is one of the schema %s, and %s was named; nothing was changed. Name that schema in the address, "+
			"as in postgres://.../name?search_path=%[1]s", want, db.Place())
	}
	drop, err := o.refuseTarget(target, db.Place(), plan)
	if err != nil {
		return err
	}
	if err := b.copyDatabase(ctx, m, o.Passphrase, o.Progress, io.Discard); err != nil {
		return err
	}
	plain, err := unsealCompressed(b.section(databaseMember), o.Passphrase)
	if err != nil {
		return err
	}
	defer plain.Close()
	if err := fill(ctx, o.Database, server, drop, o.Progress.reader(ctx, "fill the database", plain, m.Members[0].Bytes)); err != nil {
		return err
	}
	r.Place = db.Place()
	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterCommit)
	defer cancel()
	if err := db.Tx(settle, func(tx *store.Tx) error { return o.pauseRollouts(settle, tx, m) }); err != nil {
		return fmt.Errorf("the database is restored, but its rollouts are not paused and its files not written: do not start fleetd, which "+
			"would go on with rollouts as they were at %s; restore again with --replace: %w", m.MadeAt.Format(time.RFC3339), err)
	}
	if err := plan.write(r); err != nil {
		return fmt.Errorf("the database is restored, and its files are not: %w", err)
	}
	r.Unrecorded = db.Tx(settle, func(tx *store.Tx) error { return o.record(settle, tx, b, m) })
	r.Unanalyzed = analyze(ctx, o.Database, server)
	return nil
}

// refuseTarget refuses a database that a restore must not touch, and returns the statements that remove the fleet in it.
func (o *RestoreOptions) refuseTarget(t store.Target, place string, plan filePlan) (drop string, err error) {
	newest, err := store.NewestMigration()
	if err != nil {
		return "", err
	}
	held := ""
	switch {
	case t.Schema == "":
		return "", fmt.Errorf("%s has no schema in which this user makes tables: make that of search_path with CREATE SCHEMA", place)
	case t.InUse > 0:
		return "", fmt.Errorf("%w: %d fleetd instances are connected to %s: end every fleetd first", store.ErrInUse, t.InUse, place)
	case !t.Fleet && len(t.Tables) > 0:
		return "", fmt.Errorf("%w: %s has tables of another program, such as %s; nothing was changed. Name a database of fleetd's own",
			ErrNotEmpty, place, t.Tables[0])
	case t.Migration > newest:
		return "", fmt.Errorf("%w: %s has the schema version %d, and this fleetd knows versions up to %d and could not remove its tables: name "+
			"an empty database, or restore with the fleetd that made it",
			store.ErrNewer, place, t.Migration, newest)
	case t.Fleet:
		held = "there is a fleet in the " + place
	}
	if err := o.refuseFull(held, plan); err != nil {
		return "", err
	}
	ours, err := store.Tables()
	if err != nil {
		return "", err
	}
	for _, table := range t.Tables {
		if slices.Contains(ours, table) { // of views that need it, too
			drop += fmt.Sprintf("DROP TABLE %s.%s CASCADE;\n", quoted(t.Schema), quoted(table))
		}
	}
	return drop, nil
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
