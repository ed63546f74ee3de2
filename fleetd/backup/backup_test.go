package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"troupe/fleetd/audit"
	"troupe/fleetd/backup"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/vault"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(killedDatabase); path != "" {
		beKilled(path)
	}
	goleak.VerifyTestMain(m)
}

const passphrase = "correct horse battery"

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

// onBoth runs a test on the address of a fleet's database and on that of an empty one.
func onBoth(t *testing.T, test func(t *testing.T, from, empty string)) {
	t.Run("sqlite", func(t *testing.T) {
		test(t, storetest.SQLite(t), "sqlite:"+filepath.Join(t.TempDir(), "restored.db"))
	})
	t.Run("postgres", func(t *testing.T) { test(t, storetest.Postgres(t), pgtest.Start(t)) })
}

func openStore(t *testing.T, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address, morning, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func options(address string) backup.Options {
	return backup.Options{Database: address, Passphrase: passphrase, Fleet: "museum", Version: "v0.3.0", By: "anna@server", Now: time.Now,
		WorkFactor: 1}
}

func restoreOptions(address string) backup.RestoreOptions {
	return backup.RestoreOptions{Database: address, Passphrase: passphrase, By: "anna@server", Now: time.Now}
}

// mustMake makes a backup in a folder of its own and returns its path.
func mustMake(t *testing.T, o backup.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "museum.backup")
	made, err := backup.Make(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	if made.Unrecorded != nil {
		t.Errorf("the backup is not recorded: %v", made.Unrecorded)
	}
	return path
}

// fill makes an SQLite database with a fleet and returns its address.
func filled(t *testing.T) string {
	t.Helper()
	address := storetest.SQLite(t)
	s := openStore(t, address)
	note(t, s, "first")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

func note(t *testing.T, s *store.Store, target string) {
	t.Helper()
	if err := s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.Note(t.Context(), morning, audit.Note{Who: "anna", What: audit.ActionLabel, Target: target})
	}); err != nil {
		t.Fatal(err)
	}
}

func TestBackupDuringWritesHasEveryWriteFromBeforeIt(t *testing.T) {
	onBoth(t, func(t *testing.T, from, empty string) {
		s := openStore(t, from)
		var acknowledged atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		many, ended := make(chan struct{}), make(chan error)
		go func() {
			for n := 1; ; n++ {
				err := s.Tx(ctx, func(tx *store.Tx) error {
					return tx.Note(ctx, morning, audit.Note{Who: "anna", What: audit.ActionLabel, Target: fmt.Sprint(n)})
				})
				if err != nil {
					ended <- err
					return
				}
				if acknowledged.Store(int64(n)); n == 20 {
					close(many)
				}
			}
		}()
		<-many
		before := acknowledged.Load()
		path := mustMake(t, options(from))
		after := acknowledged.Load()
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
		stop()
		<-ended // the last write is cancelled, at the latest while it commits
		got, err := backup.Restore(t.Context(), path, restoreOptions(empty))
		if err != nil {
			t.Fatal(err)
		}
		if got.Unrecorded != nil {
			t.Errorf("the restore is not recorded: %v", got.Unrecorded)
		}
		restored := openStore(t, empty)
		if restored.FleetID() != s.FleetID() {
			t.Errorf("the fleet is %s, not %s", restored.FleetID(), s.FleetID())
		}
		if v, err := restored.VerifyAudit(t.Context(), audit.Head{}); err != nil || !v.Holds {
			t.Errorf("the chain of the audit is %+v, %v", v, err)
		}
		// The last label of the copy is the number of labels, in the order of their transactions.
		labels, err := restored.Audit(t.Context(), store.AuditQuery{Filter: audit.Filter{What: "label"}, Limit: 1})
		if err != nil || len(labels) != 1 {
			t.Fatalf("%v, %v", labels, err)
		}
		var last int64
		if _, err := fmt.Sscan(labels[0].Target, &last); err != nil || last < before || last > after+1 {
			t.Errorf("the copy ends with label %d; %d were acknowledged before the backup and %d after it", last, before, after)
		}
		// Both databases know of the backup, the restored one of the restore, too.
		for _, db := range []*store.Store{s, restored} {
			if b, made, err := db.LastBackup(t.Context()); err != nil || !made || b.ID != got.ID || b.File != path || b.Bytes == 0 {
				t.Errorf("the newest backup is %+v, %v, %v", b, made, err)
			}
		}
		all, err := restored.Backups(t.Context(), 0)
		if err != nil || len(all) != 2 || all[0].Kind != store.BackupRestored || all[0].Of != got.ID {
			t.Errorf("the restored database has the backups %+v, %v", all, err)
		}
	})
}

func TestFilesAreRestoredAndReadableByTheirOwnerOnly(t *testing.T) {
	from := filled(t)
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("ca/root.pem", "root", 0o644)
	write("ca/issued/a1.pem", "issued", 0o644)
	o := options(from)
	o.Environ = []string{"TROUPE_FLEETD_BROKER_PASSWORD=a b$c", "TROUPE_FLEETD_CA=ca"}
	o.Sources = []backup.Source{
		{Setting: "ca", Path: filepath.Join(dir, "ca")}, {Setting: "sign-key", Path: write("keys/sign.key", "key", 0o600)},
		{Setting: "spool", Name: backup.StopsFile, Path: write("fleet.db.stops", "a stop\n", 0o600), Missing: true},
		{Name: backup.SealKeyFile, Path: write("fleet.db.seal-key", "seal", 0o600), Missing: true}, {Path: write("users", "op1", 0o640)},
	}
	path := mustMake(t, o)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has the mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"issued", "a b$c", "op1"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the backup shows %q", secret)
		}
	}
	target := t.TempDir()
	into := restoreOptions("sqlite:" + filepath.Join(target, "fleet.db"))
	into.Files = target
	if _, err := backup.Restore(t.Context(), path, into); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ca/root.pem": "root", "ca/issued/a1.pem": "issued", "sign-key/sign.key": "key", "fleet.db.stops": "a stop\n",
		"fleet.db.seal-key":                 "seal",
		filepath.Join("also", dir, "users"): "op1", "fleetd.env": "TROUPE_FLEETD_BROKER_PASSWORD=\"a b\\$c\"\nTROUPE_FLEETD_CA=ca\n",
	} {
		if got, err := os.ReadFile(filepath.Join(target, name)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]os.FileMode{"fleet.db": 0o600, "ca": 0o700, "ca/root.pem": 0o644, "sign-key/sign.key": 0o600,
		"fleetd.env": 0o600} {
		if info, err := os.Stat(filepath.Join(target, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestEverythingThatCannotBeReadIsNamedAndNothingIsWritten(t *testing.T) {
	o := options(filled(t))
	o.Sources = []backup.Source{{Setting: "ca", Path: "/nothing/ca"}, {Setting: "sign-key", Path: "/nothing/key"},
		{Setting: "spool", Path: "/nothing/stops", Missing: true}}
	path := filepath.Join(t.TempDir(), "museum.backup")
	_, err := backup.Make(t.Context(), path, o)
	if err == nil || !strings.Contains(err.Error(), "setting ca: ") || !strings.Contains(err.Error(), "setting sign-key: ") ||
		strings.Contains(err.Error(), "stops") {
		t.Errorf("the error is %v", err)
	}
	expectEmpty(t, filepath.Dir(path))
}

// The key of the root is for root alone, and the nightly backup runs as fleetd.
func TestRootKeyThatMayNotBeReadIsLeftOutAndNamed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{vault.RootKeyFile, vault.IntermediateKeyFile} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(name string, refusal error) func(string) ([]byte, error) {
		return func(path string) ([]byte, error) {
			if filepath.Base(path) == name {
				return nil, &fs.PathError{Op: "open", Path: path, Err: refusal}
			}
			return os.ReadFile(path)
		}
	}
	o := options(filled(t))
	o.Sources, o.ReadFile = []backup.Source{{Setting: "ca", Path: dir}}, refuse(vault.RootKeyFile, fs.ErrPermission)
	m, _, err := backup.VerifySealed(t.Context(), mustMake(t, o), passphrase, nil)
	if err != nil || len(m.Members) != 2 || !strings.Contains(m.NoRootKey, vault.RootKeyFile+": permission denied") {
		t.Errorf("%+v, %v", m, err)
	}
	for name, refusal := range map[string]error{vault.RootKeyFile: syscall.EIO, vault.IntermediateKeyFile: fs.ErrPermission} {
		o.ReadFile = refuse(name, refusal)
		if _, err := backup.Make(t.Context(), filepath.Join(t.TempDir(), "a.backup"), o); !errors.Is(err, refusal) {
			t.Errorf("%s with %v: %v", name, refusal, err)
		}
	}
}

// Settings may name a folder by a link, as /etc/troupe/ca -> /srv/ca.
func TestLinkToAFolderIsBackedUpOrNamed(t *testing.T) {
	dir := t.TempDir()
	real, link, empty := filepath.Join(dir, "real"), filepath.Join(dir, "ca"), filepath.Join(dir, "empty")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Mkdir(empty, 0o700), os.WriteFile(filepath.Join(real, "root.pem"), []byte("root"), 0o600),
		os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	o := options(filled(t))
	o.Sources = []backup.Source{{Setting: "ca", Path: link}}
	path := mustMake(t, o)
	into := restoreOptions("sqlite:" + filepath.Join(t.TempDir(), "fleet.db"))
	into.Files = t.TempDir()
	r, err := backup.Restore(t.Context(), path, into)
	if want := (backup.RestoredFile{Setting: "ca", Was: link, Path: filepath.Join(into.Files, "ca")}); err != nil || len(r.Files) != 1 ||
		r.Files[0] != want {
		t.Errorf("it restored %+v, %v", r.Files, err)
	}
	if err := os.Symlink(empty, filepath.Join(real, "issued")); err != nil {
		t.Fatal(err)
	}
	o.Sources = append(o.Sources, backup.Source{Setting: "sign-key", Path: empty})
	path = filepath.Join(t.TempDir(), "museum.backup")
	_, err = backup.Make(t.Context(), path, o)
	for _, says := range []string{"setting ca: " + filepath.Join(link, "issued"), "setting sign-key: " + empty} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it does not say %q: %v", says, err)
		}
	}
	expectEmpty(t, filepath.Dir(path))
}

func TestBackupReplacesOnlyABackup(t *testing.T) {
	address := filled(t)
	database := strings.TrimPrefix(address, "sqlite:")
	before, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Make(t.Context(), database, options(address)); err == nil || !strings.Contains(err.Error(), "is no backup") {
		t.Errorf("a backup onto the database: %v", err)
	}
	if after, err := os.ReadFile(database); err != nil || string(after) != string(before) {
		t.Error("the database was changed")
	}
	path := mustMake(t, options(address))
	if _, err := backup.Make(t.Context(), path, options(address)); err != nil {
		t.Errorf("a backup onto an earlier one: %v", err)
	}
}

func TestOldBackupsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	from := filled(t)
	for hour := range 4 {
		if _, err := backup.Make(t.Context(), filepath.Join(dir, backup.Name("museum", morning.Add(time.Duration(hour)*time.Hour))),
			options(from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []string{"museum-notes.backup", "theatre-20260101T000000Z.backup"} {
		if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := backup.RemoveOld(dir, "museum", 2)
	if err != nil || len(removed) != 2 {
		t.Fatalf("removed %v, %v", removed, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if want := []string{"museum-20260517T113000Z.backup", "museum-20260517T123000Z.backup", "museum-notes.backup",
		"theatre-20260101T000000Z.backup"}; err != nil ||
		len(left) != len(want) || filepath.Base(left[0]) != want[0] || filepath.Base(left[1]) != want[1] {
		t.Errorf("left are %v, %v", left, err)
	}
}

func expectEmpty(t *testing.T, dir string) {
	t.Helper()
	if held, err := os.ReadDir(dir); err != nil || len(held) > 0 {
		t.Errorf("%s has %v, %v", dir, held, err)
	}
}
