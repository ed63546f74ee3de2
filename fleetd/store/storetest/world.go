package storetest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/store"
	"troupe/schema/bubble"
)

// World is what a part of fleetd runs in: fake time, a database, and an instance that leads unless the test says
// otherwise. The test of a part embeds it beside what else the part asks for.
type World struct {
	*testing.T
	DB      *store.Store
	Leading bool // read and changed in Locked

	mu sync.Mutex
}

// InWorld runs a test with these robots.
func InWorld(t *testing.T, test func(w *World), robots ...string) {
	t.Helper()
	path := SQLite(t)
	bubble.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), path, time.Now(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, r := range robots {
			if _, err := db.AddRobot(t.Context(), r, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		test(&World{T: t, DB: db, Leading: true})
	})
}

// Locked runs do, which reads or changes what the part and the test share.
func (w *World) Locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// Leads reports whether the instance leads.
func (w *World) Leads() (is bool) {
	w.Locked(func() { is = w.Leading })
	return is
}

// Failed fails the test with an error of the part.
func (w *World) Failed(what string, err error) { w.Errorf("%s: %v", what, err) }

// Sleep lets time pass, and waits until nothing more happens without time.
func (w *World) Sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Tx changes the database.
func (w *World) Tx(do func(tx *store.Tx) error) {
	w.Helper()
	if err := w.DB.Tx(context.Background(), do); err != nil {
		w.Fatal(err)
	}
}

// PublishOutbox marks what is in the outbox as published.
func (w *World) PublishOutbox() {
	w.Helper()
	rows, err := w.DB.Unsent(context.Background(), 0, 1000)
	if err != nil {
		w.Error(err)
	}
	var seqs []int64
	for _, r := range rows {
		seqs = append(seqs, r.Seq)
	}
	if err := w.DB.MarkSent(context.Background(), seqs, time.Now()); err != nil {
		w.Error(err)
	}
}

// Start runs a part until end is called.
func (w *World) Start(run func(ctx context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { run(ctx); close(over) }()
	return func() { cancel(); <-over }
}
