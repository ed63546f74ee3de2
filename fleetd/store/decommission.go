package store

import (
	"context"
	"fmt"
	"time"

	"troupe/fleetd/decommission"
	"troupe/fleetd/library"
	"troupe/schema"
)

const selectDecommissions = `SELECT robot, step, step_at, begun_at, begun_by, why, ended_at FROM decommissions`

func scanDecommission(scan func(...any) error) (d decommission.Decommission, err error) {
	var at, begun, ended int64
	err = scan(&d.Robot, &d.Step, &at, &begun, &d.By, &d.Why, &ended)
	d.StepAt, d.BegunAt, d.EndedAt = timeOf(at), timeOf(begun), timeOf(ended)
	return d, err
}

// Decommissions lists the decommissions that are under way, or with all also those that
// ended, the newest first.
func (r reads) Decommissions(ctx context.Context, all bool) ([]decommission.Decommission, error) {
	query := selectDecommissions
	if !all {
		query += " WHERE ended_at = 0"
	}
	found, err := queryAll(ctx, r, scanDecommission, query+" ORDER BY begun_at DESC, robot")
	if err != nil {
		return nil, fmt.Errorf("list decommissions: %w", err)
	}
	return found, nil
}

// Decommission returns the newest decommission of a robot, or ErrNotFound.
func (r reads) Decommission(ctx context.Context, robot string) (decommission.Decommission, error) {
	d, err := queryOne(ctx, r, scanDecommission, selectDecommissions+" WHERE robot = $1", robot)
	if err != nil {
		return d, fmt.Errorf("decommission of %s: %w", robot, err)
	}
	return d, nil
}

// DecommissionPublished reports whether everything that a decommission enqueued was published: the robot's
// documents, and fleet/revoked, which has no target.
func (r reads) DecommissionPublished(ctx context.Context, robot string) (bool, error) {
	var open int64
	err := r.queryRow(ctx, `SELECT COUNT(*) FROM outbox o JOIN decommissions d ON d.robot = $1
		WHERE o.sent_at = 0 AND o.seq <= d.outbox_seq AND o.target IN ($1, '')`, robot).Scan(&open)
	if err != nil {
		return false, fmt.Errorf("read the unsent messages of the decommission of %s: %w", robot, err)
	}
	return open == 0, nil
}

// IsNameRevoked reports whether a robot may not connect, whatever its certificate.
func (r reads) IsNameRevoked(ctx context.Context, robot string) (bool, error) {
	var n int64
	if err := r.queryRow(ctx, `SELECT COUNT(*) FROM barred WHERE robot = $1`, robot).Scan(&n); err != nil {
		return false, fmt.Errorf("read whether the name %s is revoked: %w", robot, err)
	}
	return n > 0, nil
}

// BeginDecommission begins to decommission a robot. If that is under way already, the error
// is ErrConflict; if the robot is unknown, ErrNotFound.
func (t *Tx) BeginDecommission(ctx context.Context, robot, by, why string, now time.Time) error {
	if _, err := t.Robot(ctx, robot); err != nil {
		return err
	}
	n, err := t.exec(ctx, `INSERT INTO decommissions (robot, step, step_at, begun_at, begun_by, why, outbox_seq, ended_at) VALUES ($1, $2, $3, $3, $4, $5, 0, 0)
		ON CONFLICT (robot) DO UPDATE SET step = excluded.step, step_at = excluded.step_at, begun_at = excluded.begun_at,
			begun_by = excluded.begun_by, why = excluded.why, outbox_seq = 0, ended_at = 0
		WHERE decommissions.ended_at > 0`, robot, string(decommission.Begun), micros(now), by, why)
	return expectOne(n, err, "the decommission of "+robot)
}

// StepDecommission moves a decommission from one step to the next and makes the changes of
// the new step. If it is no longer at the first one, the error is ErrConflict. Instead of Archived
// it may reach DeletingDocuments again: see archive.
func (t *Tx) StepDecommission(ctx context.Context, from decommission.Decommission, to decommission.Step, now time.Time) error {
	var ended int64
	if to.Over() {
		ended = micros(now)
	}
	n, err := t.exec(ctx, `UPDATE decommissions SET step = $3, step_at = $4, ended_at = $5 WHERE robot = $1 AND step = $2 AND ended_at = 0`,
		from.Robot, string(from.Step), string(to), micros(now), ended)
	if err := expectOne(n, err, "a step of the decommission of "+from.Robot); err != nil {
		return err
	}
	switch to {
	case decommission.DeletingDesired:
		return t.enqueueDeletions(ctx, from.Robot, decommission.DesiredTopics(), now)
	case decommission.DeletingDocuments:
		return t.enqueueDeletions(ctx, from.Robot, decommission.Documents(), now)
	case decommission.Archived:
		return t.archive(ctx, from.Robot, now)
	case decommission.Cancelled:
		return t.enqueueDesired(ctx, []string{from.Robot}, now) // they were deleted, or messages that delete them are in the outbox
	}
	return nil
}

// enqueueDeletions adds empty messages to the outbox, which delete retained documents, in this
// order.
func (t *Tx) enqueueDeletions(ctx context.Context, robot string, kinds []schema.TopicKind, now time.Time) error {
	messages := make([]library.Message, len(kinds))
	for i, kind := range kinds {
		messages[i] = library.Message{Topic: kind, Target: robot}
	}
	if err := t.enqueue(ctx, messages, now); err != nil {
		return err
	}
	_, err := t.exec(ctx, `UPDATE decommissions SET outbox_seq = (SELECT outbox_seq FROM fleet WHERE only_row = 1) WHERE robot = $1`, robot)
	if err != nil {
		return fmt.Errorf("record what the decommission of %s waits for: %w", robot, err)
	}
	return nil
}

// archive takes a robot out of every list. It deletes the robot's documents, which are no
// longer true, and its measurements, and keeps events, history and the revisions of desired documents. If somebody
// wrote desired documents meanwhile, it enqueues their deletion instead, and the
// decommission stays at the step before until they are deleted.
func (t *Tx) archive(ctx context.Context, robot string, now time.Time) error {
	var late int64
	if err := t.queryRow(ctx, `SELECT COUNT(*) FROM outbox o JOIN decommissions d ON d.robot = $1 WHERE o.target = $1 AND o.seq > d.outbox_seq`, robot).Scan(&late); err != nil {
		return fmt.Errorf("look for late desired documents of %s: %w", robot, err)
	}
	if late > 0 {
		if _, err := t.exec(ctx, `UPDATE decommissions SET step = $2, ended_at = 0 WHERE robot = $1`, robot,
			string(decommission.DeletingDocuments)); err != nil {
			return fmt.Errorf("hold the decommission of %s: %w", robot, err)
		}
		return t.enqueueDeletions(ctx, robot, decommission.DesiredTopics(), now)
	}
	if _, err := t.exec(ctx, `DELETE FROM documents WHERE robot = $1`, robot); err != nil {
		return fmt.Errorf("delete the documents of %s: %w", robot, err)
	}
	if err := t.deleteMeasurements(ctx, robot); err != nil {
		return err
	}
	n, err := t.exec(ctx, `UPDATE robots SET archived_at = $2 WHERE id = $1 AND archived_at = 0`, robot, micros(now))
	if err := expectOne(n, err, "robot "+robot); err != nil {
		return err
	}
	return t.countChange(ctx, robot)
}

// EnqueueDeletions enqueues the deletion of all retained documents of a robot outside the fleet: its
// desired documents, then its own.
func (t *Tx) EnqueueDeletions(ctx context.Context, robot string, now time.Time) error {
	var messages []library.Message
	for _, kind := range append(decommission.DesiredTopics(), decommission.Documents()...) {
		messages = append(messages, library.Message{Topic: kind, Target: robot})
	}
	return t.enqueue(ctx, messages, now)
}
