package revocation_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/enrol"
	"troupe/fleetd/revocation"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/bubble"
)

// world is a revocation publisher, with a broker and an outbox.
type world struct {
	*testing.T
	*revocation.Publisher
	db *store.Store

	mu      sync.Mutex
	leads   bool
	repairs []string // each fleet/revoked that was published in repair
}

func (w *world) locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// inWorld runs a test with the robots r8 and r9.
func inWorld(t *testing.T, test func(w *world)) {
	path := storetest.SQLite(t)
	bubble.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), path, time.Now(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, r := range []string{"r8", "r9"} {
			if _, err := db.AddRobot(t.Context(), r, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		w := &world{T: t, db: db, leads: true}
		w.Publisher = revocation.New(revocation.Deps{
			Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Namespace: schema.DefaultNamespace, Now: time.Now,
			Leads:  func() (is bool) { w.locked(func() { is = w.leads }); return is },
			Failed: func(what string, err error) { t.Errorf("%s: %v", what, err) },
			Enqueue: func(m link.Message) {
				w.locked(func() { w.repairs = append(w.repairs, string(m.Payload)) })
				w.Observe(m.Payload, time.Now())
			},
			Wake: w.flush,
		})
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		go func() { w.Publisher.Run(ctx, db); close(over) }()
		defer func() { cancel(); <-over }()
		test(w)
	})
}

// flush publishes the outbox.
func (w *world) flush() {
	rows, err := w.db.Unsent(context.Background(), 0, 1000)
	if err != nil {
		w.Error(err)
	}
	var seqs []int64
	for _, r := range rows {
		seqs = append(seqs, r.Seq)
	}
	if err := w.db.MarkSent(context.Background(), seqs, time.Now()); err != nil {
		w.Error(err)
	}
	if _, payload, err := w.db.Revocation(context.Background()); err == nil && len(payload) > 0 {
		w.Observe(payload, time.Now())
	}
}

func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) tx(do func(tx *store.Tx) error) {
	w.Helper()
	if err := w.db.Tx(context.Background(), do); err != nil {
		w.Fatal(err)
	}
}

// published returns each fleet/revoked that was published in repair, and last the newest of them.
func (w *world) published() (all []string) {
	w.locked(func() { all = slices.Clone(w.repairs) })
	return all
}

func (w *world) last() string {
	w.Helper()
	all := w.published()
	if len(all) == 0 {
		w.Fatal("no fleet/revoked was published in repair")
	}
	return all[len(all)-1]
}

// revokes revokes the access of a robot, and publishes it.
func (w *world) revokes(robot string) {
	w.Helper()
	w.enqueues(robot)
	w.flush()
}

// enqueues revokes the access of a robot, as the API does.
func (w *world) enqueues(robot string) {
	w.Helper()
	w.tx(func(tx *store.Tx) error {
		if err := tx.Revoke(context.Background(), enrol.Revoke(nil, robot, "ann", "stolen", time.Now())); err != nil {
			return err
		}
		return tx.EnqueueRevocation(context.Background(), w.db.FleetID(), time.Now())
	})
}

// revoked is the fleet/revoked of the database.
func (w *world) revoked() schema.Revoked {
	w.Helper()
	_, payload, err := w.db.Revocation(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	l, _ := schema.Decode[schema.Revoked](payload)
	return l
}

func revokedDocument(fleet string, rev int64, names string) []byte {
	return fmt.Appendf(nil, `{"rev":%d,"fleet_id":%q,"names":[%s],"serials":[],"ts":"2030-01-01T00:00:00.000Z"}`, rev, fleet, names)
}

func TestOverwrittenFleetRevokedIsPublishedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.revokes("r9")
		w.sleep(10 * time.Second)
		if len(w.published()) != 0 {
			t.Fatalf("an update of this fleet was repaired: %q", w.published())
		}
		w.Observe(revokedDocument("another", 1, ""), time.Now())
		w.sleep(1500 * time.Millisecond)
		if len(w.published()) != 0 {
			t.Error("an update that may be under way was repaired")
		}
		w.sleep(2 * time.Second)
		if len(w.published()) != 1 || !strings.Contains(w.published()[0], `"r9"`) {
			t.Fatalf("published again was %q", w.published())
		}
		// Another fleet on the same broker does the same.
		for range 60 {
			w.Observe(revokedDocument("another", 2, ""), time.Now())
			w.sleep(3 * time.Second)
		}
		if n := len(w.published()); n < 3 || n > 5 {
			t.Errorf("in three minutes it was published %d times", n)
		}
		w.Observe(nil, time.Now()) // deleted
		w.sleep(4 * time.Second)
		if last := w.last(); !strings.Contains(last, `"r9"`) || len(w.revoked().Names) != 1 {
			t.Errorf("after its deletion %q was published", last)
		}
	})
}

func TestOwnUpdateOnItsWayToTheBrokerIsNotRepaired(t *testing.T) {
	inWorld(t, func(w *world) {
		w.revokes("r9")
		w.sleep(time.Hour)
		w.enqueues("r8")
		w.Wake()
		w.sleep(1500 * time.Millisecond)
		if len(w.published()) != 0 {
			t.Errorf("an update that waits in the outbox was repaired: %q", w.published())
		}
		w.flush()
		w.sleep(time.Minute)
		if len(w.published()) != 0 {
			t.Errorf("a published update was repaired: %q", w.published())
		}
	})
}

func TestNewerFleetRevokedOfTheBrokerIsTakenOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.revokes("r9")
		w.Observe(revokedDocument(w.db.FleetID(), 40, `"r8"`), time.Now())
		w.sleep(5 * time.Second)
		if l := w.revoked(); l.Rev <= 40 || !slices.Equal(l.Names, []string{"r8", "r9"}) {
			t.Errorf("the database has %+v", l)
		}
		if revoked, err := w.db.IsNameRevoked(context.Background(), "r8"); !revoked {
			t.Errorf("the name r8 is not revoked: %v", err)
		}
		if len(w.published()) != 0 {
			t.Errorf("published beside the outbox: %q", w.published())
		}
	})
}

func TestFollowerDoesNotRepairFleetRevoked(t *testing.T) {
	inWorld(t, func(w *world) {
		w.revokes("r9")
		w.locked(func() { w.leads = false })
		w.Observe(revokedDocument("another", 1, ""), time.Now())
		w.sleep(time.Minute)
		if len(w.published()) != 0 {
			t.Errorf("a follower published %q", w.published())
		}
		w.locked(func() { w.leads = true })
		w.sleep(2 * time.Second)
		if len(w.published()) != 1 {
			t.Errorf("the new leader published %q", w.published())
		}
	})
}
