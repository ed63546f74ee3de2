package trust

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

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

// RevocationPublisher sees to it that what was taken away stays away: it writes the list of
// the revoked for brokers that read it from a file, and leads robots out of the
// fleet, step by step as the database has them.
type RevocationPublisher struct {
	deps RevocationDeps
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

// RevocationDeps is what a RevocationPublisher needs.
type RevocationDeps struct {
	Log         *slog.Logger
	Namespace   schema.Namespace
	Now         func() time.Time
	Vault       *vault.Vault // nil without the fleet's keys
	Leads       func() bool
	Failed      func(what string, err error) // the database did not do what was asked of it
	Whereabouts func(robot string, now time.Time) decommission.Connection
	Send        func(ctx context.Context, c command.Command) // to a robot
	Say         func(m link.Message)                         // publishes a document once
	Wake        func()                                       // publishes what a transaction left to publish
	Refresh     func(ctx context.Context) error              // reads the robots again
}

// Store is where revocations and decommissions are.
type Store interface {
	FleetID() string
	Revocation(ctx context.Context) (rev int64, payload []byte, err error)
	Revoked(ctx context.Context, then time.Time) ([]enrol.Certificate, error)
	Decommissions(ctx context.Context, all bool) ([]decommission.Decommission, error)
	Told(ctx context.Context, robot string) (bool, error)
	IsBarred(ctx context.Context, robot string) (bool, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

func NewRevocationPublisher(d RevocationDeps) *RevocationPublisher {
	return &RevocationPublisher{deps: d, wake: make(chan struct{}, 1), waiting: map[string]string{}, listed: -1, noted: map[string]bool{}}
}

// Run does it all until ctx ends.
func (w *RevocationPublisher) Run(ctx context.Context, db Store) {
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
func (w *RevocationPublisher) list(ctx context.Context, db Store, now time.Time) {
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
	for _, c := range enrol.Unexpired(rows, now) {
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

// Wake has it look at once.
func (w *RevocationPublisher) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

const (
	// revokedSettles is how long a list that the broker keeps may be another one
	// than the database's: fleetd's own next word may be on its way.
	revokedSettles = 2 * time.Second
	// revokedAgain is how often a list of somebody else is overwritten. Two instances of fleetd of
	// two databases on one broker would do so for ever, and brokers of ours keep
	// both.
	revokedAgain = time.Minute
)

// Hear notes which list of the revoked the broker keeps. It waits for nothing.
func (w *RevocationPublisher) Hear(payload []byte, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard, w.heardAt = bytes.Clone(payload), now
	if w.heard == nil {
		w.heard = []byte{}
	}
}

// repair sees to it that the broker keeps the database's list of the revoked. A
// list of this fleet id that the database does not know, it has forgotten, as one
// that was put back from a copy has: it takes in whom that list names, since whoever
// was revoked stays so until a person says otherwise.
func (w *RevocationPublisher) repair(ctx context.Context, db Store, now time.Time) {
	w.mu.Lock()
	heard, at := w.heard, w.heardAt
	w.mu.Unlock()
	if heard == nil || now.Sub(at) < revokedSettles || now.Sub(w.repaired) < revokedSettles || !w.deps.Leads() {
		return
	}
	rev, payload, err := db.Revocation(ctx)
	if err != nil {
		w.deps.Failed("list of the revoked not read", err)
		return
	}
	list, problems := schema.Decode[schema.Revoked](heard)
	own := len(schema.Errors(problems)) == 0 && list.FleetID == db.FleetID()
	switch {
	case bytes.Equal(heard, payload) || rev == 0 && !own || !own && len(heard) > 0 && now.Sub(w.repaired) < revokedAgain:
		return
	case own && list.Rev >= rev:
		err := db.Tx(ctx, func(tx *store.Tx) error {
			if err := tx.TakeRevoked(ctx, list, now); err != nil {
				return err
			}
			return tx.TellRevoked(ctx, db.FleetID(), now)
		})
		if err != nil {
			w.deps.Failed("revoked robots not taken over from the broker", err)
			return
		}
		w.deps.Log.Error("the broker knows a newer list of the revoked than the database, which may come from a copy: whom it names is revoked here too", "rev", list.Rev, "known", rev, "names", list.Names)
		w.deps.Wake()
	default:
		w.deps.Log.Warn("the list of the revoked was overwritten", "by", list.FleetID, "rev", list.Rev)
		w.deps.Say(link.Message{Topic: w.deps.Namespace.Topic(schema.TopicRevoked), Payload: payload, QoS: 1, Retain: true})
	}
	w.repaired = now
}

// persist takes the certificates of fleetd instances that lie in the folder of the keys into the
// database: whoever steals one is fleetd, until it is revoked.
func (w *RevocationPublisher) persist(ctx context.Context, db Store, now time.Time) {
	if w.deps.Vault == nil || !w.deps.Leads() {
		return
	}
	fresh, err := w.deps.Vault.Issued(w.noted, now)
	if text := errorText(err); text != w.unread {
		if w.unread = text; err != nil {
			w.deps.Log.Error("certificates of fleetd instances not read", "error", err)
		}
	}
	for _, c := range fresh {
		row := enrol.Certificate{
			Serial: ca.Serial(c), How: enrol.ByService, IssuedAt: now, NotBefore: c.NotBefore, NotAfter: c.NotAfter, PEM: string(ca.EncodeCertificates(c)),
		}
		err := db.Tx(ctx, func(tx *store.Tx) error {
			if _, err := tx.Certificate(ctx, row.Serial); !errors.Is(err, store.ErrNotFound) {
				return err // it is there
			}
			return tx.AddCertificate(ctx, row)
		})
		if err != nil {
			w.deps.Failed("certificate of a fleetd instance not recorded", err)
			return
		}
		w.noted[row.Serial] = true
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
