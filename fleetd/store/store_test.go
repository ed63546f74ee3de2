package store_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"troupe/fleetd/store/pgtest"
)

// A closed store leaves no goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOnSQLite(t *testing.T) {
	conform(t, func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "fleet.db") })
}

func TestOnPostgres(t *testing.T) {
	conform(t, func(t *testing.T) string { return pgtest.Start(t) })
}
