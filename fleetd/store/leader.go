package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// leaderLock is the advisory lock of whoever leads; advisory locks are numbers, and
// each database has its own.
const leaderLock = 0x74726f757065 // "troupe"

const (
	// hangs is after how much silence the server takes a leader for one that hangs,
	// and ends its session.
	hangs = "10s"

	undefinedParameter = "42704"
)

// Leader is fleetd that leads, or that led last.
type Leader struct {
	Term       int64 // 0 = nobody ever led
	Name       string
	Since      time.Time
	ResignedAt time.Time // zero = it did not say that it writes no more
}

// Lead is the lock that one of several fleetd instances holds while it leads. It lasts as long
// as its own connection to the database: a fleetd instance that dies releases it.
type Lead struct {
	Term int64

	store *Store
	conn  *pgx.Conn // nil with SQLite, where the file is locked already
	over  atomic.Bool
}

// Lead tries to become fleetd that leads, and answers nil if another is. The
// leader is then that other one, and else the one before.
func (s *Store) Lead(ctx context.Context, name string, now time.Time) (*Lead, Leader, error) {
	if s.pools.connect == nil {
		return s.leadAlone(ctx, name, now)
	}
	l, ours, err := s.candidate(ctx)
	if err != nil {
		return nil, Leader{}, fmt.Errorf("ask for the lead: %w", err)
	}
	news, err := s.News(ctx)
	switch {
	case err != nil:
		l.Drop()
		return nil, Leader{}, err
	case !ours:
		s.asking.Store(l) // asks again over the same connection
		return nil, news.Leader, nil
	}
	// Over the lock's own connection: without the lock it does not happen.
	err = l.conn.QueryRow(ctx, beginTerm, name, micros(now)).Scan(&l.Term)
	if err != nil {
		l.Drop()
		return nil, Leader{}, fmt.Errorf("write down who leads: %w", err)
	}
	return l, news.Leader, nil
}

// candidate asks for the lock over a connection of its own, and over the same one
// each time, and reports whether it was given.
func (s *Store) candidate(ctx context.Context) (l *Lead, ours bool, err error) {
	if l = s.asking.Swap(nil); l != nil {
		if ours, err = l.ask(ctx); err == nil {
			return l, ours, nil
		}
		l.Drop() // the server may have ended it while nobody asked
	}
	conn, err := s.pools.connect(ctx)
	if err != nil {
		return nil, false, err
	}
	l = &Lead{store: s, conn: conn}
	// A program that hangs keeps its connection, and would keep the lock. Servers
	// before version 14 cannot see to that.
	if _, err := conn.Exec(ctx, "SET idle_session_timeout = '"+hangs+"'"); err != nil && pgCode(err) != undefinedParameter {
		l.Drop()
		return nil, false, err
	}
	if ours, err = l.ask(ctx); err != nil {
		l.Drop()
		return nil, false, err
	}
	return l, ours, nil
}

func (l *Lead) ask(ctx context.Context) (ours bool, err error) {
	err = l.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, int64(leaderLock)).Scan(&ours)
	return ours, err
}

const beginTerm = `INSERT INTO leader (only_row, term, name, since, resigned_at) VALUES (1, 1, $1, $2, 0)
	ON CONFLICT (only_row) DO UPDATE SET term = leader.term + 1, name = excluded.name, since = excluded.since, resigned_at = 0 RETURNING term`

// leadAlone leads where there can be no other fleetd.
func (s *Store) leadAlone(ctx context.Context, name string, now time.Time) (*Lead, Leader, error) {
	l, before := &Lead{store: s}, Leader{}
	taken := !s.led.CompareAndSwap(false, true)
	err := s.Tx(ctx, func(tx *Tx) error {
		news, err := tx.News(ctx)
		if before = news.Leader; err != nil || taken {
			return err
		}
		return tx.row(ctx, beginTerm, name, micros(now)).Scan(&l.Term)
	})
	if taken || err != nil {
		if !taken {
			s.led.Store(false)
		}
		return nil, before, err
	}
	return l, before, nil
}

// ErrLeadLost is why Hold ends.
var ErrLeadLost = errors.New("the lead is lost")

// Hold waits for rest, and then proves by a round trip that the lock is still ours.
// It ends at once with ErrLeadLost when the lock's connection does, and when the
// round trip takes longer than within. When ctx ends, the lock stays ours: a round
// trip under way is finished first. Only one goroutine may hold.
func (l *Lead) Hold(ctx context.Context, rest, within time.Duration) error {
	if l.over.Load() {
		return ErrLeadLost
	}
	wait, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	if l.conn == nil {
		<-wait.Done()
		return ctx.Err()
	}
	_, err := l.conn.WaitForNotification(wait) // reads, so that it hears the end
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && (wait.Err() == nil || l.conn.IsClosed()) {
		return fmt.Errorf("%w: %w", ErrLeadLost, err)
	}
	// A round trip that is broken off takes the connection with it, and so the lock.
	prove, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	if err := l.conn.Ping(prove); err != nil {
		return fmt.Errorf("%w: %w", ErrLeadLost, err)
	}
	return nil
}

// Resign releases the lock and, if it is still ours, notes that nothing more is
// written under it, so that nobody has to wait.
func (l *Lead) Resign(ctx context.Context, now time.Time) error {
	if l.over.Load() {
		return nil
	}
	defer l.Drop()
	const note = `UPDATE leader SET resigned_at = $2 WHERE term = $1`
	var err error
	if l.conn != nil {
		if _, err = l.conn.Exec(ctx, note, l.Term, micros(now)); err == nil {
			_, err = l.conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, int64(leaderLock)) // now, and not when the server comes to it
		}
	} else {
		err = l.store.batch(ctx, func(tx *Tx) error {
			_, err := tx.exec(ctx, note, l.Term, micros(now))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("resign: %w", err)
	}
	return nil
}

// Drop releases the lock without a word: of one that is lost, or of which nothing
// can be written down.
func (l *Lead) Drop() {
	if l.over.Swap(true) {
		return
	}
	if l.conn == nil {
		l.store.led.Store(false)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = l.conn.Close(ctx) // however it ends, it ends
}

// News is what a fleetd instance looks at often: whether anything changed that it keeps in
// mind, and who leads.
type News struct {
	Changes int64 // another number = something changed
	Leader  Leader
}

// News reads it.
func (r reads) News(ctx context.Context) (n News, err error) {
	var since, resigned int64
	err = r.row(ctx, `SELECT f.changes, COALESCE(l.term, 0), COALESCE(l.name, ''), COALESCE(l.since, 0), COALESCE(l.resigned_at, 0)
		FROM fleet f LEFT JOIN leader l ON l.only_row = 1 WHERE f.only_row = 1`).Scan(&n.Changes, &n.Leader.Term, &n.Leader.Name, &since, &resigned)
	if err != nil {
		return n, fmt.Errorf("look for news: %w", err)
	}
	n.Leader.Since, n.Leader.ResignedAt = timeOf(since), timeOf(resigned)
	return n, nil
}

// changed makes other fleetd instances look again.
func (t *Tx) changed(ctx context.Context) error {
	if _, err := t.exec(ctx, `UPDATE fleet SET changes = changes + 1 WHERE only_row = 1`); err != nil {
		return fmt.Errorf("note a change: %w", err)
	}
	return nil
}
