package store

import (
	"context"
	"fmt"
	"time"
)

// Event is one event of a robot: its exact bytes, and what queries select by.
type Event struct {
	Robot      string
	Boot       string
	Seq        int64
	Type       string
	Level      string
	Routine    bool // it comes with every act
	Body       []byte
	ReceivedAt time.Time
}

// EventQuery selects events; a zero field does not restrict.
type EventQuery struct {
	Robot string
	Type  string
	Level []string  // one of these
	Since time.Time // received at or after
	Until time.Time // received before
	Limit int       // 0 = 100
	Sites []string  // of robots with one of these values of the label site; none = of all
}

// AddEvents adds events and leaves those as they are that it has already. If one is of an
// unknown robot, nothing is added and the error is ErrNotFound.
func (s *Store) AddEvents(ctx context.Context, events []Event) error {
	err := s.plainTx(ctx, func(tx *Tx) error {
		_, err := writeRows(ctx, tx, events, eventColumns, `INSERT INTO events (robot, boot, seq, type, level, routine, body, received_at)
			SELECT robot, boot, seq, type, level, routine, body, received_at FROM given WHERE true
			ON CONFLICT (robot, boot, seq) DO NOTHING`)
		return err
	})
	if err != nil {
		return fmt.Errorf("add %d events: %w", len(events), err)
	}
	return nil
}

var eventColumns = []column[Event]{
	text("robot", func(e Event) string { return e.Robot }),
	text("boot", func(e Event) string { return e.Boot }),
	number("seq", func(e Event) int64 { return e.Seq }),
	text("type", func(e Event) string { return e.Type }),
	text("level", func(e Event) string { return e.Level }),
	number("routine", func(e Event) int64 { return boolToInt(e.Routine) }),
	binary("body", func(e Event) []byte { return e.Body }),
	number("received_at", func(e Event) int64 { return micros(e.ReceivedAt) }),
}

const selectEvents = `SELECT robot, boot, seq, type, level, routine > 0, body, received_at FROM events`

func scanEvent(scan func(...any) error) (e Event, err error) {
	var at int64
	err = scan(&e.Robot, &e.Boot, &e.Seq, &e.Type, &e.Level, &e.Routine, &e.Body, &at)
	e.ReceivedAt = timeOf(at)
	return e, err
}

// Events lists events, the newest first.
func (r reads) Events(ctx context.Context, q EventQuery) ([]Event, error) {
	var w where
	w.addIf(q.Robot != "", "robot = %s", q.Robot)
	w.addIf(q.Type != "", "type = %s", q.Type)
	if len(q.Level) > 0 {
		w.addIn("level", q.Level)
	}
	w.addIf(!q.Since.IsZero(), "received_at >= %s", micros(q.Since))
	w.addIf(!q.Until.IsZero(), "received_at < %s", micros(q.Until))
	w.addSites(q.Sites)
	query := selectEvents + w.String() +
		" ORDER BY received_at DESC, robot, boot, seq DESC LIMIT " + w.arg(limitOf(q.Limit))
	all, err := queryAll(ctx, r, scanEvent, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	return all, nil
}

// limitOf is the number of rows of a list.
func limitOf(limit int) int {
	if limit <= 0 {
		return 100
	}
	return limit
}
