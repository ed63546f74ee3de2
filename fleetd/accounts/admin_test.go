package accounts

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/change"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
)

// Nobody would ever know the password of an administrator whose commit was not answered.
func TestPasswordOfAdminIsPrintedAfterAnUnknownCommit(t *testing.T) {
	cable := pgtest.NewCable()
	db, err := store.OpenOver(t.Context(), storetest.Postgres(t), time.Now(), slog.New(slog.DiscardHandler), cable.Dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var log strings.Builder
	var printed []string
	k := newKeeper("", &log)
	k.FirstAdmin = func(_, password string) { printed = append(printed, password) }
	k.Changes = &change.Accounts{Deps: change.Deps{Now: time.Now, Store: func() (*store.Store, error) { return db, nil }}}
	cable.HoldCommit("a password was printed at the start of fleetd")
	if err := k.Begin(change.WithQueryTimeout(t.Context(), time.Second)); !errors.Is(err, change.ErrOutcomeUnknown) || len(printed) > 0 {
		t.Fatalf("while the commit is not answered: %v, printed %d passwords", err, len(printed))
	}
	cable.Release()
	if err := k.Begin(t.Context()); err != nil || len(printed) != 1 {
		t.Fatalf("after the database answers: %v, printed %d passwords", err, len(printed))
	}
	if err := k.CheckPassword(t.Context(), "admin", printed[0]); err != nil {
		t.Errorf("the password that was printed: %v", err)
	}
}

// Nobody could sign in with the first of two passwords that were printed.
func TestOnePasswordOfAdminIsPrintedIfTheAccountsAreNotReadAfterwards(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	var log strings.Builder
	var printed []string
	k := newKeeper("", &log)
	k.ResetAdmin, k.FirstAdmin = true, func(_, password string) { printed = append(printed, password) }
	asked := 0
	k.Changes = &change.Accounts{Deps: change.Deps{Now: time.Now, Store: func() (*store.Store, error) {
		if asked++; asked == 3 { // after the accounts were read and the password was saved
			return nil, errors.New("the database is away")
		}
		return db, nil
	}}}
	if err := k.Begin(t.Context()); err == nil || len(printed) != 1 {
		t.Fatalf("the accounts are not read: %v, printed %d passwords", err, len(printed))
	}
	if err := k.Begin(t.Context()); err != nil || len(printed) != 1 {
		t.Fatalf("the accounts are read: %v, printed %d passwords", err, len(printed))
	}
	if err := k.CheckPassword(t.Context(), "admin", printed[0]); err != nil {
		t.Errorf("the password that was printed: %v", err)
	}
}
