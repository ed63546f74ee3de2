package decommissioner_test

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/decommission"
	"troupe/fleetd/decommissioner"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/bubble"
)

// world is a decommissioner, with robots and an outbox.
type world struct {
	*testing.T
	*decommissioner.Decommissioner
	db *store.Store

	mu         sync.Mutex
	leads      bool
	connection decommission.Connection // of every robot
	confirms   bool                    // the broker confirms what the outbox publishes
	sent       []string                // topics of the messages to robots
	cut        error                   // what fails their publication
	refreshed  int
	log        strings.Builder
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
		w := &world{T: t, db: db, leads: true, connection: decommission.Connected, confirms: true}
		w.Decommissioner = decommissioner.New(decommissioner.Deps{
			Log: slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &w.log), nil)), Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now,
			Leads:      func() (is bool) { w.locked(func() { is = w.leads }); return is },
			Failed:     func(what string, err error) { t.Errorf("%s: %v", what, err) },
			Connection: func(string, time.Time) (c decommission.Connection) { w.locked(func() { c = w.connection }); return c },
			Publish: func(_ context.Context, m link.Message) (err error) {
				w.locked(func() {
					if err = w.cut; err == nil {
						w.sent = append(w.sent, m.Topic)
					}
				})
				return err
			},
			Wake:    w.flush,
			Refresh: func(context.Context) error { w.locked(func() { w.refreshed++ }); return nil },
		})
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		go func() { w.Decommissioner.Run(ctx, db); close(over) }()
		defer func() { cancel(); <-over }()
		test(w)
	})
}

// flush publishes the outbox, as far as the broker confirms it.
func (w *world) flush() {
	confirms := false
	if w.locked(func() { confirms = w.confirms }); !confirms {
		return
	}
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

// commands are the topics of those that were sent to robots.
func (w *world) commands() (all []string) {
	w.locked(func() { all = slices.Clone(w.sent) })
	return all
}

// refreshes is how often the robots were read again.
func (w *world) refreshes() (n int) {
	w.locked(func() { n = w.refreshed })
	return n
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

// leaves begins to decommission r9.
func (w *world) leaves() {
	w.Helper()
	w.tx(func(tx *store.Tx) error {
		return tx.BeginDecommission(context.Background(), "r9", "ann", "sold", time.Now())
	})
}

func (w *world) step(want decommission.Step) {
	w.Helper()
	if d, err := w.db.Decommission(context.Background(), "r9"); err != nil || d.Step != want {
		w.Errorf("the decommission is at %s (%v), want %s; it waits for %q", d.Step, err, want, w.Waiting("r9"))
	}
}

func TestDecommissionIsLedStepByStep(t *testing.T) {
	inWorld(t, func(w *world) {
		w.locked(func() { w.cut = link.ErrNotReady })
		w.leaves()
		w.sleep(5 * time.Second)
		w.step(decommission.Begun)
		if why := w.Waiting("r9"); !strings.Contains(why, "not confirmed the stop") || len(w.revoked().Names) > 0 {
			t.Errorf("it could not be stopped; it waits for %q", why)
		}
		w.locked(func() { w.cut = nil })
		w.sleep(time.Second)
		w.step(decommission.StopSent)
		w.sleep(2 * time.Second)
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
		w.locked(func() { w.connection, w.confirms = decommission.Disconnected, false })
		w.sleep(2 * time.Second)
		w.step(decommission.DeletingDesired)
		if why := w.Waiting("r9"); !strings.Contains(why, "not confirmed") {
			t.Errorf("it waits for %q", why)
		}
		w.locked(func() { w.confirms = true })
		w.flush()
		w.sleep(5 * time.Second)
		w.step(decommission.Archived)
		if w.refreshes() != 1 || w.Waiting("r9") != "" || len(w.commands()) != 1 {
			t.Errorf("robots were read %d times, it waits for %q, sent were %d", w.refreshes(), w.Waiting("r9"), len(w.commands()))
		}
	})
}

func TestLateDocumentsAreDeletedBeforeTheRobotIsArchived(t *testing.T) {
	inWorld(t, func(w *world) {
		w.locked(func() { w.connection, w.confirms = decommission.Disconnected, false })
		w.leaves()
		w.sleep(2 * time.Second)
		w.locked(func() { w.confirms = true })
		w.flush() // the desired documents are deleted
		w.locked(func() { w.confirms = false })
		w.sleep(2 * time.Second)
		w.step(decommission.DeletingDocuments)
		w.tx(func(tx *store.Tx) error { return tx.EnqueueDeletions(context.Background(), "r9", time.Now()) }) // documents that nobody waits for
		w.locked(func() { w.confirms = true })
		w.flush()
		w.sleep(5 * time.Second)
		w.step(decommission.Archived)
		if n := strings.Count(w.log.String(), "to=archived"); n != 1 || !strings.Contains(w.log.String(), "written meanwhile") {
			t.Errorf("logged %d times that the robot is archived", n)
		}
	})
}

func TestFollowerOnlySaysWhatADecommissionWaitsFor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.locked(func() { w.leads = false })
		w.leaves()
		w.sleep(time.Minute)
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
		w.locked(func() { w.connection = decommission.Disconnected })
		w.leaves()
		w.Wake()
		w.sleep(10 * time.Second)
		w.step(decommission.Archived)
		if len(w.commands()) != 0 {
			t.Errorf("sent was %+v", w.commands())
		}
	})
}

func TestEnrolmentEndsADecommission(t *testing.T) {
	inWorld(t, func(w *world) {
		w.leaves()
		w.sleep(4 * time.Second)
		w.step(decommission.Revoked)
		w.tx(func(tx *store.Tx) error {
			_, err := tx.RestoreName(context.Background(), "r9")
			return err
		})
		w.sleep(2 * time.Second)
		w.step(decommission.Cancelled)
	})
}
