package fleet

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/fleetd/ca"
	"troupe/fleetd/command"
	"troupe/fleetd/decommission"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
	"troupe/schema"
)

const (
	// revocationLook is how often it looks without being told: presence
	// changes, and another writer of the same database may have begun something.
	revocationLook = time.Second
	// listAge is how old the list of the revoked may become before it is signed
	// anew: a server that finds an ended one refuses everybody.
	listAge = 24 * time.Hour
)

// revocationPublisher sees to it that what was taken away stays away: it writes the list of
// the revoked for brokers that read it from a file, and leads robots out of the
// fleet, step by step as the database has them.
type revocationPublisher struct {
	deps revocationDeps
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

// revocationDeps is what a revocationPublisher needs.
type revocationDeps struct {
	Log         *slog.Logger
	Namespace   schema.Namespace
	Now         func() time.Time
	Vault       *vault.Vault // nil without the fleet's keys
	Leads       func() bool
	Failed      func(what string, err error) // the database did not do what was asked of it
	Whereabouts func(robot string, now time.Time) decommission.Whereabouts
	Send        func(ctx context.Context, c command.Command) // to a robot
	Say         func(m link.Message)                         // publishes a document once
	Wake        func()                                       // publishes what a transaction left to publish
	Refresh     func(ctx context.Context) error              // reads the robots again
}

// revocationStore is where revocations and decommissions are.
type revocationStore interface {
	FleetID() string
	Revocation(ctx context.Context) (rev int64, payload []byte, err error)
	Revoked(ctx context.Context, then time.Time) ([]enrol.Certificate, error)
	Decommissions(ctx context.Context, all bool) ([]decommission.Decommission, error)
	Told(ctx context.Context, robot string) (bool, error)
	IsBarred(ctx context.Context, robot string) (bool, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

func newRevocationPublisher(d revocationDeps) *revocationPublisher {
	return &revocationPublisher{deps: d, wake: make(chan struct{}, 1), waiting: map[string]string{}, listed: -1, noted: map[string]bool{}}
}

// Run does it all until ctx ends.
func (w *revocationPublisher) Run(ctx context.Context, db revocationStore) {
	look := time.NewTicker(revocationLook)
	defer look.Stop()
	for {
		w.list(ctx, db, w.deps.Now())
		w.repair(ctx, db, w.deps.Now())
		w.persist(ctx, db, w.deps.Now())
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
func (w *revocationPublisher) list(ctx context.Context, db revocationStore, now time.Time) {
	if w.deps.Vault == nil {
		return
	}
	rev, _, err := db.Revocation(ctx)
	if err != nil {
		w.deps.Failed("list of the revoked not read", err)
		return
	}
	if rev == w.listed && now.Sub(w.listedAt) < listAge {
		return
	}
	rows, err := db.Revoked(ctx, now)
	if err != nil {
		w.deps.Failed("revoked certificates not read", err)
		return
	}
	var revoked []ca.Revoked
	for _, c := range enrol.Standing(rows, now) {
		revoked = append(revoked, ca.Revoked{Serial: c.Serial, At: c.RevokedAt})
	}
	// The number must rise with every list, also with one that only is younger.
	text, err := w.deps.Vault.List(revoked, now.UnixMilli(), now)
	if err == nil {
		err = w.deps.Vault.SaveList(text)
	}
	if err != nil {
		w.deps.Log.Error("list of the revoked not written: brokers that read it from the file take who was revoked", "error", err)
		return
	}
	w.listed, w.listedAt = rev, now
	w.deps.Log.Info("list of the revoked written", "certificates", len(revoked), "revision", rev)
}

// lead takes every decommission as far as it goes now. A fleetd instance that follows only looks
// what each waits for: the other one must write what a step asks for.
func (w *revocationPublisher) lead(ctx context.Context, db revocationStore) {
	leads := w.deps.Leads()
	open, err := db.Decommissions(ctx, false)
	if err != nil {
		w.deps.Failed("decommissions not read", err)
		return
	}
	waiting := map[string]string{}
	for _, d := range open {
		for !d.Step.Over() {
			next, err := w.next(ctx, db, d, w.deps.Now())
			if err == nil && next.On != "" && leads {
				err = w.step(ctx, db, d, next, w.deps.Now())
			}
			if errors.Is(err, store.ErrConflict) {
				break // another instance leads it
			}
			if err != nil {
				w.deps.Failed("decommission of "+d.Robot+" not led on", err)
				break
			}
			if next.On == "" || !leads {
				waiting[d.Robot] = next.Why
				break
			}
			w.deps.Log.Info("decommission", "robot", d.Robot, "from", d.Step, "to", next.To, "why", next.Why)
			d.Step = next.To
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = maps.Clone(waiting)
}

// next is what is to be done about a decommission now.
func (w *revocationPublisher) next(ctx context.Context, db revocationStore, d decommission.Decommission, now time.Time) (next decommission.Decision, err error) {
	facts := decommission.Facts{Where: w.deps.Whereabouts(d.Robot, now)}
	if facts.Told, err = db.Told(ctx, d.Robot); err != nil {
		return next, err
	}
	if facts.Barred, err = db.IsBarred(ctx, d.Robot); err != nil {
		return next, err
	}
	return decommission.Next(d, facts), nil
}

func (w *revocationPublisher) step(ctx context.Context, db revocationStore, d decommission.Decommission, next decommission.Decision, now time.Time) error {
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
	w.deps.Wake()
	if next.To == decommission.Archived {
		return w.deps.Refresh(ctx)
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
		w.deps.Log.Error("stop not encoded", "error", err)
		return
	}
	w.deps.Send(ctx, command.Command{Robot: d.Robot, Verb: verb.ID(), Payload: payload})
}

// Wake has it look at once.
func (w *revocationPublisher) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Waiting says what the decommission of a robot waits for.
func (w *revocationPublisher) Waiting(robot string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting[robot]
}
