package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Outgoing is a retained document to publish.
type Outgoing struct {
	Seq           int64 // number in the outbox; 0 = not from the outbox
	Topic         schema.TopicKind
	Target        string // robot, or SHA-256 of a blob; empty if the topic has no such level
	Payload       []byte
	PayloadInBlob bool // Payload is left out: it is the body of the blob Target, see Blob
}

// enqueue adds messages at the end of the outbox. Their numbers are taken under a row lock
// that lasts until the commit, so their order is that of the commits: no newer desired
// document is published before an older one.
func (t *Tx) enqueue(ctx context.Context, messages []library.Message, now time.Time) error {
	if len(messages) == 0 {
		return nil
	}
	if err := t.boundLocks(ctx); err != nil {
		return err
	}
	var last, change int64
	if err := t.queryRow(ctx, `UPDATE fleet SET outbox_seq = outbox_seq + $1, changes = changes + 1, named_changes = named_changes + 1 WHERE only_row = 1
		RETURNING outbox_seq, changes`, len(messages)).Scan(&last, &change); err != nil {
		return fmt.Errorf("number the outbox: %w", err)
	}
	rows := make([]outboxRow, len(messages))
	for i, m := range messages {
		rows[i] = outboxRow{m, last - int64(len(messages)-1-i), now}
	}
	if _, err := writeRows(ctx, t, rows, outboxColumns, `INSERT INTO outbox (seq, topic, target, payload, created_at, sent_at, removes)
		SELECT seq, topic, target, payload, created_at, 0, removes FROM given`); err != nil {
		return fmt.Errorf("add %d messages to the outbox: %w", len(messages), err)
	}
	if _, err := t.exec(ctx, `INSERT INTO robot_changes (robot, change)
		SELECT id, CAST($1 AS BIGINT) FROM robots WHERE id IN (SELECT target FROM outbox WHERE seq > $2 AND seq <= $3)
		ON CONFLICT (robot) DO UPDATE SET change = excluded.change`, change, last-int64(len(messages)), last); err != nil {
		return fmt.Errorf("note the changes of robots: %w", err)
	}
	return t.notePublishedBlobs(ctx, messages)
}

// outboxRow is a message with its number in the outbox.
type outboxRow struct {
	library.Message
	seq int64
	at  time.Time
}

var outboxColumns = []column[outboxRow]{
	number("seq", func(r outboxRow) int64 { return r.seq }),
	text("topic", func(r outboxRow) string { return string(r.Topic) }),
	text("target", func(r outboxRow) string { return r.Target }),
	binary("payload", func(r outboxRow) []byte { return r.Payload }),
	number("created_at", func(r outboxRow) int64 { return micros(r.at) }),
	number("removes", func(r outboxRow) int64 { return boolToInt(r.Remove) }),
}

// Unsent lists the next messages to publish whose numbers are higher than after, in order, at
// most limit of them. The bodies of blobs are left out: many rows may wait in memory.
func (r reads) Unsent(ctx context.Context, after int64, limit int) ([]Outgoing, error) {
	all, err := queryAll(ctx, r, scanOutgoing, outgoingSelect+` ORDER BY seq LIMIT $2`, after, limitOf(limit))
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	return all, nil
}

// UnsentStops is Unsent for the documents with stops and releases.
func (r reads) UnsentStops(ctx context.Context, after int64, limit int) ([]Outgoing, error) {
	all, err := queryAll(ctx, r, scanOutgoing, outgoingSelect+` AND topic IN ($2, $3) ORDER BY seq LIMIT $4`,
		after, string(schema.TopicDesiredStop), string(schema.TopicFleetStop), limitOf(limit))
	if err != nil {
		return nil, fmt.Errorf("read the stops of the outbox: %w", err)
	}
	return all, nil
}

// UnsentOf is Unsent for the rows of one target up to a number.
func (r reads) UnsentOf(ctx context.Context, target string, after, upTo int64, limit int) ([]Outgoing, error) {
	all, err := queryAll(ctx, r, scanOutgoing, outgoingSelect+` AND seq <= $2 AND target = $3 ORDER BY seq LIMIT $4`, after, upTo, target,
		limitOf(limit))
	if err != nil {
		return nil, fmt.Errorf("read the outbox for %q: %w", target, err)
	}
	return all, nil
}

// An empty payload of a blob means the blob itself, unless the row removes it.
const outgoingSelect = `SELECT seq, topic, target, payload, CASE WHEN topic = 'blob' AND removes = 0 THEN 1 ELSE 0 END
	FROM outbox WHERE sent_at = 0 AND seq > $1`

func scanOutgoing(scan func(...any) error) (o Outgoing, err error) {
	return o, scan(&o.Seq, &o.Topic, &o.Target, &o.Payload, &o.PayloadInBlob)
}

// MarkSent records that the broker has acknowledged these messages of the outbox.
func (s *Store) MarkSent(ctx context.Context, seqs []int64, now time.Time) error {
	columns := []column[int64]{
		number("seq", func(seq int64) int64 { return seq }),
		number("sent_at", func(int64) int64 { return micros(now) }),
	}
	err := s.plainTx(ctx, func(tx *Tx) error {
		_, err := writeRows(ctx, tx, seqs, columns,
			`UPDATE outbox SET sent_at = given.sent_at FROM given WHERE outbox.seq = given.seq AND outbox.sent_at = 0`)
		return err
	})
	if err != nil {
		return fmt.Errorf("mark messages of the outbox as sent: %w", err)
	}
	return nil
}

// PruneSent deletes the messages of the outbox that were sent before then, and returns how
// many.
func (s *Store) PruneSent(ctx context.Context, then time.Time) (n int64, err error) {
	err = s.plainTx(ctx, func(tx *Tx) error {
		n, err = tx.exec(ctx, `DELETE FROM outbox WHERE sent_at > 0 AND sent_at < $1`, micros(then))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete sent messages of the outbox: %w", err)
	}
	return n, nil
}

// DesiredDocuments lists the desired documents of some robots, of each the stops first. Robots
// that are being decommissioned, or were, have none.
func (r reads) DesiredDocuments(ctx context.Context, robots selector.Selector) ([]Outgoing, error) {
	w := where{conditions: []string{"r.archived_at = 0", "NOT EXISTS (SELECT 1 FROM decommissions d WHERE d.robot = w.robot AND d.ended_at " +
		"= 0)"}}
	w.addSelector(robots)
	all, err := queryAll(ctx, r, func(scan func(...any) error) (o Outgoing, err error) {
		return o, scan(&o.Topic, &o.Target, &o.Payload)
	}, `SELECT w.kind, w.robot, w.payload FROM desired w JOIN robots r ON r.id = w.robot`+w.String()+` ORDER BY w.robot, CASE WHEN w.kind = 'desired_stop' THEN 0 ELSE 1 END, w.kind`, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list desired documents: %w", err)
	}
	return all, nil
}

// RetainedDocuments lists all retained documents that fleetd owns, for a broker that lost them, in the
// order in which they must be published: fleet/revoked, stops, the blobs that desired
// documents need, without their bodies, and the other desired documents.
func (r reads) RetainedDocuments(ctx context.Context) ([]Outgoing, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (o Outgoing, err error) {
		o.Topic, o.PayloadInBlob = schema.TopicBlob, true
		return o, scan(&o.Target)
	}, `SELECT sha256 FROM desired_blobs ORDER BY sha256`)
	if err != nil {
		return nil, fmt.Errorf("list blobs in use: %w", err)
	}
	desired, err := r.DesiredDocuments(ctx, selector.All())
	if err != nil {
		return nil, err
	}
	rev, revoked, err := r.Revocation(ctx)
	if err != nil {
		return nil, err
	}
	stops, err := queryAll(ctx, r, func(scan func(...any) error) (o Outgoing, err error) {
		return o, scan(&o.Topic, &o.Payload)
	}, `SELECT kind, payload FROM fleet_documents ORDER BY kind`)
	if err != nil {
		return nil, fmt.Errorf("list documents of the fleet: %w", err)
	}
	for _, w := range desired { // what stops robots is published before what lets them act
		if w.Topic == schema.TopicDesiredStop {
			stops = append(stops, w)
		}
	}
	all = append(stops, all...)
	all = append(all, slices.DeleteFunc(desired, func(w Outgoing) bool { return w.Topic == schema.TopicDesiredStop })...)
	if rev > 0 { // first, so that revoked clients do not receive the rest
		all = slices.Insert(all, 0, Outgoing{Topic: schema.TopicRevoked, Payload: revoked})
	}
	return all, nil
}
