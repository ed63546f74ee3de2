package trust

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
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
	// revocationLook is how often the publisher looks without a wake-up: presence changes,
	// and another instance may have begun a decommission.
	revocationLook = time.Second
	// listAge is the age at which the revocation list is signed anew: a broker with an
	// expired list refuses every client.
	listAge = 24 * time.Hour
)

// RevocationPublisher keeps revocations effective: it writes the revocation list for brokers
// that read it from a file, repairs the list that the broker retains, and carries out the
// steps of decommissions.
type RevocationPublisher struct {
	deps RevocationDeps
	wake chan struct{}

	waiting  atomic.Pointer[map[string]string] // what a decommission waits for, by robot; replaced, never changed
	retained atomic.Pointer[heardList]         // the revocation list that the broker retains; nil = not received yet

	// Owned by Run.
	listed   int64 // revision of the list in the file; -1 = not written yet
	listedAt time.Time
	repaired time.Time       // when the broker's list was last repaired
	noted    map[string]bool // serial numbers of instances' certificates that the database has
	unread   string          // the last logged reason why some could not be read
}

// heardList is a revocation list that the broker retains.
type heardList struct {
	payload []byte // empty if there is none
	at      time.Time
}

// RevocationDeps is what a RevocationPublisher needs.
type RevocationDeps struct {
	Log        *slog.Logger
	Namespace  schema.Namespace
	Now        func() time.Time
	Vault      *vault.Vault // nil without the fleet's keys
	Leads      func() bool
	Failed     func(what string, err error) // records a failure of the database
	Connection func(robot string, now time.Time) decommission.Connection
	Send       func(ctx context.Context, c command.Command) // to a robot
	Enqueue    func(m link.Message)                         // queues a document for the broker
	Wake       func()                                       // has the outbox published
	Refresh    func(ctx context.Context) error              // reads the robots from the database again
}

// Store is the part of the database with revocations and decommissions.
type Store interface {
	FleetID() string
	Revocation(ctx context.Context) (rev int64, payload []byte, err error)
	Revoked(ctx context.Context, then time.Time) ([]enrol.Certificate, error)
	Decommissions(ctx context.Context, all bool) ([]decommission.Decommission, error)
	DecommissionPublished(ctx context.Context, robot string) (bool, error)
	IsBarred(ctx context.Context, robot string) (bool, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// NewRevocationPublisher makes a revocation publisher.
func NewRevocationPublisher(d RevocationDeps) *RevocationPublisher {
	return &RevocationPublisher{deps: d, wake: make(chan struct{}, 1), listed: -1, noted: map[string]bool{}}
}

// Run publishes and carries out steps until ctx ends.
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

// list writes the revocation list if it changed or reached listAge.
func (w *RevocationPublisher) list(ctx context.Context, db Store, now time.Time) {
	if w.deps.Vault == nil {
		return
	}
	rev, _, err := db.Revocation(ctx)
	if err != nil {
		w.deps.Failed("revocation list not read", err)
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
	// The number must rise with every list, even if only the dates differ.
	text, err := w.deps.Vault.List(revoked, now.UnixMilli(), now)
	if err == nil {
		err = w.deps.Vault.SaveList(text)
	}
	if err != nil {
		w.deps.Log.Error("revocation list not written: brokers that read it from the file accept revoked clients", "error", err)
		return
	}
	w.listed, w.listedAt = rev, now
	w.deps.Log.Info("revocation list written", "certificates", len(revoked), "revision", rev)
}

// Wake has Run look now.
func (w *RevocationPublisher) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

const (
	// revokedSettles is how long the broker's list may differ from the database's: fleetd's
	// own update may be under way.
	revokedSettles = 2 * time.Second
	// revokedAgain is how often a list of another fleet is overwritten. Instances of two
	// databases on one broker would do so for ever, and Troupe's broker obeys both lists.
	revokedAgain = time.Minute
)

// Observe records the revocation list that the broker retains; it does not block.
func (w *RevocationPublisher) Observe(payload []byte, now time.Time) {
	w.retained.Store(&heardList{bytes.Clone(payload), now})
}

// repair publishes the database's revocation list if the broker retains another one. If the
// broker's list is of this fleet and newer, the database was restored from an older copy:
// then the names in that list are revoked in the database too, since a revocation lasts until
// a person lifts it.
func (w *RevocationPublisher) repair(ctx context.Context, db Store, now time.Time) {
	last := w.retained.Load()
	if last == nil || now.Sub(last.at) < revokedSettles || now.Sub(w.repaired) < revokedSettles || !w.deps.Leads() {
		return
	}
	rev, payload, err := db.Revocation(ctx)
	if err != nil {
		w.deps.Failed("revocation list not read", err)
		return
	}
	retained := last.payload
	list, problems := schema.Decode[schema.Revoked](retained)
	own := len(schema.Errors(problems)) == 0 && list.FleetID == db.FleetID()
	switch {
	case bytes.Equal(retained, payload) || rev == 0 && !own || !own && len(retained) > 0 && now.Sub(w.repaired) < revokedAgain:
		return
	case own && list.Rev >= rev:
		err := db.Tx(ctx, func(tx *store.Tx) error {
			if err := tx.ImportRevocation(ctx, list, now); err != nil {
				return err
			}
			return tx.EnqueueRevocation(ctx, db.FleetID(), now)
		})
		if err != nil {
			w.deps.Failed("revoked robots not taken over from the broker", err)
			return
		}
		w.deps.Log.Error("the broker has a newer revocation list than the database, which may be an older copy: its names and certificates are revoked here too", "rev", list.Rev, "known", rev, "names", list.Names)
		w.deps.Wake()
	default:
		w.deps.Log.Warn("the revocation list was overwritten", "by", list.FleetID, "rev", list.Rev)
		w.deps.Enqueue(link.Message{Topic: w.deps.Namespace.Topic(schema.TopicRevoked), Payload: payload, QoS: 1, Retain: true})
	}
	w.repaired = now
}

// persist records in the database the certificates of fleetd instances that were issued in
// the folder with the keys, so that people can revoke a stolen one.
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
				return err // it is recorded already
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
