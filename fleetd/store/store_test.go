package store_test

import (
	"testing"

	"go.uber.org/goleak"

	"troupe/fleetd/store/storetest"
)

// A closed store leaves no goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOnSQLite(t *testing.T) {
	conform(t, func(t *testing.T) string { return storetest.SQLite(t) })
}

func TestOnPostgres(t *testing.T) {
	conform(t, func(t *testing.T) string { return storetest.Postgres(t) })
}
