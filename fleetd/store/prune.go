package store

import (
	"context"
	"fmt"
	"time"
)

// Pruning deletes old history that nothing refers to. Each call is one short transaction of
// about limit rows, so that other writes do not wait long; the caller repeats it until it
// returns 0.

const (
	oldEvents = `DELETE FROM events WHERE (robot, boot, seq) IN (
		SELECT robot, boot, seq FROM events WHERE received_at < $1 ORDER BY received_at LIMIT $2)`
	oldRoutineEvents = `DELETE FROM events WHERE (robot, boot, seq) IN (
		SELECT robot, boot, seq FROM events WHERE routine = 1 AND received_at < $1 ORDER BY received_at LIMIT $2)`

	// oldBatches checks one batch after the other. With NOT EXISTS, PostgreSQL would join all
	// batches with all commands in each call.
	oldBatches = `SELECT b.id, b.total FROM batches b WHERE b.created_at < $1
			AND COALESCE((SELECT 1 FROM commands c WHERE c.batch = b.id AND (c.ended_at = 0 OR c.ended_at >= $1) LIMIT 1), 0) = 0
		ORDER BY b.created_at LIMIT $2`

	// oldRollouts keeps those that a policy names: whether they ended well decides what newcomers get.
	oldRollouts = `SELECT o.id, o.total FROM rollouts o WHERE o.ended_at > 0 AND o.ended_at < $1
			AND NOT EXISTS (SELECT 1 FROM policies p WHERE p.rollout = o.id)
		ORDER BY o.ended_at LIMIT $2`

	// batchesAtOnce bounds the batches or rollouts of one call.
	batchesAtOnce = 100
)

// PruneEvents deletes up to limit of the oldest events received before then.
func (s *Store) PruneEvents(ctx context.Context, then time.Time, limit int) (int64, error) {
	return s.prune(ctx, "events", oldEvents, micros(then), limit)
}

// PruneRoutineEvents is PruneEvents for routine events, which come with every act.
func (s *Store) PruneRoutineEvents(ctx context.Context, then time.Time, limit int) (int64, error) {
	return s.prune(ctx, "events of acts", oldRoutineEvents, micros(then), limit)
}

func (s *Store) prune(ctx context.Context, what, query string, args ...any) (n int64, err error) {
	err = s.plainTx(ctx, func(tx *Tx) error {
		n, err = tx.exec(ctx, query, args...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune %s: %w", what, err)
	}
	return n, nil
}

// PruneBatches deletes the oldest batches created before then, each with all its commands. It
// keeps a batch with a command that is open or ended at or after then. A call deletes at
// least one batch, however many commands it has.
func (s *Store) PruneBatches(ctx context.Context, then time.Time, limit int) (n int64, err error) {
	return s.pruneWithParts(ctx, "batches", oldBatches, then, limit, `DELETE FROM commands WHERE batch = $1`, `DELETE FROM batches WHERE id = $1`)
}

// PruneRollouts deletes the oldest rollouts that ended before then and that no policy names, each with its waves and robots. A call deletes
// at least one rollout, however many robots it has.
func (s *Store) PruneRollouts(ctx context.Context, then time.Time, limit int) (n int64, err error) {
	return s.pruneWithParts(ctx, "rollouts", oldRollouts, then, limit,
		`DELETE FROM rollout_robots WHERE rollout = $1`, `DELETE FROM rollout_waves WHERE rollout = $1`, `DELETE FROM rollouts WHERE id = $1`)
}

// pruneWithParts deletes what a query lists by id, with the number of its parts, by these statements.
func (s *Store) pruneWithParts(ctx context.Context, what, query string, then time.Time, limit int,
	statements ...string) (n int64, err error) {
	type sized struct {
		id    string
		parts int
	}
	err = s.plainTx(ctx, func(tx *Tx) error {
		n = 0
		old, err := queryAll(ctx, tx.reads, func(scan func(...any) error) (b sized, err error) { return b, scan(&b.id, &b.parts) },
			query, micros(then), batchesAtOnce)
		if err != nil {
			return err
		}
		rows := 0
		for _, b := range old {
			if rows > 0 && rows+b.parts+1 > limit {
				break
			}
			rows += b.parts + 1
			for _, statement := range statements {
				removed, err := tx.exec(ctx, statement, b.id)
				if err != nil {
					return err
				}
				n += removed
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("prune %s: %w", what, err)
	}
	return n, nil
}
