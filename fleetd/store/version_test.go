package store_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
)

// raw opens a connection to a database past the store.
func raw(t *testing.T, address string) *sql.DB {
	t.Helper()
	driver, source := "pgx", address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, source = "sqlite", path
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// onBoth runs a test on an empty SQLite file and on an empty PostgreSQL database.
func onBoth(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, pgtest.Start(t)) })
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		if err := storetest.Open(t, address).Close(); err != nil {
			t.Fatal(err)
		}
		db := raw(t, address)
		execute(t, db, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (4711, $1)`, true)
		execute(t, db, `DELETE FROM fleet`) // a start that continued would write a new row
		_, err := open(t, address)
		if !errors.Is(err, store.ErrNewer) {
			t.Fatalf("a database of version 4711: got %v, want %v", err, store.ErrNewer)
		}
		for _, part := range []string{"4711", "fleet", "run the fleetd that made it", "restore the backup"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the refusal does not say %q: %v", part, err)
			}
		}
		var rows int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM fleet`).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("the refused database was written to: %d rows, %v", rows, err)
		}
		execute(t, db, `DELETE FROM goose_db_version WHERE version_id = 4711`) // as in a restored backup
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		storetest.Open(t, address)
	})
}

func TestDatabaseFromBeforeTheFirstReleaseIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		if err := storetest.Open(t, address).Close(); err != nil {
			t.Fatal(err)
		}
		db := raw(t, address)
		execute(t, db, `DELETE FROM goose_db_version WHERE version_id > 0`)
		execute(t, db, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9, $1)`, true)
		if _, err := open(t, address); !errors.Is(err, store.ErrOlder) || !strings.Contains(err.Error(), "empty database") {
			t.Errorf("a database of version 9: got %v, want %v", err, store.ErrOlder)
		}
		var version int
		if err := db.QueryRowContext(t.Context(), `SELECT max(version_id) FROM goose_db_version`).Scan(&version); err != nil || version != 9 {
			t.Errorf("the refused database has version %d: %v", version, err)
		}
	})
}

// The first instance is upgraded, and then another one of the previous version starts.
func TestOlderSecondInstanceIsRefused(t *testing.T) {
	address := pgtest.Start(t)
	upgraded := storetest.Open(t, address)
	execute(t, raw(t, address), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (4711, true)`)
	if _, err := open(t, address); !errors.Is(err, store.ErrNewer) {
		t.Errorf("the older instance: got %v, want %v", err, store.ErrNewer)
	}
	if err := upgraded.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
