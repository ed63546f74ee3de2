package store

import (
	"context"
	"fmt"
	"time"

	"troupe/schema"
)

// Pin says that a person pinned what a robot has of one kind of desired document: policies and rollouts leave it.
type Pin struct {
	Robot string
	Topic schema.TopicKind
	At    time.Time
	By    string
	Why   string
}

// PinQuery selects pins. Zero values select all.
type PinQuery struct {
	Robot string
	Topic schema.TopicKind
	Sites []string // only of robots of these sites
	IDs   []string // only of these robots, any number
}

// Pins lists pins by robot and topic.
func (r reads) Pins(ctx context.Context, q PinQuery) ([]Pin, error) {
	var w where
	w.addIf(q.Robot != "", "robot = %s", q.Robot)
	w.addIf(q.Topic != "", "topic = %s", string(q.Topic))
	w.addSites(q.Sites)
	if q.IDs != nil {
		w.addNamed("robot", q.IDs)
	}
	all, err := queryAll(ctx, r, func(scan func(...any) error) (p Pin, err error) {
		var at int64
		err = scan(&p.Robot, &p.Topic, &at, &p.By, &p.Why)
		p.At = timeOf(at)
		return p, err
	}, "SELECT robot, topic, at, by_who, why FROM pins"+w.String()+" ORDER BY robot, topic", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list pins: %w", err)
	}
	return all, nil
}

// SetPins adds pins, or replaces who set them and why.
func (t *Tx) SetPins(ctx context.Context, pins []Pin) error {
	if _, err := writeRows(ctx, t, pins, pinColumns, `INSERT INTO pins (robot, topic, at, by_who, why) SELECT robot, topic, at, by_who, why FROM given WHERE true
		ON CONFLICT (robot, topic) DO UPDATE SET at = excluded.at, by_who = excluded.by_who, why = excluded.why`); err != nil {
		return fmt.Errorf("write %d pins: %w", len(pins), err)
	}
	return nil
}

var pinColumns = []column[Pin]{
	text("robot", func(p Pin) string { return p.Robot }),
	text("topic", func(p Pin) string { return string(p.Topic) }),
	number("at", func(p Pin) int64 { return micros(p.At) }),
	text("by_who", func(p Pin) string { return p.By }),
	text("why", func(p Pin) string { return p.Why }),
}

// RemovePin removes a pin, or returns ErrNotFound.
func (t *Tx) RemovePin(ctx context.Context, robot string, topic schema.TopicKind) error {
	n, err := t.exec(ctx, `DELETE FROM pins WHERE robot = $1 AND topic = $2`, robot, string(topic))
	if err != nil {
		return fmt.Errorf("remove a pin of %s: %w", robot, err)
	}
	if n == 0 {
		return fmt.Errorf("pin %s of %s: %w", topic, robot, ErrNotFound)
	}
	return nil
}
