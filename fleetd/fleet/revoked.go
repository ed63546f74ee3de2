package fleet

import (
	"bytes"
	"context"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// revokedSettles is how long a list that the broker keeps may be another one
	// than the database's: the desk's own next word may be on its way.
	revokedSettles = 2 * time.Second
	// revokedAgain is how often a list of somebody else is overwritten. Two desks of
	// two databases on one broker would do so for ever, and brokers of ours keep
	// both.
	revokedAgain = time.Minute
)

// hear notes which list of the revoked the broker keeps. It waits for nothing.
func (w *warden) hear(payload []byte, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard, w.heardAt = bytes.Clone(payload), now
	if w.heard == nil {
		w.heard = []byte{}
	}
}

// repair sees to it that the broker keeps the database's list of the revoked. A
// list of this authority that the database does not know, it has forgotten, as one
// that was put back from a copy has: it takes in whom that list names, since whoever
// was revoked stays so until a person says otherwise.
func (w *warden) repair(ctx context.Context, db *store.Store, now time.Time) {
	w.mu.Lock()
	heard, at := w.heard, w.heardAt
	w.mu.Unlock()
	if heard == nil || now.Sub(at) < revokedSettles || now.Sub(w.repaired) < revokedSettles || !w.f.leadership.leads() {
		return
	}
	rev, payload, err := db.Revocation(ctx)
	if err != nil {
		w.f.databaseFailed("list of the revoked not read", err)
		return
	}
	list, problems := schema.Decode[schema.Revoked](heard)
	own := len(schema.Errors(problems)) == 0 && list.Authority == db.Authority()
	switch {
	case bytes.Equal(heard, payload) || rev == 0 && !own || !own && len(heard) > 0 && now.Sub(w.repaired) < revokedAgain:
		return
	case own && list.Rev >= rev:
		err := db.Tx(ctx, func(tx *store.Tx) error {
			if err := tx.TakeRevoked(ctx, list, now); err != nil {
				return err
			}
			return tx.TellRevoked(ctx, db.Authority(), now)
		})
		if err != nil {
			w.f.databaseFailed("revoked robots not taken over from the broker", err)
			return
		}
		w.f.log.Error("the broker knows a newer list of the revoked than the database, which may come from a copy: whom it names is revoked here too", "rev", list.Rev, "known", rev, "names", list.Names)
		signal(w.f.outbox.wake)
	default:
		w.f.log.Warn("the list of the revoked was overwritten", "by", list.Authority, "rev", list.Rev)
		w.f.outbox.say(link.Message{Topic: w.f.ns.Topic(schema.TopicRevoked), Payload: payload, QoS: 1, Retain: true})
	}
	w.repaired = now
}
