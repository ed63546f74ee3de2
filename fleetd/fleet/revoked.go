package fleet

import (
	"bytes"
	"context"
	"errors"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/ca"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/schema"
)

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
func (w *revocationPublisher) Hear(payload []byte, now time.Time) {
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
func (w *revocationPublisher) repair(ctx context.Context, db revocationStore, now time.Time) {
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
func (w *revocationPublisher) persist(ctx context.Context, db revocationStore, now time.Time) {
	if w.deps.Vault == nil || !w.deps.Leads() {
		return
	}
	fresh, err := w.deps.Vault.Noted(w.noted, now)
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
