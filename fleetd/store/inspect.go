package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Inspection is what a database says of itself, without a fleetd that uses it.
type Inspection struct {
	Place   string // of the database, without the password
	Server  string // version of the server or of the library
	Version int64  // of the schema; 0 = no fleetd has used the database
	Newest  int64  // version of the schema that this fleetd makes
	Users   int    // accounts of people and programs
	// RobotChain is the newest certificate of a robot with its chain, in PEM; "" = no robot has enrolled.
	RobotChain string
	// Backup is when the newest backup was made; zero = none was, or the schema is from before backups were recorded.
	Backup time.Time
	// Now is the server's clock; zero with SQLite, which has none.
	Now time.Time
	// Denied says what this user may not do, in words; empty = everything that fleetd needs.
	Denied string
	// FileMode and File are of an SQLite file that exists.
	File     string
	FileMode fs.FileMode
}

// Inspect looks into the database at address, which a fleetd may be using, and changes nothing. Errors never contain the
// password of the address.
func Inspect(ctx context.Context, address string) (found Inspection, err error) {
	newest, err := newestMigration()
	if err != nil {
		return found, err
	}
	if path, is := strings.CutPrefix(address, "sqlite:"); is {
		found, err = inspectSQLite(ctx, path)
	} else {
		found, err = inspectPostgres(ctx, address)
	}
	found.Newest = newest
	return found, err
}

// newestMigration is the version of the schema that this fleetd makes: the newest migration is a file, not one in Go.
func newestMigration() (int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("read the migrations: %w", errors.Join(err, fs.ErrNotExist))
	}
	last, _, _ := strings.Cut(filepath.Base(slices.Max(files)), "_")
	version, err := strconv.ParseInt(last, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the migrations: %w", err)
	}
	return version, nil
}

func inspectPostgres(ctx context.Context, address string) (found Inspection, err error) {
	config, err := parsePostgres(address)
	if err != nil {
		return found, err
	}
	found.Place = fmt.Sprintf("database %s on %s", config.ConnConfig.Database, config.ConnConfig.Host)
	own := config.ConnConfig.Copy()
	own.RuntimeParams["application_name"] = "troupe-fleetd-doctor"
	if own.ConnectTimeout == 0 {
		own.ConnectTimeout = 5 * time.Second
	}
	conn, err := pgx.ConnectConfig(ctx, own)
	if err != nil {
		return found, fmt.Errorf("reach the %s: %w", found.Place, err)
	}
	if err := conn.Close(ctx); err != nil {
		return found, fmt.Errorf("reach the %s: %w", found.Place, err)
	}
	db := stdlib.OpenDB(*own)
	defer db.Close()
	var create, standby bool
	err = db.QueryRowContext(ctx, `SELECT clock_timestamp(), current_setting('server_version'), pg_is_in_recovery(),
		COALESCE(has_schema_privilege(current_schema(), 'CREATE'), has_database_privilege(current_database(), 'CREATE'))`).Scan(&found.Now, &found.Server, &standby, &create)
	if err != nil {
		return found, fmt.Errorf("ask the %s: %w", found.Place, err)
	}
	found.Server = "PostgreSQL " + found.Server
	switch {
	case standby:
		found.Denied = "the server is a standby, which takes no writes"
	case !create:
		found.Denied = "the user " + own.User + " may neither make tables in the schema nor make it"
	}
	has := func(table string) (there bool, err error) {
		err = db.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, table).Scan(&there)
		return there, err
	}
	if err := found.readTables(ctx, db, has); err != nil {
		return found, fmt.Errorf("read the %s: %w", found.Place, err)
	}
	var write bool
	if found.Denied == "" && found.Version > 0 {
		if err := db.QueryRowContext(ctx, `SELECT has_table_privilege('fleet', 'SELECT, INSERT, UPDATE, DELETE')`).Scan(&write); err != nil {
			return found, fmt.Errorf("ask the %s: %w", found.Place, err)
		}
		if !write {
			found.Denied = "the user " + own.User + " may not change the tables"
		}
	}
	return found, nil
}

func inspectSQLite(ctx context.Context, path string) (found Inspection, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return found, fmt.Errorf("resolve the path of the database: %w", err)
	}
	found.Place, found.File = path, path
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return found, nil
	}
	if err != nil {
		return found, fmt.Errorf("open the database: %w", err)
	}
	found.FileMode = info.Mode().Perm()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		found.Denied = err.Error()
	} else if err := f.Close(); err != nil {
		return found, fmt.Errorf("open the database: %w", err)
	}
	query := "mode=ro&_pragma=busy_timeout(5000)"
	if _, there, err := sizeOf(path + "-wal"); err == nil && !there {
		query += "&immutable=1" // nobody uses the file: without this SQLite would make its WAL
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query}).String())
	if err != nil {
		return found, fmt.Errorf("open %s: %w", path, err)
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, `SELECT 'SQLite ' || sqlite_version()`).Scan(&found.Server); err != nil {
		return found, fmt.Errorf("open %s: %w", path, err)
	}
	has := func(table string) (there bool, err error) {
		err = db.QueryRowContext(ctx, `SELECT count(*) > 0 FROM sqlite_master WHERE type = 'table' AND name = $1`, table).Scan(&there)
		return there, err
	}
	if err := found.readTables(ctx, db, has); err != nil {
		return found, fmt.Errorf("read %s: %w", path, err)
	}
	return found, nil
}

// readTables reads what the tables say, as far as there are any.
func (found *Inspection) readTables(ctx context.Context, db *sql.DB, has func(table string) (bool, error)) error {
	for _, one := range []struct {
		table, query string
		into         any
	}{
		{"goose_db_version", `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`, &found.Version},
		{"users", `SELECT count(*) FROM users`, &found.Users},
	} {
		there, err := has(one.table)
		if err == nil && there {
			err = db.QueryRowContext(ctx, one.query).Scan(one.into)
		}
		if err != nil {
			return err
		}
	}
	there, err := has("certificates")
	if err == nil && there {
		err = db.QueryRowContext(ctx, `SELECT pem FROM certificates ORDER BY issued_at DESC, serial LIMIT 1`).Scan(&found.RobotChain)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if there, err = has("backups"); err != nil || !there {
		return err
	}
	var at sql.NullInt64
	if err := db.QueryRowContext(ctx, `SELECT max(at) FROM backups WHERE kind = 'made'`).Scan(&at); err != nil {
		return err
	}
	if at.Valid {
		found.Backup = timeOf(at.Int64)
	}
	return nil
}
