package fleet

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

// The machine's clock is the only one that says how old history is.
func TestClockJumpAheadPrunesNothing(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	const day = 24 * time.Hour
	now := time.Now()
	if err := db.Tx(t.Context(), func(tx *store.Tx) error {
		for _, age := range []int{2, 1, 0} {
			if err := tx.Note(t.Context(), now.Add(-time.Duration(age)*300*day), library.Note{Who: "anna", What: "publish"}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p := &pruner{
		log: slog.New(slog.NewTextHandler(&log, nil)), keep: Retention{Audit: 365 * day, Commands: 90 * day, Events: 30 * day, Minutes: 7 * day,
			Measurements: 365 * day},
		leads: func() bool { return true }, failed: func(what string, err error) { t.Error(what, err) },
	}
	notes := func() int {
		all, err := db.Audit(t.Context(), store.AuditQuery{})
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	p.prune(t.Context(), db, now.Add(400*day))
	if n := notes(); n != 3 {
		t.Fatalf("with a clock 400 days ahead %d of 3 notes are left", n)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "old history not pruned") {
		t.Errorf("the log does not warn of it: %s", log.String())
	}
	p.prune(t.Context(), db, now)
	if n := notes(); n != 3 { // one of them says that one was pruned
		t.Errorf("with the right clock %d notes are left, want 3", n)
	}
}
