package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
)

// createDatabase starts fleetd once, which creates its database.
func (w *world) createDatabase() {
	w.t.Helper()
	w.startFleetd()
	w.fleetd.terminate()
}

// sqlitePath returns the database file.
func (w *world) sqlitePath() string { return strings.TrimPrefix(w.store, "sqlite:") }

// startRefused starts fleetd, which has to refuse its database and end, and
// returns its log.
func (w *world) startRefused() string {
	w.t.Helper()
	p := launch(w.t, "fleetd", program(w.t, "fleetd"), []string{"serve", "--dev", "--http", "127.0.0.1:0", "--broker", w.fleetdProxy.url(),
		"--database", w.store, "--spool", filepath.Join(w.folder, "fleetd.stops")}, nil)
	p.ignoreExit = true
	if code := p.wait(); code == 0 {
		w.t.Errorf("fleetd accepted the database and ended with status 0")
	}
	return p.log.String()
}

// sql runs a statement on the database while fleetd is not running.
func (w *world) sql(statement string) {
	w.t.Helper()
	driver, source := "pgx", w.store
	if !w.variant.postgres {
		driver, source = "sqlite", w.sqlitePath()
	}
	db, err := sql.Open(driver, source)
	if err == nil {
		_, err = db.ExecContext(w.t.Context(), statement)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

func expectContains(t testing.TB, what, output string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(output, part) {
			t.Errorf("%s: the log does not contain %q:\n%s", what, part, output)
		}
	}
}

func TestFleetdRefusesANewerDatabase(t *testing.T) {
	runIn(t, []variant{ownBroker, postgres}, func(w *world) {
		w.createDatabase()
		w.sql(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (4711, TRUE)`)
		expectContains(w.t, "a newer database", w.startRefused(), "newer than this fleetd", "4711", "run the fleetd that made it",
			"restore the backup")
		w.sql(`DELETE FROM goose_db_version WHERE version_id = 4711`)
		w.startFleetd()
	})
}

func TestFleetdRefusesADamagedSQLiteFile(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		t := w.t
		w.createDatabase()
		whole, err := os.ReadFile(w.sqlitePath())
		if err != nil {
			t.Fatal(err)
		}
		page := bytes.Clone(whole)
		clear(page[len(page)/2 : len(page)/2+4096])
		for what, content := range map[string][]byte{"a file of 0 bytes": nil, "a page of zeros": page, "the first half": whole[:len(whole)/2]} {
			if err := os.WriteFile(w.sqlitePath(), content, 0o600); err != nil {
				t.Fatal(err)
			}
			expectContains(t, what, w.startRefused(), "the database is damaged", w.sqlitePath(), "restore the backup")
			if after, err := os.ReadFile(w.sqlitePath()); err != nil || !bytes.Equal(after, content) {
				t.Errorf("%s: the file was changed to %d bytes, %v", what, len(after), err)
			}
		}
		if err := os.WriteFile(w.sqlitePath(), whole, 0o600); err != nil { // the backup
			t.Fatal(err)
		}
		w.startFleetd()
	})
}

func TestFleetdFilesAreReadableByTheirOwnerOnly(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		checkModes := func(when string) {
			w.t.Helper()
			files, err := filepath.Glob(filepath.Join(w.folder, "fleet*"))
			if err != nil || len(files) < 6 { // fleet.db, -wal, -shm, .lock, and the spool with its lock
				w.t.Fatalf("%s: the files are %v, %v", when, files, err)
			}
			for _, name := range files {
				info, err := os.Stat(name)
				if err != nil {
					w.t.Fatal(err)
				}
				want, earlier := os.FileMode(0o600), os.FileMode(0o644)
				if info.IsDir() { // of the flight records
					want, earlier = 0o700, 0o755
				}
				if info.Mode().Perm() != want {
					w.t.Errorf("%s: %s has mode %v, want %v", when, filepath.Base(name), info.Mode().Perm(), want)
				}
				if err := os.Chmod(name, earlier); err != nil { // as an earlier version left it
					w.t.Fatal(err)
				}
			}
		}
		// With the most permissive umask.
		w.fleetd = launch(w.t, "fleetd", "/bin/sh", []string{"-c", `umask 0; exec "$0" "$@"`, program(w.t, "fleetd"), "serve", "--dev",
			"--http", "127.0.0.1:0", "--broker", w.fleetdProxy.url(), "--database", w.store, "--spool", filepath.Join(w.folder, "fleetd.stops")},
			nil)
		w.fleetd.ready()
		checkModes("new files")
		w.fleetd.kill()
		w.startFleetd()
		checkModes("files of an earlier start")
		if !w.fleetd.log.contains("its mode was changed") {
			w.t.Error("the log does not warn of the files' mode")
		}
	})
}

func TestFleetdPrunesItsHistory(t *testing.T) {
	runIn(t, []variant{ownBroker, postgres}, func(w *world) {
		w.createDatabase()
		s, err := store.Open(w.t.Context(), w.store, time.Now(), slog.New(slog.DiscardHandler))
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := s.AddRobot(w.t.Context(), "r1", time.Now()); err != nil {
			w.t.Fatal(err)
		}
		if err := s.Tx(w.t.Context(), func(tx *store.Tx) error {
			// Oldest first, as entries of an audit come: they are deleted from the front of their chain.
			for _, past := range []struct {
				days int
				name string
			}{{400, "a-year"}, {30, "a-month"}, {1, "a-day"}} {
				at, name := time.Now().Add(-time.Duration(past.days)*24*time.Hour), past.name
				if err := tx.Note(w.t.Context(), at, library.Note{Who: "anna", What: "publish", Target: name}); err != nil {
					return err
				}
				for _, state := range []command.State{command.Succeeded, command.Queued} {
					id := name + "-" + strings.ToLower(string(state))
					c := command.Command{ID: id + "-r1", Batch: id, Owner: "fleetd-of-old", Robot: "r1", Verb: "mode/set", Payload: []byte("{}"),
						CreatedAt: at, State: state, Because: "made"}
					if state == command.Succeeded {
						c.EndedAt = at
					}
					if err := tx.AddBatch(w.t.Context(), command.Batch{ID: id, Verb: "mode/set", Selector: "r1", Total: 1, CreatedAt: at, By: "anna"},
						[]command.Command{c}); err != nil {
						return err
					}
				}
			}
			return nil
		}); err != nil {
			w.t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			w.t.Fatal(err)
		}
		w.startFleetd("--audit-retention-days", "20")
		w.until("the old notes are gone", func() bool {
			audit := w.mustRunCLI("audit", "list")
			return strings.Contains(audit, "a-day") && !strings.Contains(audit, "a-month") && !strings.Contains(audit, "a-year")
		})
		gone := func(id string) bool { return w.runCLI("command", "get", id).code != 0 }
		w.until("the old batch is gone", func() bool { return gone("a-year-succeeded") })
		for _, id := range []string{"a-year-queued", "a-month-succeeded", "a-day-succeeded"} {
			if gone(id) {
				w.t.Errorf("batch %s is gone", id)
			}
		}
	})
}
