// Package storetest opens stores for tests.
package storetest

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/store"
)

// Start is when every test begins; times are microseconds, as they are stored.
var Start = time.Date(2026, 5, 17, 9, 30, 0, 123456000, time.UTC)

// Open opens a store for one test.
func Open(t testing.TB, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), address, Start, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// Opened is how components ask for an open database.
func Opened(db *store.Store) func() (*store.Store, error) {
	return func() (*store.Store, error) { return db, nil }
}

// Away is how components ask for a database that is not open.
func Away() (*store.Store, error) { return nil, errors.New("the database is away") }

// Note adds entries to the audit.
func Note(t testing.TB, db *store.Store, notes ...audit.Note) {
	t.Helper()
	if err := db.Tx(t.Context(), func(tx *store.Tx) error { return tx.Note(t.Context(), Start, notes...) }); err != nil {
		t.Fatal(err)
	}
}
