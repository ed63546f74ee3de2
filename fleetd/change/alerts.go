package change

import (
	"context"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Alerts keeps which alerts people have seen.
type Alerts struct{ Deps }

// AlertAck says that somebody has seen an alert.
type AlertAck = store.AlertAck

// Ack saves that somebody has seen an alert, and what they noted; robot is empty if it is of a rollout or a schedule.
func (a *Alerts) Ack(ctx context.Context, p auth.Principal, robot string, alert schema.Alert, by audit.Attribution) (AlertAck, error) {
	ack := AlertAck{Robot: robot, Alert: alert.ID, First: alert.FirstTS, At: a.Now(), By: by.Who, Note: by.Why}
	if ack.By == "" {
		ack.By = p.ID
	}
	target := "robot " + robot
	if robot == "" {
		target = "alert " + alert.ID
	}
	err := a.transact(ctx, p, func(tx *store.Tx) error {
		if err := tx.AckAlert(ctx, ack); err != nil {
			return err
		}
		return tx.Note(ctx, ack.At, audit.Note{
			Who: by.Who, What: audit.ActionAcknowledge, Target: target, Why: by.Why,
			Detail: audit.Text("alert "+alert.ID+", "+alert.Type+": "+alert.Detail, 512),
			After:  audit.JSON(map[string]any{"alert": alert.ID, "type": alert.Type, "level": alert.Level, "first_ts": alert.FirstTS}),
		})
	})
	return ack, err
}

// Acks lists what people have seen, the newest first.
func (a *Alerts) Acks(ctx context.Context) ([]AlertAck, error) {
	return read(&a.Deps, func(db *store.Store) ([]AlertAck, error) { return db.AlertAcks(ctx) })
}
