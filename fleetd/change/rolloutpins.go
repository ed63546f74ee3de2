package change

import (
	"context"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Pins lists what people pinned.
func (o *Rollouts) Pins(ctx context.Context, q PinQuery) ([]Pin, error) {
	return read(&o.Deps, func(db *store.Store) ([]Pin, error) { return db.Pins(ctx, q) })
}

// SetPin pins what a robot has of one kind.
func (o *Rollouts) SetPin(ctx context.Context, p auth.Principal, robot string, topic schema.TopicKind, by audit.Attribution) (Pin, error) {
	pin := Pin{Robot: robot, Topic: topic, At: o.Now(), By: by.Who, Why: by.Why}
	err := o.transact(ctx, p, func(tx *store.Tx) error {
		if _, err := tx.Robot(ctx, robot); err != nil {
			return err
		}
		if err := tx.SetPins(ctx, []store.Pin{pin}); err != nil {
			return err
		}
		return tx.Note(ctx, pin.At, pinNote(audit.ActionPin, robot, topic, by))
	})
	if err == nil {
		o.Changed(ctx, nil)
	}
	return pin, err
}

// RemovePin removes a pin, and gives the robot what its policy says; ErrNotFound: there is none.
func (o *Rollouts) RemovePin(ctx context.Context, p auth.Principal, robot string, topic schema.TopicKind, by audit.Attribution) error {
	err := o.transact(ctx, p, func(tx *store.Tx) error {
		if err := tx.RemovePin(ctx, robot, topic); err != nil {
			return err
		}
		if err := tx.Note(ctx, o.Now(), pinNote(audit.ActionUnpin, robot, topic, by)); err != nil {
			return err
		}
		return o.unpinned(ctx, tx, robot, topic, by.WithTime(o.Now()))
	})
	if err == nil {
		o.Changed(ctx, []string{robot})
	}
	return err
}

func pinNote(what audit.Action, robot string, topic schema.TopicKind, by audit.Attribution) audit.Note {
	kind := strings.TrimPrefix(string(topic), "desired_")
	return audit.Note{Who: by.Who, What: what, Target: "robot " + robot, Why: by.Why, Detail: kind}
}
