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

	"troupe/fleetd/store"
)

// SQLite returns the address of an SQLite database without a fleet, for one test. It is a
// copy of a file that was migrated once.
func SQLite(t testing.TB) string {
	t.Helper()
	file, err := migrated()
	path := filepath.Join(t.TempDir(), "fleet.db")
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

// migrated is the file of a database that has every migration, and no fleet.
var migrated = sync.OnceValues(func() (file []byte, err error) {
	folder, err := os.MkdirTemp("", "storetest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "fleet.db")
	s, err := store.Open(context.Background(), "sqlite:"+path, Start, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return nil, err
	}
	_, err = db.Exec("DELETE FROM fleet")
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, fmt.Errorf("remove the fleet from the migrated file: %w", err)
	}
	return os.ReadFile(path)
})
