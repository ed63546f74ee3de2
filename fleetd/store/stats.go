package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"troupe/fleetd/rollout"
)

// Backlog is what of the outbox the broker does not have yet.
type Backlog struct {
	Messages int64
	Oldest   time.Time // when the oldest of them was added; zero = there is none
}

// Backlog reads how many messages of the outbox wait, and since when.
func (r reads) Backlog(ctx context.Context) (b Backlog, err error) {
	var oldest sql.NullInt64
	if err := r.queryRow(ctx, `SELECT COUNT(*), MIN(created_at) FROM outbox WHERE sent_at = 0`).Scan(&b.Messages, &oldest); err != nil {
		return b, fmt.Errorf("count the outbox: %w", err)
	}
	if oldest.Valid {
		b.Oldest = time.UnixMicro(oldest.Int64)
	}
	return b, nil
}

// RolloutStates counts the rollouts of each state.
func (r reads) RolloutStates(ctx context.Context) (map[rollout.State]int64, error) {
	type counted struct {
		state rollout.State
		n     int64
	}
	rows, err := queryAll(ctx, r, func(scan func(...any) error) (c counted, err error) { return c, scan(&c.state, &c.n) },
		`SELECT state, COUNT(*) FROM rollouts GROUP BY state`)
	if err != nil {
		return nil, fmt.Errorf("count rollouts: %w", err)
	}
	out := map[rollout.State]int64{}
	for _, c := range rows {
		out[c.state] = c.n
	}
	return out, nil
}

// Pools describes the pools of connections by what they are for; with PostgreSQL there is one for both.
func (s *Store) Pools() map[string]sql.DBStats {
	if s.pools.read == s.pools.write {
		return map[string]sql.DBStats{"all": s.pools.read.Stats()}
	}
	return map[string]sql.DBStats{"read": s.pools.read.Stats(), "write": s.pools.write.Stats()}
}

// MeasureTransactions calls begin at the start of each transaction that writes, and what it returns at the end, with the
// error; a caller measures the time between them. ctx is that of the transaction.
func (s *Store) MeasureTransactions(begin func(ctx context.Context) (end func(error))) {
	s.measure = begin
}
