package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"troupe/fleetd/audit"
	"troupe/fleetd/library"
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

// A database of the first release knows no references: the update finds them in its drafts
// and revisions.
func TestUpdateFindsTheReferencesOfTheLibrary(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		publish(t, s, library.KindAct, "a", "act: a\nactions: [{type: sound, start_ms: 0, timeout_ms: 900, sound: gong}]\n")
		act(t, s, "b")
		story(t, s, "x", "a", "b")
		story(t, s, "x", "b")
		apply(t, s, library.Changes{Entries: []library.Entry{{Kind: library.KindStory, ID: "y", Draft: []byte("story: y\nacts: [{act: a}]\n"),
			DraftRev: 1, ChangedAt: at(1)}}})
		robots(t, s, "r1")
		apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", 7, "x", 1)}})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		refs := func(db *sql.DB) (all []string) {
			rows, err := db.QueryContext(t.Context(),
				`SELECT kind || ' ' || id || ' ' || rev || ': ' || ref_kind || ' ' || ref_id FROM refs ORDER BY 1`)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
				var one string
				if err := rows.Scan(&one); err != nil {
					t.Fatal(err)
				}
				all = append(all, one)
			}
			return all
		}
		want := []string{
			"act a 0: asset gong", "act a 1: asset gong",
			"story x 0: act b", "story x 1: act a", "story x 1: act b", "story x 2: act b", "story y 0: act a",
		}
		db := raw(t, address)
		wantEqual(t, "references", refs(db), want)
		undoAudit(t, db)
		for _, undo := range []string{`DROP TABLE sessions`, `DROP TABLE access_tokens`, `DROP TABLE users`,
			`ALTER TABLE fleet DROP COLUMN accounts_rev`, `DROP TABLE assigned_activities`, `DROP TABLE refs`, `DROP INDEX events_by_level`,
			`DROP INDEX events_routine`, `ALTER TABLE events DROP COLUMN routine`, `ALTER TABLE events DROP COLUMN level`,
			`DROP TABLE robot_changes`, `ALTER TABLE fleet DROP COLUMN named_changes`} {
			execute(t, db, undo)
		}
		execute(t, db, `DELETE FROM goose_db_version WHERE version_id > 11`)
		s = storetest.Open(t, address)
		wantEqual(t, "default stories after the update", defaults(t, s), []library.Default{desiredStory("r1", 7, "x", 1)})
		wantEqual(t, "the newest revision after the update", must[library.Entry](t)(s.Entry(t.Context(), library.KindStory, "x")).Rev, int64(2))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "references after the update", refs(db), want)
	})
}

// undoAudit makes the audit as it was before it was a chain.
func undoAudit(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, undo := range []string{`DROP TABLE backups`, `DROP TABLE measurement_days`, `DROP TABLE measurement_hours`, `DROP TABLE measurement_minutes`,
		`DROP TABLE fleet_alert_acks`, `DROP TABLE notifications`, `DROP TABLE routes`, `DROP TABLE receivers`,
		`DROP TABLE folder_objects`, `DROP TABLE schedule_runs`, `DROP TABLE schedules`, `DROP TABLE site_maps`, `DROP TABLE sites`, `DROP TABLE policies`, `ALTER TABLE tokens DROP COLUMN labels`,
		`DROP TABLE pins`, `DROP TABLE rollout_robots`, `DROP TABLE rollout_waves`, `DROP TABLE rollouts`, `ALTER TABLE files DROP COLUMN details`, `ALTER TABLE desired DROP COLUMN replaced_at`,
		`DROP INDEX desired_by_assignment`, `ALTER TABLE desired DROP COLUMN assigned_at`, `ALTER TABLE desired DROP COLUMN assigned_by`,
		`ALTER TABLE desired DROP COLUMN previous`, `DROP TABLE login_codes`, `DROP TABLE alert_acks`, `DROP TABLE previous_stories`,
		`DROP INDEX audit_by_seq`, `DROP INDEX audit_unlinked`, `DROP INDEX commands_open_of_batch`,
		`ALTER TABLE batches DROP COLUMN outcome_at`} {
		execute(t, db, undo)
	}
	for _, column := range []string{"address", "via", "why", "changed_from", "changed_to", "outcome", "of_id", "seq", "prev", "hash"} {
		execute(t, db, `ALTER TABLE audit DROP COLUMN `+column)
	}
}

func TestUpdateLinksTheAuditIntoAChain(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		const entries = 2100 // more than are linked at once
		transact(t, s, func(tx *store.Tx) error {
			for i := range entries {
				if err := tx.Note(t.Context(), at(i), audit.Note{Who: "anna", What: "label", Target: fmt.Sprint(i)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		db := raw(t, address)
		undoAudit(t, db)
		execute(t, db, `DELETE FROM goose_db_version WHERE version_id > 18`)
		s = storetest.Open(t, address)
		if v := verdict(t, s); !v.Holds || v.Rows != entries {
			t.Errorf("after the update: %+v", v)
		}
		newest := must[[]audit.Entry](t)(s.Audit(t.Context(), store.AuditQuery{Limit: 1}))
		if newest[0].Target != fmt.Sprint(entries-1) || newest[0].Outcome != audit.Done {
			t.Errorf("the newest entry is %+v", newest[0])
		}
		// An older instance that still runs writes one, and the leader links it later.
		execute(t, db, `INSERT INTO audit (id, at, who, what, target, detail) VALUES ('stray', 1, 'ben', 'delete', 'story x', '')`)
		noted(t, s, 1, 1)
		if n := must[int](t)(s.LinkAudit(t.Context(), 10)); n != 1 {
			t.Errorf("%d entries were linked, want 1", n)
		}
		newest = must[[]audit.Entry](t)(s.Audit(t.Context(), store.AuditQuery{Limit: 1}))
		if v := verdict(t, s); !v.Holds || v.Rows != entries+2 || newest[0].ID != "stray" {
			t.Errorf("after an older instance wrote: %+v, the newest is %+v", v, newest[0])
		}
		// Whoever changes a row in the database is found.
		execute(t, db, `UPDATE audit SET who = 'nobody' WHERE seq = 1200`)
		if v := verdict(t, s); v.Holds || v.Broken.Seq != 1200 {
			t.Errorf("after a row was changed: %+v", v)
		}
	})
}

// The first instance is upgraded, and then another one of the previous version starts.
func TestOlderSecondInstanceOnPostgresIsRefused(t *testing.T) {
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
