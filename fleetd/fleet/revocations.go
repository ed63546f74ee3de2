package fleet

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/ca"
	"troupe/fleetd/command"
	"troupe/fleetd/decommission"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// wardenLook is how often the warden looks without being told: presence
	// changes, and another writer of the same database may have begun something.
	wardenLook = time.Second
	// listAge is how old the list of the revoked may become before it is signed
	// anew: a server that finds an ended one refuses everybody.
	listAge = 24 * time.Hour
)

// revocationPublisher sees to it that what was taken away stays away: it writes the list of
// the revoked for brokers that read it from a file, and leads robots out of the
// fleet, step by step as the database has them.
type revocationPublisher struct {
	f    *Fleet
	wake chan struct{}

	mu      sync.Mutex
	waiting map[string]string // why a decommission does not go on, by robot
	heard   []byte            // the list of the revoked that the broker keeps; nil = none was heard
	heardAt time.Time

	// Owned by run.
	listed   int64 // revision of the list in the file; -1 = none of ours yet
	listedAt time.Time
	repaired time.Time       // when the broker's list was last put right
	noted    map[string]bool // serial numbers of instances' certificates that the database has
	unread   string          // why some were not read
}

func newWarden(f *Fleet) *revocationPublisher {
	return &revocationPublisher{f: f, wake: make(chan struct{}, 1), waiting: map[string]string{}, listed: -1, noted: map[string]bool{}}
}

func (w *revocationPublisher) run(ctx context.Context, db *store.Store) {
	look := time.NewTicker(wardenLook)
	defer look.Stop()
	for {
		w.list(ctx, db, time.Now())
		w.repair(ctx, db, time.Now())
		w.persist(ctx, db, time.Now())
		w.lead(ctx, db)
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-look.C:
		}
	}
}

// list writes the list of the revoked if it changed, or is getting old.
func (w *revocationPublisher) list(ctx context.Context, db *store.Store, now time.Time) {
	if w.f.vault == nil {
		return
	}
	rev, _, err := db.Revocation(ctx)
	if err != nil {
		w.f.databaseFailed("list of the revoked not read", err)
		return
	}
	if rev == w.listed && now.Sub(w.listedAt) < listAge {
		return
	}
	rows, err := db.Revoked(ctx, now)
	if err != nil {
		w.f.databaseFailed("revoked certificates not read", err)
		return
	}
	var revoked []ca.Revoked
	for _, c := range enrol.Standing(rows, now) {
		revoked = append(revoked, ca.Revoked{Serial: c.Serial, At: c.RevokedAt})
	}
	// The number must rise with every list, also with one that only is younger.
	text, err := w.f.vault.List(revoked, now.UnixMilli(), now)
	if err == nil {
		err = w.f.vault.SaveList(text)
	}
	if err != nil {
		w.f.log.Error("list of the revoked not written: brokers that read it from the file take who was revoked", "error", err)
		return
	}
	w.listed, w.listedAt = rev, now
	w.f.log.Info("list of the revoked written", "certificates", len(revoked), "revision", rev)
}

// lead takes every decommission as far as it goes now. A fleetd instance that follows only looks
// what each waits for: the other one must write what a step asks for.
func (w *revocationPublisher) lead(ctx context.Context, db *store.Store) {
	leads := w.f.leadership.Leads()
	open, err := db.Decommissions(ctx, false)
	if err != nil {
		w.f.databaseFailed("decommissions not read", err)
		return
	}
	waiting := map[string]string{}
	for _, d := range open {
		for !d.Step.Over() {
			next, err := w.next(ctx, db, d, time.Now())
			if err == nil && next.On != "" && leads {
				err = w.step(ctx, db, d, next, time.Now())
			}
			if errors.Is(err, store.ErrConflict) {
				break // another instance leads it
			}
			if err != nil {
				w.f.databaseFailed("decommission of "+d.Robot+" not led on", err)
				break
			}
			if next.On == "" || !leads {
				waiting[d.Robot] = next.Why
				break
			}
			w.f.log.Info("decommission", "robot", d.Robot, "from", d.Step, "to", next.To, "why", next.Why)
			d.Step = next.To
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = maps.Clone(waiting)
}

// next is what is to be done about a decommission now.
func (w *revocationPublisher) next(ctx context.Context, db *store.Store, d decommission.Decommission, now time.Time) (next decommission.Decision, err error) {
	facts := decommission.Facts{Where: w.f.view.Whereabouts(d.Robot, now)}
	if facts.Told, err = db.Told(ctx, d.Robot); err != nil {
		return next, err
	}
	if facts.Barred, err = db.IsBarred(ctx, d.Robot); err != nil {
		return next, err
	}
	return decommission.Next(d, facts), nil
}

func (w *revocationPublisher) step(ctx context.Context, db *store.Store, d decommission.Decommission, next decommission.Decision, now time.Time) error {
	if next.Stop {
		w.stop(ctx, d, now)
	}
	err := db.Tx(ctx, func(tx *store.Tx) error {
		if next.To == decommission.Revoked {
			held, err := tx.Certificates(ctx, d.Robot)
			if err != nil {
				return err
			}
			if err := tx.Revoke(ctx, enrol.Revoke(held, d.Robot, d.By, "decommissioned: "+d.Why, now)); err != nil {
				return err
			}
			if err := tx.TellRevoked(ctx, db.FleetID(), now); err != nil {
				return err
			}
		}
		return tx.StepDecommission(ctx, d, next.To, now)
	})
	if err != nil {
		return err
	}
	signal(w.f.outbox.wake)
	if next.To == decommission.Archived {
		return w.f.refresh(ctx, db)
	}
	return nil
}

// stop lets a robot stand still before it is cut off. It is the robot's own
// affair what it does without a link; this makes it sure.
func (w *revocationPublisher) stop(ctx context.Context, d decommission.Decommission, now time.Time) {
	verb, _ := schema.VerbOf("safety", "stop")
	why := "this robot leaves the fleet"
	payload, err := schema.EncodeRequest(verb, schema.Request{ID: uuid.NewString(), TS: schema.TimeOf(now), By: d.By, Why: why, Args: schema.Args{Why: why}})
	if err != nil {
		w.f.log.Error("stop not encoded", "error", err)
		return
	}
	w.f.send(ctx, command.Command{Robot: d.Robot, Verb: verb.ID(), Payload: payload})
}

// Leaving says what the decommission of a robot waits for.
func (f *Fleet) Leaving(robot string) string {
	f.warden.mu.Lock()
	defer f.warden.mu.Unlock()
	return f.warden.waiting[robot]
}
