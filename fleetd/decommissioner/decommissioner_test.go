package decommissioner_test

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/decommission"
	"troupe/fleetd/decommissioner"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// world is a decommissioner, with robots and an outbox.
type world struct {
	*storetest.World
	*decommissioner.Decommissioner
	connection decommission.Connection // of every robot
	confirms   bool                    // the broker confirms what the outbox publishes
	sent       []string                // topics of the messages to robots
	cut        error                   // what fails their publication
	refreshed  int
	log        strings.Builder
}

// inWorld runs a test with the robots r8 and r9.
func inWorld(t *testing.T, test func(w *world)) {
	storetest.InWorld(t, func(in *storetest.World) {
		w := &world{World: in, connection: decommission.Connected, confirms: true}
		w.Decommissioner = decommissioner.New(decommissioner.Deps{
			Log: slog.New(slog.NewTextHandler(io.MultiWriter(w.Output(), &w.log), nil)), Namespace: schema.DefaultNamespace, Name: "fleetd",
			Now:        time.Now,
			Leads:      w.Leads,
			Failed:     w.Failed,
			Connection: func(string, time.Time) (c decommission.Connection) { w.Locked(func() { c = w.connection }); return c },
			Publish: func(_ context.Context, m link.Message) (err error) {
				w.Locked(func() {
					if err = w.cut; err == nil {
						w.sent = append(w.sent, m.Topic)
					}
				})
				return err
			},
			Wake:    w.flush,
			Refresh: func(context.Context) error { w.Locked(func() { w.refreshed++ }); return nil },
		})
		defer w.Start(func(ctx context.Context) { w.Decommissioner.Run(ctx, w.DB) })()
		test(w)
	}, "r8", "r9")
}

// flush publishes the outbox, as far as the broker confirms it.
func (w *world) flush() {
	confirms := false
	if w.Locked(func() { confirms = w.confirms }); !confirms {
		return
	}
	w.PublishOutbox()
}

// commands are the topics of those that were sent to robots.
func (w *world) commands() (all []string) {
	w.Locked(func() { all = slices.Clone(w.sent) })
	return all
}

// refreshes is how often the robots were read again.
func (w *world) refreshes() (n int) {
	w.Locked(func() { n = w.refreshed })
	return n
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

// leaves begins to decommission r9.
func (w *world) leaves() {
	w.Helper()
	w.Tx(func(tx *store.Tx) error {
		return tx.BeginDecommission(context.Background(), "r9", "ann", "sold", time.Now())
	})
}

func (w *world) step(want decommission.Step) {
	w.Helper()
	if d, err := w.DB.Decommission(context.Background(), "r9"); err != nil || d.Step != want {
		w.Errorf("the decommission is at %s (%v), want %s; it waits for %q", d.Step, err, want, w.Waiting("r9"))
	}
}

func TestDecommissionIsLedStepByStep(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Locked(func() { w.cut = link.ErrNotReady })
		w.leaves()
		w.Sleep(5 * time.Second)
		w.step(decommission.Begun)
		if why := w.Waiting("r9"); !strings.Contains(why, "not confirmed the stop") || len(w.revoked().Names) > 0 {
			t.Errorf("it could not be stopped; it waits for %q", why)
		}
		w.Locked(func() { w.cut = nil })
		w.Sleep(time.Second)
		w.step(decommission.StopSent)
		w.Sleep(2 * time.Second)
		w.step(decommission.Revoked)
		if !slices.Equal(w.commands(), []string{"troupe/v1/robots/r9/cmd/fleetd/safety/stop"}) {
			t.Errorf("sent to the robot was %+v", w.commands())
		}
		if l := w.revoked(); !slices.Equal(l.Names, []string{"r9"}) {
			t.Errorf("revoked are %+v", l)
		}
		if why := w.Waiting("r9"); !strings.Contains(why, "still connected") || w.Waiting("r8") != "" {
			t.Errorf("it waits for %q, r8 for %q", why, w.Waiting("r8"))
		}
		w.Locked(func() { w.connection, w.confirms = decommission.Disconnected, false })
		w.Sleep(2 * time.Second)
		w.step(decommission.DeletingDesired)
		if why := w.Waiting("r9"); !strings.Contains(why, "not confirmed") {
			t.Errorf("it waits for %q", why)
		}
		w.Locked(func() { w.confirms = true })
		w.flush()
		w.Sleep(5 * time.Second)
		w.step(decommission.Archived)
		if w.refreshes() != 1 || w.Waiting("r9") != "" || len(w.commands()) != 1 {
			t.Errorf("robots were read %d times, it waits for %q, sent were %d", w.refreshes(), w.Waiting("r9"), len(w.commands()))
		}
	})
}

func TestLateDocumentsAreDeletedBeforeTheRobotIsArchived(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Locked(func() { w.connection, w.confirms = decommission.Disconnected, false })
		w.leaves()
		w.Sleep(2 * time.Second)
		w.Locked(func() { w.confirms = true })
		w.flush() // the desired documents are deleted
		w.Locked(func() { w.confirms = false })
		w.Sleep(2 * time.Second)
		w.step(decommission.DeletingDocuments)
		w.Tx(func(tx *store.Tx) error { return tx.EnqueueDeletions(context.Background(), "r9", time.Now()) }) // documents that nobody waits for
		w.Locked(func() { w.confirms = true })
		w.flush()
		w.Sleep(5 * time.Second)
		w.step(decommission.Archived)
		if n := strings.Count(w.log.String(), "to=archived"); n != 1 || !strings.Contains(w.log.String(), "written meanwhile") {
			t.Errorf("logged %d times that the robot is archived", n)
		}
	})
}

func TestFollowerOnlySaysWhatADecommissionWaitsFor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Locked(func() { w.Leading = false })
		w.leaves()
		w.Sleep(time.Minute)
		w.step(decommission.Begun)
		if len(w.commands()) != 0 {
			t.Errorf("a follower sent %+v", w.commands())
		}
		if why := w.Waiting("r9"); why == "" {
			t.Error("it does not say what the decommission waits for")
		}
	})
}

func TestAbsentRobotIsDecommissionedWithoutAStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Locked(func() { w.connection = decommission.Disconnected })
		w.leaves()
		w.Wake()
		w.Sleep(10 * time.Second)
		w.step(decommission.Archived)
		if len(w.commands()) != 0 {
			t.Errorf("sent was %+v", w.commands())
		}
	})
}

func TestEnrolmentEndsADecommission(t *testing.T) {
	inWorld(t, func(w *world) {
		w.leaves()
		w.Sleep(4 * time.Second)
		w.step(decommission.Revoked)
		w.Tx(func(tx *store.Tx) error {
			_, err := tx.RestoreName(context.Background(), "r9")
			return err
		})
		w.Sleep(2 * time.Second)
		w.step(decommission.Cancelled)
	})
}
