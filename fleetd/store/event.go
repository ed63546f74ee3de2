package store

import (
	"context"
	"fmt"
	"time"
)

// Event is one event of a robot, as its exact bytes, with what it is found by.
type Event struct {
	Robot      string
	Boot       string
	Seq        int64
	Type       string
	Body       []byte
	ReceivedAt time.Time
}

// EventQuery says which events: zero values do not restrict.
type EventQuery struct {
	Robot string
	Type  string
	Since time.Time // received at or after
	Until time.Time // received before
	Limit int       // 0 = 100
}

// AddEvents keeps events; one that is known already is left as it is. With an
// unknown robot among them none is kept and the answer is ErrNotFound.
func (s *Store) AddEvents(ctx context.Context, events []Event) error {
	err := s.batch(ctx, func(tx *Tx) error {
		for _, e := range events {
			if _, err := tx.exec(ctx, `INSERT INTO events (robot, boot, seq, type, body, received_at) VALUES ($1, $2, $3, $4, $5, $6)
				ON CONFLICT (robot, boot, seq) DO NOTHING`, e.Robot, e.Boot, e.Seq, e.Type, bytesOf(e.Body), micros(e.ReceivedAt)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add %d events: %w", len(events), err)
	}
	return nil
}

// Events lists events, the newest first.
func (r reads) Events(ctx context.Context, q EventQuery) ([]Event, error) {
	var w where
	w.when(q.Robot != "", "robot = %s", q.Robot)
	w.when(q.Type != "", "type = %s", q.Type)
	w.when(!q.Since.IsZero(), "received_at >= %s", micros(q.Since))
	w.when(!q.Until.IsZero(), "received_at < %s", micros(q.Until))
	query := "SELECT robot, boot, seq, type, body, received_at FROM events" + w.String() +
		" ORDER BY received_at DESC, robot, boot, seq DESC LIMIT " + w.arg(atMost(q.Limit))
	all, err := list(ctx, r, func(scan func(...any) error) (e Event, err error) {
		var at int64
		err = scan(&e.Robot, &e.Boot, &e.Seq, &e.Type, &e.Body, &at)
		e.ReceivedAt = timeOf(at)
		return e, err
	}, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return all, nil
}

// atMost is the number of rows of a list.
func atMost(limit int) int {
	if limit <= 0 {
		return 100
	}
	return limit
}
