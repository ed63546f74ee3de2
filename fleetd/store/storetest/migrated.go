package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
)

// SQLite returns the address of an SQLite database that has every migration and no fleet, for
// one test. Migrations take most of the time in which a test opens a database of its own.
func SQLite(t testing.TB) string { return SQLiteAt(t, filepath.Join(t.TempDir(), "fleet.db")) }

// SQLiteAt is SQLite with a file whose folder exists.
func SQLiteAt(t testing.TB, path string) string {
	t.Helper()
	file, err := migratedFile()
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

// Postgres is SQLite with a PostgreSQL database.
func Postgres(t testing.TB) string {
	t.Helper()
	return migratedDatabase.Start(t)
}

var migratedFile = sync.OnceValues(func() (file []byte, err error) {
	folder, err := os.MkdirTemp("", "storetest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "fleet.db")
	if err := migrate("sqlite:"+path, "sqlite", "file:"+path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

var migratedDatabase = pgtest.Template{Name: "migrated", Fill: func(dsn string) error { return migrate(dsn, "pgx", dsn) }}

// migrate gives a database every migration. driver and source are its address for database/sql.
func migrate(address, driver, source string) error {
	s, err := store.Open(context.Background(), address, Start, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	_, err = db.Exec("DELETE FROM fleet")
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("remove the fleet from the migrated database: %w", err)
	}
	return nil
}
