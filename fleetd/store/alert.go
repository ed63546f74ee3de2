package store

import (
	"context"
	"fmt"
	"time"

	"troupe/schema"
)

// AlertAck says that somebody has acknowledged an alert.
type AlertAck struct {
	Robot string // empty if it is of a rollout or a schedule
	Alert string
	First schema.Time // when the alert began, by the robot's clock if it has one
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
	table, columns, values, args := "alert_acks", "robot, alert, first_ts", "$5, $1, $2", []any{a.Alert, int64(a.First), micros(a.At), a.By,
		a.Robot, a.Note}
	if a.Robot == "" {
		table, columns, values, args = "fleet_alert_acks", "alert, first_ts", "$1, $2", []any{a.Alert, int64(a.First), micros(a.At), a.By, a.Note}
	}
	note := fmt.Sprintf("$%d", len(args))
	if _, err := t.exec(ctx, `INSERT INTO `+table+` (`+columns+`, at, acked_by, note) VALUES (`+values+`, $3, $4, `+note+`)
		ON CONFLICT (`+columns+`) DO UPDATE SET at = excluded.at, acked_by = excluded.acked_by, note = excluded.note`, args...); err != nil {
		return fmt.Errorf("acknowledge alert %s of %s: %w", a.Alert, a.Robot, err)
	}
	if _, err := t.exec(ctx, `DELETE FROM `+table+` WHERE at < (SELECT at FROM `+table+` ORDER BY at DESC LIMIT 1 OFFSET $1)`,
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
	}, `SELECT robot, alert, first_ts, at, acked_by, note FROM alert_acks
		UNION ALL SELECT '', alert, first_ts, at, acked_by, note FROM fleet_alert_acks ORDER BY at DESC, robot, alert`)
	if err != nil {
		return nil, fmt.Errorf("list acknowledgements of alerts: %w", err)
	}
	return all, nil
}
