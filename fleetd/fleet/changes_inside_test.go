package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/decommissioner"
	"troupe/fleetd/publish"
	"troupe/fleetd/revocation"
	"troupe/fleetd/rolloutrunner"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
)

// A request costs what it changes: fleetd reads the robots that it touched, and no others.
func TestRequestReadsTheRobotsThatItTouched(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	f := &Fleet{
		log: slog.New(slog.DiscardHandler), health: health{log: slog.New(slog.DiscardHandler), db: db},
		view:      view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now}),
		publisher: publish.New(publish.Deps{}), revocations: revocation.New(revocation.Deps{}),
		decommissions: decommissioner.New(decommissioner.Deps{}), rollouts: rolloutrunner.New(rolloutrunner.Deps{}),
	}
	label := func(robot, hall string) error {
		return db.Tx(t.Context(), func(tx *store.Tx) error { return tx.SetLabels(t.Context(), robot, map[string]string{"hall": hall}) })
	}
	for _, robot := range []string{"r1", "r2"} {
		if _, err := db.AddRobot(t.Context(), robot, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.view.Reload(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := label("r2", "b"); err != nil { // in the database only
		t.Fatal(err)
	}
	left, leave := context.WithCancel(t.Context())
	labels := f.deps().Labels
	if err := labels.Set(left, auth.Principal{ID: "local"}, "r1", map[string]string{"hall": "a"}, audit.Attribution{Who: "anna"}); err != nil {
		t.Fatal(err)
	}
	if hall := f.view.Labels("r1")["hall"]; hall != "a" {
		t.Errorf("after its request r1 is in hall %q", hall)
	}
	if hall := f.view.Labels("r2")["hall"]; hall != "" {
		t.Errorf("after a request about r1 fleetd has read r2, which is in hall %q", hall)
	}
	leave() // the client is gone before the answer
	f.changed(left, []string{"r2"})
	if hall := f.view.Labels("r2")["hall"]; hall != "b" {
		t.Errorf("r2 is not read for a client that has left: it is in hall %q", hall)
	}
}

// countingRows counts the rows of robots that a view reads.
type countingRows struct {
	*store.Store
	rows int
}

func (c *countingRows) Robots(ctx context.Context, s selector.Selector) ([]store.Robot, error) {
	robots, err := c.Store.Robots(ctx, s)
	c.rows += len(robots)
	return robots, err
}

// Two instances share a database. What one writes about a robot makes the other read one row.
func TestChangeByAnotherInstanceCostsWhatItChanges(t *testing.T) {
	const n = 1000
	address := storetest.Postgres(t)
	writer, other := storetest.Open(t, address), &countingRows{Store: storetest.Open(t, address)}
	err := writer.Tx(t.Context(), func(tx *store.Tx) error {
		for i := range n {
			if _, err := tx.AddRobot(t.Context(), fmt.Sprintf("r%d", i), time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	v := view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd-b", Now: time.Now})
	var known store.PollResult
	follow := func() (rows int, took time.Duration) {
		began := time.Now()
		now, err := other.Poll(t.Context(), known)
		if err == nil {
			other.rows = 0
			err = readChanged(t.Context(), v, other, now)
		}
		if err != nil {
			t.Fatal(err)
		}
		known = now
		return other.rows, time.Since(began)
	}
	all, took := follow()
	t.Logf("at first: %d rows in %v", all, took)
	if all != n {
		t.Errorf("at first %d rows are read, want %d", all, n)
	}
	if err := writer.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.SetLabels(t.Context(), "r7", map[string]string{"hall": "a"})
	}); err != nil {
		t.Fatal(err)
	}
	rows, took := follow()
	t.Logf("after a label of one of %d robots: %d rows in %v", n, rows, took)
	if rows != 1 || v.Labels("r7")["hall"] != "a" {
		t.Errorf("after a label of one robot %d rows are read, and it has %v", rows, v.Labels("r7"))
	}
	if rows, _ := follow(); rows != 0 {
		t.Errorf("after no change %d rows are read", rows)
	}
}
