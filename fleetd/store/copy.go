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
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// OpenBeside opens a database that fleetd may be using, for a program that copies it or records that it did. It does
// not lock the file, check it or migrate it, and never creates one.
func OpenBeside(ctx context.Context, address string) (*Store, error) {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		if size, _, err := sizeOf(path); err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		} else if size == 0 {
			return nil, fmt.Errorf("open %s: %w: the file is missing or empty", path, ErrNotFound)
		}
		full, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("resolve the path of the database: %w", err)
		}
		p := pools{place: full}
		if err := p.connectSQLite(ctx, full, true, slog.New(slog.DiscardHandler)); err != nil {
			return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), p.closeSQLite())
		}
		p.close = p.closeSQLite
		return beside(sqlite3, p), nil
	}
	d, p, err := open(ctx, address, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return nil, err
	}
	return beside(d, p), nil
}

func beside(d dialect, p pools) *Store {
	p.close = sync.OnceValue(p.close)
	return &Store{reads: reads{p.read}, dialect: d, pools: p, chain: chain{turn: make(chan struct{}, 1), head: p.head}}
}

// Place names the database for people, without a password.
func (s *Store) Place() string { return s.pools.place }

// Contents is what a copy of the database is a copy of.
type Contents struct {
	FleetID   string
	Migration int64 // the database's schema version
	Robots    int64 // that belong to the fleet
	Users     int64
}

// usersSince is the schema version that added accounts.
const usersSince = 18

// Contents reads what the database has.
func (r reads) Contents(ctx context.Context) (c Contents, err error) {
	if err := r.queryRow(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version`).Scan(&c.Migration); err != nil {
		return c, fmt.Errorf("read the database's version: %w", err)
	}
	err = r.queryRow(ctx, `SELECT fleet_id, (SELECT COUNT(*) FROM robots WHERE archived_at = 0) FROM fleet WHERE only_row = 1`).Scan(&c.FleetID, &c.Robots)
	if err == nil && c.Migration >= usersSince {
		err = r.queryRow(ctx, `SELECT COUNT(*) FROM users`).Scan(&c.Users)
	}
	if err != nil {
		return c, fmt.Errorf("read what the database has: %w", mapNoRows(err))
	}
	return c, nil
}

// CopyFile writes the SQLite database, as it is at one moment, into an empty file. Others may write to the database meanwhile.
func (s *Store) CopyFile(ctx context.Context, path string) error {
	if _, err := s.pools.write.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil {
		return fmt.Errorf("copy %s: %w", s.pools.place, err)
	}
	return nil
}

// CheckCopy reads all of a file that CopyFile wrote, refuses a damaged one, and returns what it has.
func CheckCopy(ctx context.Context, path string) (c Contents, err error) {
	where := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&immutable=1"}
	db, err := sql.Open("sqlite", where.String())
	if err != nil {
		return c, err
	}
	defer db.Close()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return c, fmt.Errorf("check the copy: %w", err)
	} else if found != "ok" {
		return c, fmt.Errorf("%w: %s", ErrDamaged, strings.ReplaceAll(found, "\n", " "))
	}
	return reads{db}.Contents(ctx)
}

// Snapshot calls do with the id of a snapshot of the PostgreSQL database, which other connections to it can take on
// until do returns, and what it has.
func (s *Store) Snapshot(ctx context.Context, do func(id string, c Contents) error) error {
	tx, err := s.pools.read.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("begin a snapshot: %w", err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`); err != nil {
		return fmt.Errorf("begin a snapshot: %w", err)
	}
	var id string
	if err := tx.QueryRowContext(ctx, `SELECT pg_export_snapshot()`).Scan(&id); err != nil {
		return fmt.Errorf("begin a snapshot: %w", err)
	}
	c, err := reads{tx}.Contents(ctx)
	if err != nil {
		return err
	}
	return do(id, c)
}

// ServerVersion is the major version of the PostgreSQL server.
func (s *Store) ServerVersion(ctx context.Context) (major int, err error) {
	var number string
	if err := s.queryRow(ctx, `SHOW server_version_num`).Scan(&number); err != nil {
		return 0, fmt.Errorf("read the server's version: %w", err)
	}
	n, err := strconv.Atoi(number)
	return n / 10000, err
}

// Target is what a PostgreSQL database has that a restore is to fill.
type Target struct {
	Schema    string
	Tables    []string // of the schema
	Fleet     bool     // it is a fleet's database
	Migration int64    // of that fleet
	InUse     int64    // connections of running fleetds
}

// Target looks at a PostgreSQL database.
func (s *Store) Target(ctx context.Context) (t Target, err error) {
	if t.Tables, err = queryAll(ctx, s.reads, func(scan func(...any) error) (name string, err error) { return name, scan(&name) },
		`SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`); err != nil {
		return t, fmt.Errorf("list the tables of the target: %w", err)
	}
	if err := s.queryRow(ctx, `SELECT COALESCE(current_schema(), '')`).Scan(&t.Schema); err != nil {
		return t, fmt.Errorf("look at the target: %w", err)
	}
	// Each running fleetd keeps a connection for the lock of the leader.
	if err := s.queryRow(ctx, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%' || $1`,
		s.pools.schema.leadSuffix()).Scan(&t.InUse); err != nil {
		return t, fmt.Errorf("look for running fleetds: %w", err)
	}
	if t.Fleet = slices.Contains(t.Tables, "fleet") && slices.Contains(t.Tables, "goose_db_version"); t.Fleet {
		if err := s.queryRow(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version`).Scan(&t.Migration); err != nil {
			return t, fmt.Errorf("read the target's version: %w", err)
		}
	}
	return t, nil
}

var createTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

// Tables lists the tables that this fleetd and earlier ones make, sorted.
func Tables() ([]string, error) {
	tables := []string{"goose_db_version"}
	err := eachMigration(func(_ int64, text []byte) {
		for _, found := range createTable.FindAllSubmatch(text, -1) {
			tables = append(tables, string(found[1]))
		}
	})
	slices.Sort(tables)
	return slices.Compact(tables), err
}

// NewestMigration is the schema version to which this fleetd migrates a database.
func NewestMigration() (newest int64, err error) {
	err = eachMigration(func(version int64, _ []byte) { newest = max(newest, version) })
	return newest, err
}

func eachMigration(do func(version int64, text []byte)) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range files {
		number, _, _ := strings.Cut(filepath.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		do(version, text)
	}
	return nil
}

// A LockedFile is the place of an SQLite database, locked against fleetd.
type LockedFile struct {
	path string
	lock *fileLock
}

// LockFile locks the place of an SQLite database. The error is ErrInUse while fleetd runs on it.
func LockFile(path string) (*LockedFile, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return nil, fmt.Errorf("make the database's folder: %w", err)
	}
	lock, err := lockFile(full + ".lock")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &LockedFile{full, lock}, nil
}

// Close unlocks the place.
func (f *LockedFile) Close() error { return f.lock.Close() }

// Empty reports whether there is no database, and there was none.
func (f *LockedFile) Empty() (bool, error) {
	size, _, err := sizeOf(f.path)
	if err != nil {
		return false, err
	}
	wal, _, err := sizeOf(f.path + "-wal")
	return size == 0 && wal == 0 && f.lock.mark != markFleet, err
}

// Fill puts a copy, a file in the same folder, in the place of the database, if there is one. If the program ends at any
// moment, either database is there whole.
func (f *LockedFile) Fill(ctx context.Context, copied string) error {
	if err := f.settle(ctx); err != nil {
		return err
	}
	if err := RemoveBeside(f.path); err != nil {
		return err
	}
	if err := os.Rename(copied, f.path); err != nil {
		return fmt.Errorf("put the copy in the place of the database: %w", err)
	}
	folder, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("put the copy in the place of the database: %w", err)
	}
	return f.lock.write(markFleet)
}

// RemoveBeside removes the WAL and the journal of an SQLite file that is to be replaced: SQLite would apply them to the file
// that comes in its place, which would damage it.
func RemoveBeside(path string) error {
	for _, name := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(path + name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what belongs to the database before: %w", err)
		}
	}
	return nil
}

// settle moves what the WAL of the database before has into its file, or takes back what its journal has, so that both can
// be removed. It does not change the file otherwise. A damaged database cannot be settled, and need not be.
func (f *LockedFile) settle(ctx context.Context) error {
	if size, _, err := sizeOf(f.path); err != nil || size == 0 {
		return err
	}
	where := url.URL{Scheme: "file", Opaque: (&url.URL{Path: f.path}).EscapedPath(), RawQuery: "_pragma=busy_timeout(5000)"}
	db, err := sql.Open("sqlite", where.String())
	if err != nil {
		return err
	}
	var version, busy int
	_ = db.QueryRowContext(ctx, `PRAGMA schema_version`).Scan(&version) // reading takes back what a journal has
	_ = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, new(int), new(int))
	_ = db.Close()
	return nil
}

// ChangeCopy runs a transaction on a copy that is not in its place yet, and makes it use a WAL as fleetd's files do.
func ChangeCopy(ctx context.Context, path string, do func(tx *Tx) error) (err error) {
	db, err := sqliteDB(path, "_txlock=immediate", 1)
	if err != nil {
		return err
	}
	p := pools{read: db, write: db, place: path}
	p.close = db.Close
	s := beside(sqlite3, p)
	if err := s.Tx(ctx, do); err != nil {
		return errors.Join(err, s.Close())
	}
	_, err = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return errors.Join(err, s.Close())
}
