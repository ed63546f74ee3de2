package store

import (
	"context"
	"fmt"
	"time"

	"troupe/schema"
)

// AlertAck says that somebody has acknowledged an alert of a robot.
type AlertAck struct {
	Robot string
	Alert string
	First schema.Time // when the alert began, by the robot's clock
	At    time.Time
	By    string
	Note  string
}

// maxAlertAcks bounds the acknowledgements that are kept, of which most are of alerts that are
// over.
const maxAlertAcks = 10_000

// AckAlert saves that somebody has acknowledged an alert, in place of an earlier acknowledgement. The
// error is ErrNotFound if the robot is unknown.
func (t *Tx) AckAlert(ctx context.Context, a AlertAck) error {
	if _, err := t.exec(ctx, `INSERT INTO alert_acks (robot, alert, first_ts, at, acked_by, note) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (robot, alert, first_ts) DO UPDATE SET at = excluded.at, acked_by = excluded.acked_by, note = excluded.note`,
		a.Robot, a.Alert, int64(a.First), micros(a.At), a.By, a.Note); err != nil {
		return fmt.Errorf("acknowledge alert %s of %s: %w", a.Alert, a.Robot, err)
	}
	if _, err := t.exec(ctx, `DELETE FROM alert_acks WHERE at < (SELECT at FROM alert_acks ORDER BY at DESC LIMIT 1 OFFSET $1)`,
		maxAlertAcks); err != nil {
		return fmt.Errorf("delete old acknowledgements of alerts: %w", err)
	}
	return nil
}

// AlertAcks lists the acknowledgements, the newest first.
func (r reads) AlertAcks(ctx context.Context) ([]AlertAck, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (a AlertAck, err error) {
		var at, first int64
		err = scan(&a.Robot, &a.Alert, &first, &at, &a.By, &a.Note)
		a.At, a.First = timeOf(at), schema.Time(first)
		return a, err
	}, `SELECT robot, alert, first_ts, at, acked_by, note FROM alert_acks ORDER BY at DESC, robot, alert`)
	if err != nil {
		return nil, fmt.Errorf("list acknowledgements of alerts: %w", err)
	}
	return all, nil
}
