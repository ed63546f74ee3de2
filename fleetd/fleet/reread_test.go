package fleet_test

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"troupe/fleetd/auth"
	"troupe/fleetd/fleet"
)

// afterRelease runs do when a release is persisted, and the list not yet read again.
type afterRelease struct {
	slog.Handler
	do func()
}

func (h *afterRelease) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "stops released" {
		h.do()
	}
	return h.Handler.Handle(ctx, r)
}

// releasing runs a test with a latched stop on r1 and released while do runs.
func releasing(t *testing.T, do func(w *world, leave func()), test func(w *world)) {
	var after afterRelease
	inWorld(t, func(w *world) {
		w.robot("r1")
		id := w.stopped("r1").Latch
		w.persisted(id)
		ctx, leave := context.WithCancel(context.Background())
		defer leave()
		after.do = func() { do(w, leave) }
		if problems, err := w.Release(ctx, auth.Principal{ID: "local"}, []string{id}, "ben", "the stage is clear"); err != nil || len(problems) > 0 {
			w.Fatalf("release: %v, %v", problems, err)
		}
		w.until("r1 holds nothing", func() bool { return w.latched("r1") == "" })
		test(w)
	}, func(c *fleet.Config) {
		after.Handler = c.Logger.Handler()
		c.Logger = slog.New(&after)
	})
}

func TestReleaseIsListedAfterItsClientDisconnected(t *testing.T) {
	releasing(t, func(_ *world, leave func()) { leave() }, func(w *world) {
		if held := w.Latched(); len(held) > 0 {
			w.Errorf("after the release %+v is listed, complete: %v", held, w.LatchedComplete())
		}
	})
}

func TestStopListIsIncompleteAfterAFailedRead(t *testing.T) {
	rename := func(w *world, from, to string) {
		db, err := sql.Open("sqlite", strings.TrimPrefix(w.database, "sqlite:")+"?_pragma=busy_timeout(5000)")
		if err == nil {
			_, err = db.ExecContext(context.Background(), "ALTER TABLE "+from+" RENAME TO "+to)
			_ = db.Close()
		}
		if err != nil {
			w.Error(err)
		}
	}
	releasing(t, func(w *world, _ func()) { rename(w, "stops", "away") }, func(w *world) {
		if w.LatchedComplete() {
			w.Errorf("a list that could not be read again is called complete: %+v", w.Latched())
		}
		rename(w, "away", "stops")
		w.until("the list is read again", w.LatchedComplete)
		if held := w.Latched(); len(held) > 0 {
			w.Errorf("after the release %+v is listed", held)
		}
	})
}
