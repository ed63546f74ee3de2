package fleet

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/publish"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/trust"
	"troupe/fleetd/view"
	"troupe/schema"
)

// A request costs what it changes: fleetd reads the robots that it touched, and no others.
func TestRequestReadsTheRobotsThatItTouched(t *testing.T) {
	db := storetest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"))
	f := &Fleet{
		log: slog.New(slog.DiscardHandler), health: health{log: slog.New(slog.DiscardHandler), db: db},
		view:      view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now}),
		publisher: publish.New(publish.Deps{}), revocations: trust.NewRevocationPublisher(trust.RevocationDeps{}),
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
	if err := labels.Set(left, auth.Principal{ID: "local"}, "r1", map[string]string{"hall": "a"}, change.Person{Name: "anna"}); err != nil {
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
