package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/command"
)

// noteOutcomes adds to the audit how those batches of these commands ended that have no other
// command in progress. A batch with unanswered commands counts as ended, and gets a further
// entry if an answer comes after all.
func (t *Tx) noteOutcomes(ctx context.Context, commands []command.Command) error {
	ended, now := map[string]bool{}, time.Time{}
	for _, c := range commands {
		if c.State.Settled() {
			ended[c.Batch] = ended[c.Batch] || c.State.Final()
		}
		for _, at := range []time.Time{c.EndedAt, c.QueriedAt, c.SentAt, c.CreatedAt} {
			if at.After(now) {
				now = at
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ended)) {
		n, err := t.exec(ctx, `UPDATE batches SET outcome_at = $2 WHERE id = $1 AND (outcome_at = 0 OR $3 = 1)
			AND NOT EXISTS (SELECT 1 FROM commands WHERE batch = $1 AND ended_at = 0 AND state <> 'UNKNOWN')`, id, micros(now), boolToInt(ended[id]))
		if err != nil {
			return fmt.Errorf("mark the end of batch %s: %w", id, err)
		}
		if n == 0 {
			continue
		}
		b, err := t.Batch(ctx, id)
		if err != nil {
			return err
		}
		ends, err := queryAll(ctx, t.reads, func(scan func(...any) error) (e command.End, err error) {
			return e, scan(&e.State, &e.Because, &e.Count, &e.Robot)
		}, `SELECT state, because, count(*), min(robot) FROM commands WHERE batch = $1 GROUP BY state, because ORDER BY count(*) DESC, state, because`, id)
		if err != nil {
			return fmt.Errorf("read how batch %s ended: %w", id, err)
		}
		own, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make an id for an audit entry: %w", err)
		}
		note := command.EndedNote(b, ends)
		note.Of = id
		t.NoteAs(ctx, own.String(), now, note)
	}
	return nil
}
