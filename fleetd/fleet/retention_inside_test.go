package fleet

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/command"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema/bubble"
)

func TestOnlyTheLeaderPrunes(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	old := command.Command{
		ID: "c1", Batch: "b1", Robot: "r1", Verb: "mode/set", Payload: []byte("{}"),
		CreatedAt: storetest.Start, State: command.Succeeded, EndedAt: storetest.Start,
	}
	if _, err := db.AddRobot(t.Context(), "r1", storetest.Start); err != nil {
		t.Fatal(err)
	}
	if err := db.Tx(t.Context(), func(tx *store.Tx) error {
		batch := command.Batch{ID: "b1", Verb: "mode/set", Total: 1, CreatedAt: storetest.Start}
		if err := tx.AddBatch(t.Context(), batch, []command.Command{old}); err != nil {
			return err
		}
		if err := tx.Note(t.Context(), storetest.Start, library.Note{Who: "anna", What: "publish"}); err != nil {
			return err
		}
		return tx.Note(t.Context(), time.Now(), library.Note{Who: "ben", What: "publish"})
	}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	leads := false
	now := time.Now()
	p := &pruner{
		log: slog.New(slog.NewTextHandler(&log, nil)), keep: Retention{Audit: time.Hour, Commands: time.Hour, Events: time.Hour,
			Minutes: time.Hour, Measurements: time.Hour},
		leads: func() bool { return leads }, failed: func(what string, err error) { t.Error(what, err) },
	}
	p.prune(t.Context(), db, now)
	if notes, err := db.Audit(t.Context(), store.AuditQuery{}); err != nil || len(notes) != 4 { // the command left two
		t.Fatalf("an instance that follows pruned: %d notes are left, %v", len(notes), err)
	}
	if !p.last.IsZero() {
		t.Error("an instance that follows does not prune as soon as it leads")
	}

	leads = true
	p.prune(t.Context(), db, now)
	if notes, err := db.Audit(t.Context(), store.AuditQuery{}); err != nil || len(notes) != 2 || notes[0].What != audit.ActionPrune ||
		notes[1].Who != "ben" {
		t.Errorf("the leader is to prune the old note: %v are left, %v", notes, err)
	}
	if left, err := db.CommandsByID(t.Context(), []string{"c1"}); err != nil || len(left) > 0 {
		t.Errorf("the leader is to prune the old command: %v are left, %v", left, err)
	}
	if !strings.Contains(log.String(), "old history pruned") {
		t.Errorf("the log does not mention it: %s", log.String())
	}
}

func TestHistoryIsPrunedEveryHour(t *testing.T) {
	path := storetest.SQLite(t)
	bubble.Test(t, func(t *testing.T) {
		db := storetest.Open(t, path)
		p := &pruner{
			log: slog.New(slog.DiscardHandler), keep: Retention{Audit: 90 * time.Minute, Commands: -1, Events: -1, Minutes: -1, Measurements: -1},
			leads: func() bool { return true }, failed: func(what string, err error) { t.Error(what, err) },
		}
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { p.run(ctx, db); close(over) }()
		defer func() { cancel(); <-over }()
		for hour, want := range []int{1, 2, 3, 4, 4} { // a note is pruned at the first look after 90 minutes, and another one says so
			if err := db.Tx(t.Context(), func(tx *store.Tx) error {
				return tx.Note(t.Context(), time.Now(), library.Note{Who: "ben"})
			}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour - time.Second)
			synctest.Wait()
			if notes, err := db.Audit(t.Context(), store.AuditQuery{}); err != nil || len(notes) != want {
				t.Errorf("after hour %d there are %d notes, want %d; %v", hour, len(notes), want, err)
			}
			time.Sleep(time.Second)
		}
	})
}
