// Package storetest opens stores for tests.
package storetest

import (
	"log/slog"
	"testing"
	"time"

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
