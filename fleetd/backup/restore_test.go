package backup_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"troupe/fleetd/backup"
	"troupe/fleetd/content"
	"troupe/fleetd/rollout"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
)

func execute(t *testing.T, address, statement string) {
	t.Helper()
	driver, source := "pgx", address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, source = "sqlite", path
	}
	db, err := sql.Open(driver, source)
	if err == nil {
		_, err = db.ExecContext(t.Context(), statement)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// labels lists what the audit of a database says of labels.
func labels(t *testing.T, address string) string {
	t.Helper()
	s := openStore(t, address)
	defer s.Close()
	all, err := s.AuditChain(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		if e.What == "label" {
			out = append(out, e.Target)
		}
	}
	return strings.Join(out, " ")
}

func TestTargetWithAFleetIsReplacedOnlyOnRequest(t *testing.T) {
	onBoth(t, func(t *testing.T, from, empty string) {
		s := openStore(t, from)
		note(t, s, "first")
		path := mustMake(t, options(from))
		note(t, s, "second")
		if _, err := backup.Restore(t.Context(), path, restoreOptions(from)); strings.HasPrefix(from, "sqlite:") &&
			!errors.Is(err, store.ErrInUse) {
			t.Errorf("a target with a running fleetd: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Restore(t.Context(), path, restoreOptions(from)); !errors.Is(err, backup.ErrNotEmpty) ||
			!strings.Contains(err.Error(), "--replace") {
			t.Errorf("a target with a fleet: %v", err)
		}
		if got := labels(t, from); got != "first second" {
			t.Errorf("the refused target has %s", got)
		}
		o := restoreOptions(from)
		o.Replace = true
		if _, err := backup.Restore(t.Context(), path, o); err != nil {
			t.Fatal(err)
		}
		if got := labels(t, from); got != "first" {
			t.Errorf("the replaced target has %s", got)
		}
		if _, err := backup.Restore(t.Context(), path, restoreOptions(empty)); err != nil {
			t.Errorf("an empty target: %v", err)
		}
		if got := labels(t, empty); got != "first" {
			t.Errorf("the filled target has %s", got)
		}
	})
}

func TestRestoreRefusesBeforeItWrites(t *testing.T) {
	onBoth(t, func(t *testing.T, from, empty string) {
		note(t, openStore(t, from), "first")
		path := mustMake(t, options(from))
		execute(t, from, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (4711, TRUE)`)
		newer := mustMake(t, options(from))
		other := "postgres://nobody@127.0.0.1:1/nothing"
		if strings.HasPrefix(from, "postgres") {
			other = "sqlite:" + filepath.Join(t.TempDir(), "other.db")
		}
		for what, c := range map[string]struct {
			path   string
			change func(o *backup.RestoreOptions)
			is     error
			says   string
		}{
			"another passphrase": {path, func(o *backup.RestoreOptions) { o.Passphrase = "another passphrase" }, backup.ErrPassphrase, ""},
			"a later fleetd":     {newer, func(*backup.RestoreOptions) {}, store.ErrNewer, "4711"},
			"another database":   {path, func(o *backup.RestoreOptions) { o.Database = other }, nil, "cannot fill"},
			"no file":            {filepath.Join(t.TempDir(), "none"), func(*backup.RestoreOptions) {}, fs.ErrNotExist, ""},
			"a folder":           {t.TempDir(), func(*backup.RestoreOptions) {}, nil, "is not a file"},
		} {
			o := restoreOptions(empty)
			c.change(&o)
			if _, err := backup.Restore(t.Context(), c.path, o); err == nil || c.is != nil && !errors.Is(err, c.is) ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if dir, ok := strings.CutPrefix(empty, "sqlite:"); ok {
			expectEmpty(t, filepath.Dir(dir))
		}
		if _, err := backup.Restore(t.Context(), path, restoreOptions(empty)); err != nil { // it is still empty
			t.Error(err)
		}
	})
}

func TestForgedBackupsAreRefused(t *testing.T) {
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	a, b := read(mustMake(t, options(filled(t)))), read(mustMake(t, options(filled(t))))
	for what, forge := range map[string]func() []byte{
		"the files of another backup": func() []byte { return backup.Reassemble(t, a, b, nil) },
		"another manifest": func() []byte {
			return backup.Reassemble(t, a, a, func(m *backup.Manifest) { m.Fleet = "theatre" })
		},
	} {
		path := filepath.Join(t.TempDir(), "forged.backup")
		if err := os.WriteFile(path, forge(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := backup.Verify(t.Context(), path, nil); err != nil { // it is whole
			t.Errorf("%s: %v", what, err)
		}
		if _, _, err := backup.VerifySealed(t.Context(), path, passphrase, nil); !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%s, opened: %v", what, err)
		}
	}
}

// The programs of PostgreSQL are found in the PATH.
func TestPgDumpMustBeThereAndAsNewAsTheServer(t *testing.T) {
	from := storetest.Postgres(t)
	openStore(t, from)
	path := filepath.Join(t.TempDir(), "museum.backup")
	programs := t.TempDir()
	t.Setenv("PATH", programs)
	if _, err := backup.Make(t.Context(), path, options(from)); err == nil || !strings.Contains(err.Error(), "pg_dump is not there; install") {
		t.Errorf("without pg_dump: %v", err)
	}
	if err := os.WriteFile(filepath.Join(programs, "pg_dump"), []byte("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Make(t.Context(), path, options(from)); err == nil ||
		!strings.Contains(err.Error(), "pg_dump has version 9, and the server") {
		t.Errorf("with an old pg_dump: %v", err)
	}
	expectEmpty(t, filepath.Dir(path))
}

// addRollouts adds rollouts by their ids.
func addRollouts(t *testing.T, s *store.Store, rows map[string]rollout.Rollout) {
	t.Helper()
	story := content.Content{Story: &content.Story{ID: "museum", Rev: 1}}
	if err := s.Tx(t.Context(), func(tx *store.Tx) error {
		for id, o := range rows {
			o.ID, o.Content, o.CreatedAt, o.CreatedBy, o.Waves = id, story, morning, "anna",
				[]rollout.Wave{{Name: "all", State: rollout.WaveRunning}}
			if err := tx.AddRollouts(t.Context(), store.NewRollout{Rollout: o}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// What rolled out when the backup was made has gone on since: it does not begin again where it was.
func TestRestoredRolloutsArePaused(t *testing.T) {
	onBoth(t, func(t *testing.T, from, empty string) {
		addRollouts(t, openStore(t, from), map[string]rollout.Rollout{
			"running":   {State: rollout.Running, StartedAt: morning},
			"paused":    {State: rollout.Paused, StartedAt: morning},
			"begins":    {State: rollout.Scheduled, NotBefore: morning.Add(time.Hour)}, // which passed before the restore
			"later":     {State: rollout.Scheduled, NotBefore: time.Now().AddDate(1, 0, 0)},
			"at-once":   {State: rollout.Running, StartedAt: morning, Spec: rollout.Spec{AllAtOnce: true}},
			"succeeded": {State: rollout.Succeeded, StartedAt: morning, EndedAt: morning},
		})
		if r, err := backup.Restore(t.Context(), mustMake(t, options(from)), restoreOptions(empty)); err != nil || r.Unrecorded != nil {
			t.Fatal(err, r.Unrecorded)
		}
		restored := openStore(t, empty)
		for id, want := range map[string]rollout.State{
			"running": rollout.Paused, "paused": rollout.Paused, "begins": rollout.Aborted, "later": rollout.Scheduled,
			"at-once": rollout.Running, "succeeded": rollout.Succeeded,
		} {
			o, err := restored.Rollout(t.Context(), id)
			if err != nil || o.State != want || id == "running" && !strings.Contains(o.Why, "restored") {
				t.Errorf("rollout %s is %s (%s), want %s: %v", id, o.State, o.Why, want, err)
			}
		}
	})
}

// Databases had rollouts before they had a table of backups.
func TestRolloutsOfABackupThatCannotBeRecordedArePaused(t *testing.T) {
	onBoth(t, func(t *testing.T, from, empty string) {
		s := openStore(t, from)
		addRollouts(t, s, map[string]rollout.Rollout{"running": {State: rollout.Running, StartedAt: morning}})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		execute(t, from, `DELETE FROM goose_db_version WHERE version_id > 33`)
		for _, later := range []string{
			"backups", "receivers", "routes", "notifications", "fleet_alert_acks", "measurement_minutes", "measurement_hours", "measurement_days",
			"site_maps",
		} {
			execute(t, from, `DROP TABLE `+later)
		}
		path := filepath.Join(t.TempDir(), "museum.backup")
		if _, err := backup.Make(t.Context(), path, options(from)); err != nil {
			t.Fatal(err)
		}
		r, err := backup.Restore(t.Context(), path, restoreOptions(empty))
		if err != nil || r.Unrecorded == nil {
			t.Errorf("the restore of schema version 33: %v; it is recorded: %v", err, r.Unrecorded == nil)
		}
		if o, err := openStore(t, empty).Rollout(t.Context(), "running"); err != nil || o.State != rollout.Paused {
			t.Errorf("the rollout is %s, %v", o.State, err)
		}
	})
}

func TestRestoreFailsIfRolloutsCannotBePaused(t *testing.T) {
	onBoth(t, func(t *testing.T, from, empty string) {
		addRollouts(t, openStore(t, from), map[string]rollout.Rollout{"running": {State: rollout.Running, StartedAt: morning}})
		execute(t, from, `UPDATE rollouts SET spec = 'x'`)
		_, err := backup.Restore(t.Context(), mustMake(t, options(from)), restoreOptions(empty))
		wayOut := "do not start fleetd"
		if path, ok := strings.CutPrefix(empty, "sqlite:"); ok {
			wayOut = "pause the rollouts"
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a database: %v", err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), wayOut) {
			t.Errorf("it does not say %q: %v", wayOut, err)
		}
	})
}

// The tables stand before PostgreSQL makes its statistics of them.
func TestRestoreIsWholeWithoutStatistics(t *testing.T) {
	from, empty := storetest.Postgres(t), pgtest.Start(t)
	note(t, openStore(t, from), "first")
	execute(t, from, `CREATE FUNCTION unanalyzed(x TEXT) RETURNS TEXT IMMUTABLE LANGUAGE plpgsql AS $$
		BEGIN IF current_query() LIKE 'ANALYZE%' THEN RAISE EXCEPTION 'no statistics'; END IF; RETURN x; END $$`)
	execute(t, from, `CREATE INDEX unanalyzed ON fleet (unanalyzed(fleet_id))`)
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("op1"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, into := options(from), restoreOptions(empty)
	o.Sources, into.Files = []backup.Source{{Path: users}}, t.TempDir()
	r, err := backup.Restore(t.Context(), mustMake(t, o), into)
	if err != nil || r.Unanalyzed == nil || !strings.Contains(r.Unanalyzed.Error(), "no statistics") || len(r.Files) != 1 ||
		r.Unrecorded != nil {
		t.Errorf("%+v, %v", r, err)
	}
	if got := labels(t, empty); got != "first" {
		t.Errorf("the filled target has %s", got)
	}
}

// A backup has the fleet of one schema of a database, and a restore of it leaves those of others alone.
func TestBackupHasTheFleetOfOneSchema(t *testing.T) {
	from, empty := storetest.Postgres(t), pgtest.Start(t)
	museum := func(address string) string { return address + "&search_path=museum" }
	note(t, openStore(t, from), "of the first fleet")
	note(t, openStore(t, museum(from)), "of the museum")
	note(t, openStore(t, empty), "of another fleet") // which runs meanwhile
	path := mustMake(t, options(museum(from)))
	if _, err := backup.Restore(t.Context(), path, restoreOptions(empty)); err == nil ||
		!strings.Contains(err.Error(), "one of the schema museum") {
		t.Errorf("into another schema: %v", err)
	}
	execute(t, empty, `CREATE SCHEMA museum`)
	if _, err := backup.Restore(t.Context(), path, restoreOptions(museum(empty))); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{empty: "of another fleet", museum(empty): "of the museum"} {
		if got := labels(t, address); got != want {
			t.Errorf("%s has %s, want %s", address, got, want)
		}
	}
	again := mustMake(t, options(from))
	whole := pgtest.Start(t)
	if _, err := backup.Restore(t.Context(), again, restoreOptions(whole)); err != nil {
		t.Fatal(err)
	}
	if got := labels(t, whole); got != "of the first fleet" {
		t.Errorf("the fleet of the default schema is restored with %s", got)
	}
	if others, err := openStore(t, whole).OtherFleets(t.Context()); err != nil || len(others) > 0 {
		t.Errorf("a backup of the default schema also has %v, %v", others, err)
	}
}
