// Package revocation keeps revocations effective: it writes the CRL for brokers that read it from
// a file, repairs the document fleet/revoked that the broker retains, and records the certificates
// of fleetd instances, so that people can revoke these too.
package revocation

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/ca"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
	"troupe/schema"
)

const (
	// pollInterval is how often the publisher reads the revocations without a wake-up: another instance may
	// have revoked something.
	pollInterval = time.Second
	// crlAge is the age at which the CRL is signed again, so that the CRL of a broker that reads it
	// does not expire: it would keep its revocations and miss later ones.
	crlAge = 24 * time.Hour
)

// Publisher publishes the document fleet/revoked, and writes the CRL.
type Publisher struct {
	deps Deps
	wake chan struct{}

	retained atomic.Pointer[retainedDocument] // the document fleet/revoked that the broker retains; nil = not received yet

	// Owned by Run.
	crlRev       int64 // revision of the CRL in the file; -1 = not written yet
	crlWrittenAt time.Time
	known        int64           // newest revision of fleet/revoked in the database
	knownAt      time.Time       // when it was first read
	repaired     time.Time       // when the broker's document was last repaired
	noted        map[string]bool // serial numbers of instances' certificates that the database has
	unread       string          // why some of them could not be read, as logged last
}

// retainedDocument is the document fleet/revoked as the broker retains it.
type retainedDocument struct {
	payload []byte // empty if there is none
	at      time.Time
}

// Deps is what a Publisher needs.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Now       func() time.Time
	Vault     *vault.Vault // nil without the fleet's keys
	Leads     func() bool
	Failed    func(what string, err error) // records a failure of the database
	Enqueue   func(m link.Message)         // queues a document for the broker
	Wake      func()                       // makes the publisher send what is in the outbox
}

// Store is the part of the database with revocations.
type Store interface {
	FleetID() string
	Revocation(ctx context.Context) (rev int64, payload []byte, err error)
	Revoked(ctx context.Context, then time.Time) ([]enrol.Certificate, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// New makes a revocation publisher.
func New(d Deps) *Publisher {
	return &Publisher{deps: d, wake: make(chan struct{}, 1), crlRev: -1, noted: map[string]bool{}}
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context, db Store) {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		p.writeCRL(ctx, db, p.deps.Now())
		p.repair(ctx, db, p.deps.Now())
		p.recordIssued(ctx, db, p.deps.Now())
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-poll.C:
		}
	}
}

// writeCRL writes the CRL if it changed or reached crlAge.
func (p *Publisher) writeCRL(ctx context.Context, db Store, now time.Time) {
	if p.deps.Vault == nil {
		return
	}
	rev, _, err := db.Revocation(ctx)
	if err != nil {
		p.deps.Failed("revocations not read", err)
		return
	}
	if rev == p.crlRev && now.Sub(p.crlWrittenAt) < crlAge {
		return
	}
	rows, err := db.Revoked(ctx, now)
	if err != nil {
		p.deps.Failed("revoked certificates not read", err)
		return
	}
	var revoked []ca.Revoked
	for _, c := range enrol.Unexpired(rows, now) {
		revoked = append(revoked, ca.Revoked{Serial: c.Serial, At: c.RevokedAt})
	}
	// The number must rise with every CRL, even if only the dates differ.
	text, err := p.deps.Vault.SignCRL(revoked, now.UnixMilli(), now)
	if err == nil {
		err = p.deps.Vault.SaveCRL(text)
	}
	if err != nil {
		p.deps.Log.Error("CRL not written: brokers that read it accept revoked clients", "error", err)
		return
	}
	p.crlRev, p.crlWrittenAt = rev, now
	p.deps.Log.Info("CRL written", "certificates", len(revoked), "revision", rev)
}

// Wake makes Run read the revocations now.
func (p *Publisher) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

const (
	// revokedSettles is how long the broker's document may differ from the database's after either
	// changed, or after a repair: fleetd's own update may be under way.
	revokedSettles = 2 * time.Second
	// revokedAgain is how often a document of another fleet is overwritten. Instances of two
	// databases on one broker would do so for ever, and Troupe's broker obeys both documents.
	revokedAgain = time.Minute
)

// Observe records the document fleet/revoked that the broker retains; it does not block.
func (p *Publisher) Observe(payload []byte, now time.Time) {
	p.retained.Store(&retainedDocument{bytes.Clone(payload), now})
}

// repair publishes the database's fleet/revoked if the broker retains another one. If the
// broker's is of this fleet and not older, the database was restored from an older copy: then the
// names and certificates in that document are revoked in the database too, since a revocation lasts
// until a person lifts it.
func (p *Publisher) repair(ctx context.Context, db Store, now time.Time) {
	last := p.retained.Load()
	if last == nil {
		return
	}
	rev, payload, err := db.Revocation(ctx)
	if err != nil {
		p.deps.Failed("revocations not read", err)
		return
	}
	if rev != p.known || p.knownAt.IsZero() {
		p.known, p.knownAt = rev, now
	}
	if !p.deps.Leads() {
		return
	}
	for _, since := range []time.Time{last.at, p.knownAt, p.repaired} {
		if now.Sub(since) < revokedSettles {
			return
		}
	}
	retained := last.payload
	list, problems := schema.Decode[schema.Revoked](retained)
	own := len(schema.Errors(problems)) == 0 && list.FleetID == db.FleetID()
	switch {
	case bytes.Equal(retained, payload) || rev == 0 && !own || !own && len(retained) > 0 && now.Sub(p.repaired) < revokedAgain:
		return
	case own && list.Rev >= rev:
		err := db.Tx(ctx, func(tx *store.Tx) error {
			if err := tx.ImportRevocation(ctx, list, now); err != nil {
				return err
			}
			return tx.EnqueueRevocation(ctx, db.FleetID(), now)
		})
		if err != nil {
			p.deps.Failed("revocations of the broker's fleet/revoked not saved", err)
			return
		}
		p.deps.Log.Error("the broker has another fleet/revoked, of the same or a higher revision: the database may be an older copy; the "+
			"document's names and certificates are revoked here too", "rev", list.Rev, "known", rev, "names", list.Names)
		p.deps.Wake()
	default:
		if own {
			p.deps.Log.Warn("the broker retains an earlier revision of fleet/revoked; published again", "rev", list.Rev, "known", rev)
		} else {
			p.deps.Log.Warn("fleet/revoked was overwritten by another client; published again", "fleet_id", list.FleetID, "rev", list.Rev)
		}
		p.deps.Enqueue(link.Message{Topic: p.deps.Namespace.Topic(schema.TopicRevoked), Payload: payload, QoS: 1, Retain: true})
	}
	p.repaired = now
}

// recordIssued records in the database the certificates of fleetd instances that were issued in the
// folder with the keys, so that people can revoke a stolen one.
func (p *Publisher) recordIssued(ctx context.Context, db Store, now time.Time) {
	if p.deps.Vault == nil || !p.deps.Leads() {
		return
	}
	fresh, err := p.deps.Vault.Issued(p.noted, now)
	if text := errorText(err); text != p.unread {
		if p.unread = text; err != nil {
			p.deps.Log.Error("certificates of fleetd instances not read", "error", err)
		}
	}
	for _, c := range fresh {
		row := enrol.Certificate{
			Serial: ca.Serial(c), How: enrol.ByInstance, IssuedAt: now, NotBefore: c.NotBefore, NotAfter: c.NotAfter,
			PEM: string(ca.EncodeCertificates(c)),
		}
		err := db.Tx(ctx, func(tx *store.Tx) error {
			if _, err := tx.Certificate(ctx, row.Serial); !errors.Is(err, store.ErrNotFound) {
				return err // it is recorded already
			}
			return tx.AddCertificate(ctx, row)
		})
		if err != nil {
			p.deps.Failed("certificate of a fleetd instance not recorded", err)
			return
		}
		p.noted[row.Serial] = true
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
