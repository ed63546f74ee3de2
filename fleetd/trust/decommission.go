package trust

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/command"
	"troupe/fleetd/decommission"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/verb"
)

// lead takes every open decommission as far as possible. A follower only records what each
// waits for, since the leader writes the steps.
func (w *RevocationPublisher) lead(ctx context.Context, db Store) {
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
				break // another instance took the step
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
	w.waiting.Store(&waiting)
}

// next decides the next step of a decommission.
func (w *RevocationPublisher) next(ctx context.Context, db Store, d decommission.Decommission, now time.Time) (next decommission.Decision, err error) {
	facts := decommission.Facts{Connection: w.deps.Connection(d.Robot, now)}
	if facts.Confirmed, err = db.DecommissionPublished(ctx, d.Robot); err != nil {
		return next, err
	}
	if facts.Barred, err = db.IsBarred(ctx, d.Robot); err != nil {
		return next, err
	}
	return decommission.Next(d, facts), nil
}

// step carries out one step of a decommission.
func (w *RevocationPublisher) step(ctx context.Context, db Store, d decommission.Decommission, next decommission.Decision, now time.Time) error {
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
			if err := tx.EnqueueRevocation(ctx, db.FleetID(), now); err != nil {
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

// stop stops a robot before its access is revoked. What the robot does without a link is its
// own configuration; so it is stopped first.
func (w *RevocationPublisher) stop(ctx context.Context, d decommission.Decommission, now time.Time) {
	v, _ := verb.Of("safety", "stop")
	why := "this robot leaves the fleet"
	payload, err := verb.Encode(v, verb.Request{Args: verb.Stop{Why: why}, Envelope: schema.Envelope{ID: uuid.NewString(), TS: schema.TimeOf(now), By: d.By, Why: why}})
	if err != nil {
		w.deps.Log.Error("stop not encoded", "error", err)
		return
	}
	w.deps.Send(ctx, command.Command{Robot: d.Robot, Verb: v.ID(), Payload: payload})
}

// Waiting says what the decommission of a robot waits for; empty if for nothing.
func (w *RevocationPublisher) Waiting(robot string) string {
	if waiting := w.waiting.Load(); waiting != nil {
		return (*waiting)[robot]
	}
	return ""
}
