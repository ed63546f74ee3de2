package revocation_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/enrol"
	"troupe/fleetd/revocation"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// world is a revocation publisher, with a broker and an outbox.
type world struct {
	*storetest.World
	*revocation.Publisher
	repairs []string // each fleet/revoked that was published in repair
}

// inWorld runs a test with the robots r8 and r9.
func inWorld(t *testing.T, test func(w *world)) {
	storetest.InWorld(t, func(in *storetest.World) {
		w := &world{World: in}
		w.Publisher = revocation.New(revocation.Deps{
			Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Namespace: schema.DefaultNamespace, Now: time.Now,
			Leads:  w.Leads,
			Failed: w.Failed,
			Enqueue: func(m link.Message) {
				w.Locked(func() { w.repairs = append(w.repairs, string(m.Payload)) })
				w.Observe(m.Payload, time.Now())
			},
			Wake: w.flush,
		})
		defer w.Start(func(ctx context.Context) { w.Publisher.Run(ctx, w.DB) })()
		test(w)
	}, "r8", "r9")
}

// flush publishes the outbox.
func (w *world) flush() {
	w.PublishOutbox()
	if _, payload, err := w.DB.Revocation(context.Background()); err == nil && len(payload) > 0 {
		w.Observe(payload, time.Now())
	}
}

// published returns each fleet/revoked that was published in repair, and last the newest of them.
func (w *world) published() (all []string) {
	w.Locked(func() { all = slices.Clone(w.repairs) })
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
	w.Tx(func(tx *store.Tx) error {
		if err := tx.Revoke(context.Background(), enrol.Revoke(nil, robot, "ann", "stolen", time.Now())); err != nil {
			return err
		}
		return tx.EnqueueRevocation(context.Background(), w.DB.FleetID(), time.Now())
	})
}

// revoked is the fleet/revoked of the database.
func (w *world) revoked() schema.Revoked {
	w.Helper()
	_, payload, err := w.DB.Revocation(context.Background())
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
		w.Sleep(10 * time.Second)
		if len(w.published()) != 0 {
			t.Fatalf("an update of this fleet was repaired: %q", w.published())
		}
		w.Observe(revokedDocument("another", 1, ""), time.Now())
		w.Sleep(1500 * time.Millisecond)
		if len(w.published()) != 0 {
			t.Error("an update that may be under way was repaired")
		}
		w.Sleep(2 * time.Second)
		if len(w.published()) != 1 || !strings.Contains(w.published()[0], `"r9"`) {
			t.Fatalf("published again was %q", w.published())
		}
		// Another fleet on the same broker does the same.
		for range 60 {
			w.Observe(revokedDocument("another", 2, ""), time.Now())
			w.Sleep(3 * time.Second)
		}
		if n := len(w.published()); n < 3 || n > 5 {
			t.Errorf("in three minutes it was published %d times", n)
		}
		w.Observe(nil, time.Now()) // deleted
		w.Sleep(4 * time.Second)
		if last := w.last(); !strings.Contains(last, `"r9"`) || len(w.revoked().Names) != 1 {
			t.Errorf("after its deletion %q was published", last)
		}
	})
}

func TestOwnUpdateOnItsWayToTheBrokerIsNotRepaired(t *testing.T) {
	inWorld(t, func(w *world) {
		w.revokes("r9")
		w.Sleep(time.Hour)
		w.enqueues("r8")
		w.Wake()
		w.Sleep(1500 * time.Millisecond)
		if len(w.published()) != 0 {
			t.Errorf("an update that waits in the outbox was repaired: %q", w.published())
		}
		w.flush()
		w.Sleep(time.Minute)
		if len(w.published()) != 0 {
			t.Errorf("a published update was repaired: %q", w.published())
		}
	})
}

func TestNewerFleetRevokedOfTheBrokerIsTakenOver(t *testing.T) {
	inWorld(t, func(w *world) {
		w.revokes("r9")
		w.Observe(revokedDocument(w.DB.FleetID(), 40, `"r8"`), time.Now())
		w.Sleep(5 * time.Second)
		if l := w.revoked(); l.Rev <= 40 || !slices.Equal(l.Names, []string{"r8", "r9"}) {
			t.Errorf("the database has %+v", l)
		}
		if revoked, err := w.DB.IsNameRevoked(context.Background(), "r8"); !revoked {
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
		w.Locked(func() { w.Leading = false })
		w.Observe(revokedDocument("another", 1, ""), time.Now())
		w.Sleep(time.Minute)
		if len(w.published()) != 0 {
			t.Errorf("a follower published %q", w.published())
		}
		w.Locked(func() { w.Leading = true })
		w.Sleep(2 * time.Second)
		if len(w.published()) != 1 {
			t.Errorf("the new leader published %q", w.published())
		}
	})
}
