package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"troupe/fleetd/selector"
)

// leaderLock is the number of the leader's advisory lock, see pgSchema.lockNumber.
const leaderLock = 0x74726f757065 // "troupe"

const (
	// idleSessionTimeout is how long the connection of a leader may be silent before the
	// server ends it: such a leader hangs. It is longer than leader.Trust.
	idleSessionTimeout = "5s"

	undefinedParameter = "42704"
)

// Leader is the instance that leads, or that led last.
type Leader struct {
	Term       int64 // 0 = no instance ever led
	Name       string
	Since      time.Time
	ResignedAt time.Time // zero = it did not resign: it may still write
}

// LeaderLock is the lock that the leading instance has. It lasts as long as its own connection to
// the database, so an instance that dies releases it.
type LeaderLock struct {
	Term int64

	store    *Store
	conn     *pgx.Conn // nil with SQLite, where the file is locked already
	released atomic.Bool
}

// TryLead tries to get the leader lock, and returns nil if another instance leads. The Leader is
// that instance, or else the one before.
func (s *Store) TryLead(ctx context.Context, name string, now time.Time) (*LeaderLock, Leader, error) {
	if s.pools.connect == nil {
		return s.leadAlone(ctx, name, now)
	}
	l, held, err := s.requestLock(ctx)
	if err != nil {
		return nil, Leader{}, fmt.Errorf("request the leader lock: %w", err)
	}
	// Over the connection of the lock: if the lock is lost, this fails. The connections of the pool
	// may all wait for a transaction of an instance that hangs.
	before, err := l.lastLeader(ctx)
	switch {
	case err != nil:
		l.Drop()
		return nil, Leader{}, err
	case !held:
		s.candidate.Store(l) // for the next attempt
		return nil, before, nil
	}
	err = l.conn.QueryRow(ctx, beginTerm, name, micros(now)).Scan(&l.Term)
	if err != nil {
		l.Drop()
		return nil, Leader{}, fmt.Errorf("write the new leader: %w", err)
	}
	return l, before, nil
}

func (l *LeaderLock) lastLeader(ctx context.Context) (last Leader, err error) {
	var began, resigned int64
	err = l.conn.QueryRow(ctx, `SELECT term, name, since, resigned_at FROM leader WHERE only_row = 1`).Scan(&last.Term, &last.Name, &began,
		&resigned)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return Leader{}, fmt.Errorf("read the leader: %w", err)
	}
	last.Since, last.ResignedAt = timeOf(began), timeOf(resigned)
	return last, nil
}

// requestLock tries to get the lock over a connection outside the pools, which it keeps for
// the next attempt, and reports whether it has the lock.
func (s *Store) requestLock(ctx context.Context) (l *LeaderLock, held bool, err error) {
	if l = s.candidate.Swap(nil); l != nil {
		if held, err = l.tryLock(ctx); err == nil {
			return l, held, nil
		}
		l.Drop() // the server may have ended the connection meanwhile
	}
	conn, err := s.pools.connect(ctx)
	if err != nil {
		return nil, false, err
	}
	l = &LeaderLock{store: s, conn: conn}
	// A program that hangs would keep its connection, and with it the lock. Servers before
	// version 14 lack this setting.
	if _, err := conn.Exec(ctx, "SET idle_session_timeout = '"+idleSessionTimeout+"'"); err != nil && pgCode(err) != undefinedParameter {
		l.Drop()
		return nil, false, err
	}
	if held, err = l.tryLock(ctx); err != nil {
		l.Drop()
		return nil, false, err
	}
	return l, held, nil
}

func (l *LeaderLock) tryLock(ctx context.Context) (held bool, err error) {
	err = l.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, l.store.pools.schema.lockNumber(leaderLock)).Scan(&held)
	return held, err
}

const beginTerm = `INSERT INTO leader (only_row, term, name, since, resigned_at) VALUES (1, 1, $1, $2, 0)
	ON CONFLICT (only_row) DO UPDATE SET term = leader.term + 1, name = excluded.name, since = excluded.since, resigned_at = 0 RETURNING term`

// leadAlone leads where no other instance can use the database.
func (s *Store) leadAlone(ctx context.Context, name string, now time.Time) (*LeaderLock, Leader, error) {
	l, before := &LeaderLock{store: s}, Leader{}
	taken := !s.leading.CompareAndSwap(false, true)
	err := s.Tx(ctx, func(tx *Tx) error {
		news, err := tx.Poll(ctx, PollResult{})
		if before = news.Leader; err != nil || taken {
			return err
		}
		return tx.queryRow(ctx, beginTerm, name, micros(now)).Scan(&l.Term)
	})
	if taken || err != nil {
		if !taken {
			s.leading.Store(false)
		}
		return nil, before, err
	}
	return l, before, nil
}

// ErrLeadLost is returned by Hold when the lock is lost.
var ErrLeadLost = errors.New("the lead is lost")

// Hold waits for the pause and then checks by a round trip to the server that the lock is still
// held. It returns ErrLeadLost as soon as the connection of the lock breaks, or if the round
// trip takes longer than within. If ctx ends, the lock is kept: a round trip that has begun
// is finished first. Only one goroutine may call Hold.
func (l *LeaderLock) Hold(ctx context.Context, pause, within time.Duration) error {
	if l.released.Load() {
		return ErrLeadLost
	}
	wait, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	if l.conn == nil {
		<-wait.Done()
		return ctx.Err()
	}
	_, err := l.conn.WaitForNotification(wait) // reads, so that it notices the end of the connection
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && (wait.Err() == nil || l.conn.IsClosed()) {
		return fmt.Errorf("%w: %w", ErrLeadLost, err)
	}
	// Cancelling a round trip would close the connection and so release the lock.
	roundTrip, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	if err := l.conn.Ping(roundTrip); err != nil {
		return fmt.Errorf("%w: %w", ErrLeadLost, err)
	}
	return nil
}

// Resign releases the lock. If it is still held, Resign first records that this leader writes
// no more, so that the next one need not wait.
func (l *LeaderLock) Resign(ctx context.Context, now time.Time) error {
	if l.released.Load() {
		return nil
	}
	defer l.Drop()
	const note = `UPDATE leader SET resigned_at = $2 WHERE term = $1`
	var err error
	if l.conn != nil {
		if _, err = l.conn.Exec(ctx, note, l.Term, micros(now)); err == nil {
			// at once, not only when the server notices the closed connection
			_, err = l.conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, l.store.pools.schema.lockNumber(leaderLock))
		}
	} else {
		err = l.store.plainTx(ctx, func(tx *Tx) error {
			_, err := tx.exec(ctx, note, l.Term, micros(now))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("resign: %w", err)
	}
	return nil
}

// Drop releases the lock without a record, if the lock is lost or the record cannot be
// written.
func (l *LeaderLock) Drop() {
	if l.released.Swap(true) {
		return
	}
	if l.conn == nil {
		l.store.leading.Store(false)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = l.conn.Close(ctx) // the connection is gone either way
}

// PollResult is what an instance polls: which rows changed that it caches, and who leads.
type PollResult struct {
	Changes int64 // rises with every change
	Leader  Leader

	// Robots are those that changed since the change that was asked for, unless All is set:
	// one left the fleet, they are more than selector.MaxIDs, or a change named none.
	Robots []string
	All    bool

	unnamed int64 // changes by instances that do not name the robots
}

// Poll reads what changed since the result since; the zero value asks for everything.
func (r reads) Poll(ctx context.Context, since PollResult) (n PollResult, err error) {
	after := since.Changes
	if after == 0 {
		after = math.MaxInt64 // everything is read: no names
	}
	type row struct {
		PollResult
		robot string
		gone  bool
	}
	rows, err := queryAll(ctx, r, func(scan func(...any) error) (w row, err error) {
		var began, resigned, named int64
		err = scan(&w.Changes, &named, &w.Leader.Term, &w.Leader.Name, &began, &resigned, &w.robot, &w.gone)
		w.Leader.Since, w.Leader.ResignedAt, w.unnamed = timeOf(began), timeOf(resigned), w.Changes-named
		return w, err
	}, `SELECT f.changes, f.named_changes, COALESCE(l.term, 0), COALESCE(l.name, ''), COALESCE(l.since, 0), COALESCE(l.resigned_at, 0),
			COALESCE(c.robot, ''), COALESCE(r.archived_at, 0) > 0
		FROM fleet f
		LEFT JOIN leader l ON l.only_row = 1
		LEFT JOIN robot_changes c ON c.change > $1
		LEFT JOIN robots r ON r.id = c.robot
		WHERE f.only_row = 1 LIMIT $2`, after, selector.MaxIDs+1)
	if err == nil && len(rows) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return n, fmt.Errorf("read the change counter and the leader: %w", err)
	}
	n = rows[0].PollResult
	n.All = since.Changes == 0 || n.unnamed != since.unnamed || len(rows) > selector.MaxIDs
	for _, w := range rows {
		n.All = n.All || w.gone
		if w.robot != "" {
			n.Robots = append(n.Robots, w.robot)
		}
	}
	return n, nil
}

// countChange makes all instances read again what they cache of robots.
func (t *Tx) countChange(ctx context.Context, robots ...string) error {
	if err := t.boundLocks(ctx); err != nil {
		return err
	}
	var n int64
	if err := t.queryRow(ctx, `UPDATE fleet SET changes = changes + 1, named_changes = named_changes + 1 WHERE only_row = 1 RETURNING changes`).Scan(&n); err != nil {
		return fmt.Errorf("count a change: %w", err)
	}
	columns := append(slices.Clone(robotColumn), number("change", func(string) int64 { return n }))
	if _, err := writeRows(ctx, t, robots, columns, `INSERT INTO robot_changes (robot, change) SELECT robot, change FROM given WHERE true
		ON CONFLICT (robot) DO UPDATE SET change = excluded.change`); err != nil {
		return fmt.Errorf("note the change of %d robots: %w", len(robots), err)
	}
	return nil
}
