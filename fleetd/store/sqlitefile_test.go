//go:build unix

package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

// modes returns the permissions of the files in a folder.
func modes(t *testing.T, folder string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = info.Mode().Perm()
	}
	return all
}

func TestSQLiteFilesAreReadableByTheirOwnerOnly(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // the most permissive one
	folder := t.TempDir()
	storetest.Open(t, "sqlite:"+filepath.Join(folder, "fleet.db"))
	got := modes(t, folder)
	for _, name := range []string{"fleet.db", "fleet.db-wal", "fleet.db-shm", "fleet.db.lock"} {
		if mode, ok := got[name]; !ok || mode != 0o600 {
			t.Errorf("%s: mode %v, want 0600", name, mode)
		}
	}
}

// Files of an earlier version have the permissions of the umask.
func TestModesOfExistingSQLiteFilesAreRestricted(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "fleet.db")
	if err := storetest.Open(t, "sqlite:"+path).Close(); err != nil {
		t.Fatal(err)
	}
	// What a killed fleetd leaves behind.
	for _, name := range []string{path, path + "-wal", path + "-shm", path + ".lock"} {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			err = errors.Join(f.Chmod(0o644), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	s, err := store.Open(t.Context(), "sqlite:"+path, storetest.Start, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, mode := range modes(t, folder) {
		if mode != 0o600 {
			t.Errorf("%s: mode %v, want 0600", name, mode)
		}
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), path) {
		t.Errorf("the log does not warn of it: %s", log.String())
	}
}

func TestEmptySQLiteFileOfAFleetIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	first := storetest.Open(t, "sqlite:"+path)
	fleetID := first.FleetID()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err == nil {
		err = os.Truncate(path, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a refusal changes nothing, so the next start is refused as well
		_, err = open(t, "sqlite:"+path)
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore the backup") {
			t.Fatalf("an empty file: %v", err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the empty file was written to: %v, %v", info, err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := storetest.Open(t, "sqlite:"+path); again.FleetID() != fleetID {
		t.Errorf("the restored fleet is %s, was %s", again.FleetID(), fleetID)
	}
}

// SQLite deletes the log of a database that it finds empty or missing.
func TestWALWithoutItsSQLiteFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	if err := os.WriteFile(path+"-wal", []byte("the newest commits"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, "sqlite:"+path); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("got %v, want %v", err, store.ErrDamaged)
	}
	if text, err := os.ReadFile(path + "-wal"); err != nil || len(text) == 0 {
		t.Errorf("the log is gone: %q, %v", text, err)
	}
}

// An empty file that a person created, or that a start left before its first write, begins a
// fleet.
func TestEmptySQLiteFileBeginsAFleet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	storetest.Open(t, "sqlite:"+path)
}

// filledFile creates a database of many pages and returns its bytes.
func filledFile(t *testing.T, path string) []byte {
	t.Helper()
	s := storetest.Open(t, "sqlite:"+path)
	if err := s.Tx(t.Context(), func(tx *store.Tx) error {
		for n := range 600 {
			if err := tx.Note(t.Context(), storetest.Start.Add(time.Duration(n)*time.Second),
				library.Note{Who: "anna", What: "publish", Target: fmt.Sprint(n), Detail: strings.Repeat("because ", 30)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func TestDamagedSQLiteFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.db")
	whole := filledFile(t, path)
	const page = 4096
	for what, damage := range map[string]func([]byte) []byte{
		"no header":             func(b []byte) []byte { clear(b[:100]); return b },
		"a page of zeros":       func(b []byte) []byte { clear(b[20*page : 21*page]); return b },
		"a page of noise":       func(b []byte) []byte { return noise(b, 20*page, 21*page) },
		"the second half gone":  func(b []byte) []byte { return b[:len(b)/2/page*page] },
		"half a page":           func(b []byte) []byte { return b[:len(b)-page/2] },
		"some other file":       func([]byte) []byte { return bytes.Repeat([]byte("not a database\n"), 1000) },
		"less than a header":    func(b []byte) []byte { return b[:50] },
		"noise behind a header": func(b []byte) []byte { return noise(b, 100, len(b)) },
	} {
		t.Run(what, func(t *testing.T) {
			damaged := damage(bytes.Clone(whole))
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := open(t, "sqlite:"+path)
			if !errors.Is(err, store.ErrDamaged) {
				t.Fatalf("got %v, want %v", err, store.ErrDamaged)
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "restore the backup") {
				t.Errorf("the refusal names no file or no remedy: %v", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, damaged) {
				t.Errorf("the damaged file was changed: %v", err)
			}
		})
	}
}

// A killed fleetd leaves its newest commits in the log. The log of a refused file is kept as
// well; SQLite would move it into the file and delete it.
func TestWALOfADamagedSQLiteFileIsKept(t *testing.T) {
	folder := t.TempDir()
	killed := filepath.Join(folder, "killed.db")
	filledFile(t, killed)
	s := storetest.Open(t, "sqlite:"+killed)
	if err := s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.Note(t.Context(), storetest.Start, library.Note{Who: "bob", What: "publish"})
	}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "fleet.db")
	before := map[string][]byte{}
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(killed + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix == "" {
			noise(b, 20*4096, 21*4096)
		}
		if err := os.WriteFile(path+suffix, b, 0o600); err != nil {
			t.Fatal(err)
		}
		before[suffix] = b
	}
	if _, err := open(t, "sqlite:"+path); !errors.Is(err, store.ErrDamaged) {
		t.Fatalf("got %v, want %v", err, store.ErrDamaged)
	}
	for suffix, b := range before {
		if after, err := os.ReadFile(path + suffix); err != nil || !bytes.Equal(after, b) {
			t.Errorf("fleet.db%s was changed: %d bytes, %d before, %v", suffix, len(after), len(b), err)
		}
	}
}

// The baseline is reading the file once.
func BenchmarkOpen100MB(b *testing.B) {
	path := filepath.Join(b.TempDir(), "fleet.db")
	if err := storetest.Open(b, "sqlite:"+path).Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.ExecContext(b.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
			INSERT INTO audit (id, at, who, what, target, detail) SELECT printf('%036d', i), i, 'anna', 'publish', 'story s1', printf('%0200d', i) FROM n`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			s, err := store.Open(b.Context(), "sqlite:"+path, storetest.Start, slog.New(slog.DiscardHandler))
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Whichever bits are flipped, the file is refused, or a query returns all rows or an error, or the audit says that entries are missing.
func TestFlippedBitsAreRefusedOrReported(t *testing.T) {
	folder := t.TempDir()
	whole := filledFile(t, filepath.Join(folder, "whole.db"))
	refused := 0
	const files = 60
	for seed := range uint64(files) {
		r, b := rand.New(rand.NewPCG(seed, 0)), bytes.Clone(whole)
		for range 64 {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.db", seed))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := open(t, "sqlite:"+path)
		switch {
		case errors.Is(err, store.ErrDamaged):
			refused++
		case err != nil:
			t.Errorf("seed %d: neither open nor refused as damaged: %v", seed, err)
		default:
			// A flipped bit in an index can hide rows from a query; then the chain of the audit does not hold.
			if all, err := s.Audit(t.Context(), store.AuditQuery{Limit: 1000}); err == nil && len(all) != 600 {
				if v, err := s.VerifyAudit(t.Context(), audit.Head{}); err == nil && v.Holds {
					t.Errorf("seed %d: %d of 600 audit entries, no error, and a chain that holds", seed, len(all))
				}
			}
			if err := s.Close(); err != nil {
				t.Errorf("seed %d: close: %v", seed, err)
			}
		}
	}
	t.Logf("%d of %d files were refused", refused, files)
	if refused == 0 {
		t.Error("no file was refused")
	}
}

func noise(b []byte, from, to int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	for i := from; i < to; i++ {
		b[i] = byte(r.Uint32())
	}
	return b
}

// If a page is damaged while fleetd runs, a query returns an error, never fewer rows.
func TestPageDamagedAtRunTimeFailsTheQuery(t *testing.T) {
	folder := t.TempDir()
	whole := filledFile(t, filepath.Join(folder, "whole.db"))
	const page = 4096
	failed := 0
	for at := page; at < len(whole); at += 5 * page {
		path := filepath.Join(folder, fmt.Sprintf("%d.db", at))
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		s := storetest.Open(t, "sqlite:"+path)
		if err := os.WriteFile(path, noise(bytes.Clone(whole), at, at+page), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := s.Audit(t.Context(), store.AuditQuery{Limit: 1000})
		switch {
		case err != nil:
			failed++
		case len(all) != 600:
			t.Errorf("page %d: %d of 600 audit entries and no error", at/page+1, len(all))
		}
		if len(all) > 0 && err != nil {
			t.Errorf("page %d: %d audit entries with the error %v", at/page+1, len(all), err)
		}
	}
	t.Logf("%d pages damaged a list", failed)
	if failed == 0 {
		t.Error("no page damaged a list")
	}
}
