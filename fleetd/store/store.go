package store

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	"troupe/schema"
)

// Answers that callers tell apart with errors.Is.
var (
	ErrNotFound = errors.New("not found")                                     // nothing of this name is stored
	ErrConflict = errors.New("changed by somebody else")                      // it is no longer as the caller saw it
	ErrInUse    = errors.New("another program already uses this SQLite file") // one instance a file
	ErrBusy     = errors.New("the database is too busy; nothing was changed") // tried several times
	ErrNewer    = errors.New("the database is newer than this fleetd")        // a later version has migrated it
	ErrOlder    = errors.New("the database is older than this fleetd reads")  // a version before the first release made it
	ErrDamaged  = errors.New("the database is damaged")                       // found at the start, before anything was written
	ErrSilent   = errors.New("the database does not answer")                  // given up; nothing was changed
	// ErrUnknown: the connection was lost, or given up, between the request to commit
	// and its answer.
	ErrUnknown = errors.New("the database did not say whether it committed")
)

// retries bounds how often a transaction that met another one is run again.
const retries = 8

//go:embed migrations/*.sql
var migrations embed.FS

// Store is an open database. It may be used by any number of goroutines.
type Store struct {
	reads
	dialect dialect
	pools   pools
	fleetID string
	led     atomic.Bool          // with SQLite: somebody leads
	asking  atomic.Pointer[Lead] // asked for the lock and did not get it
	// What signs the desired documents that are planned; nil = they are not signed.
	key, release ed25519.PrivateKey
	heard        func(robot string, topic schema.TopicKind) schema.ReportedRev // nil = nothing was heard
}

// Open opens the database at address, which is sqlite:PATH or postgres://...,
// and brings its tables up to date. A new database gets a fleet id of its own.
// Errors never hold the address's password. now is when a new
// database was made.
func Open(ctx context.Context, address string, now time.Time, log *slog.Logger) (*Store, error) {
	d, p, err := open(ctx, address, log)
	if err != nil {
		return nil, err
	}
	p.close = sync.OnceValue(p.close)
	s := &Store{reads: reads{p.read}, dialect: d, pools: p}
	if err := s.start(ctx, now, log); err != nil {
		return nil, errors.Join(err, p.close())
	}
	if p.begun != nil {
		if err := p.begun(); err != nil {
			log.Warn("lock of the database not marked: if the file is lost, the next start begins a new fleet", "error", err)
		}
	}
	return s, nil
}

// Close ends all connections and, with SQLite, lets the next program in. A
// second call does nothing.
func (s *Store) Close() error {
	if l := s.asking.Swap(nil); l != nil {
		l.Drop()
	}
	return s.pools.close()
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.pools.write.PingContext(ctx) }

// CheckWrite reports whether the database takes a change: a full disk and a
// read-only server answer a Ping. It changes nothing.
func (s *Store) CheckWrite(ctx context.Context) error {
	return s.batch(ctx, func(tx *Tx) error {
		n, err := tx.exec(ctx, `UPDATE fleet SET created_at = created_at WHERE only_row = 1`)
		return expectOne(n, err, "the fleet's row")
	})
}

// FleetID names this database to robots. It is made once and never changes.
func (s *Store) FleetID() string { return s.fleetID }

// Dialect is postgres or sqlite.
func (s *Store) Dialect() string { return s.dialect.name }

// Alone reports whether no other fleetd can use the database.
func (s *Store) Alone() bool { return s.pools.connect == nil }

func (s *Store) start(ctx context.Context, now time.Time, log *slog.Logger) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	options := []goose.ProviderOption{goose.WithSlog(log), goose.WithDisableGlobalRegistry(true)}
	if s.dialect.migrateLocked {
		locker, err := s.dialect.locker()
		if err != nil {
			return err
		}
		options = append(options, locker)
	}
	provider, err := goose.NewProvider(s.dialect.goose, s.pools.write, files, options...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if err := s.refuseUnreadable(ctx, provider); err != nil { // before anything is written
		return err
	}
	done, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("bring the tables up to date: %w", err)
	}
	if err := s.refuseUnreadable(ctx, provider); err != nil { // another instance migrated while this one waited for the lock
		return err
	}
	for _, step := range done {
		log.Info("database migrated", "step", step.Source.Path, "took", step.Duration)
	}
	return s.Tx(ctx, func(tx *Tx) error {
		_, err := tx.exec(ctx, `INSERT INTO fleet (only_row, fleet_id, outbox_seq, created_at)
			VALUES (1, $1, 0, $2) ON CONFLICT (only_row) DO NOTHING`, uuid.NewString(), micros(now))
		if err != nil {
			return fmt.Errorf("name the fleet: %w", err)
		}
		return tx.row(ctx, `SELECT fleet_id FROM fleet WHERE only_row = 1`).Scan(&s.fleetID)
	})
}

// oldestVersion is the first version of the database whose documents are read.
const oldestVersion = 10

// refuseUnreadable answers ErrNewer if a later version of fleetd has migrated the
// database: what its tables mean to that version is not known here. It answers
// ErrOlder if a version before the first release made it.
func (s *Store) refuseUnreadable(ctx context.Context, provider *goose.Provider) error {
	current, known, err := provider.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read the database's version: %w", err)
	case current > known:
		return fmt.Errorf("open %s: %w: its schema version is %d, and this fleetd knows versions up to %d; run the fleetd that made it or a later one, or restore the backup from before the upgrade",
			s.pools.place, ErrNewer, current, known)
	case current > 0 && current < oldestVersion:
		return fmt.Errorf("open %s: %w: its schema version is %d, and this fleetd reads versions from %d; run the fleetd that made it, or begin with an empty database and publish the stories again",
			s.pools.place, ErrOlder, current, oldestVersion)
	}
	return nil
}

// Tx is one transaction: all of what is done in it happens, or none. What it
// reads is what it writes over, as if no other ran beside it. It also answers
// every question of the store.
type Tx struct {
	reads
	tx    *sql.Tx
	store *Store
}

// Tx runs do in a transaction and commits if do returns nil. When it met
// another transaction it is run again, so do must have no other effect than
// through tx and may not use the store itself. After several such meetings it
// answers ErrBusy.
func (s *Store) Tx(ctx context.Context, do func(tx *Tx) error) error {
	return s.transact(ctx, s.dialect.isolation, do)
}

// batch is Tx for writes that decide nothing from what they read: rows of many
// robots in one commit, without the price of serial isolation.
func (s *Store) batch(ctx context.Context, do func(tx *Tx) error) error {
	return s.transact(ctx, sql.LevelDefault, do)
}

func (s *Store) transact(ctx context.Context, isolation sql.IsolationLevel, do func(tx *Tx) error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval, wait.RandomizationFactor = 5*time.Millisecond, 250*time.Millisecond, 0.9
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := s.once(ctx, isolation, do)
		if err != nil && !s.dialect.isRetryable(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(retries))
	var final *backoff.PermanentError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &final):
		err = final.Unwrap()
	case s.dialect.isRetryable(err):
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	switch {
	case s.dialect.isTaken(err):
		return fmt.Errorf("%w: %w", ErrConflict, err)
	case s.dialect.isMissing(err):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

func (s *Store) once(ctx context.Context, isolation sql.IsolationLevel, do func(tx *Tx) error) error {
	patience := patienceOf(ctx)
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	silent := time.AfterFunc(patience, func() { giveUp(ErrSilent) })
	defer silent.Stop()
	// What was given up here comes back as context.Canceled, as if the caller had left.
	givenUp := func(err error) error {
		if errors.Is(context.Cause(ctx), ErrSilent) {
			return fmt.Errorf("%w: %v", ErrSilent, err)
		}
		return err
	}
	tx, err := s.pools.write.BeginTx(ctx, &sql.TxOptions{Isolation: isolation})
	if err != nil {
		return fmt.Errorf("begin: %w", givenUp(err))
	}
	silent.Stop()
	defer tx.Rollback() // after a commit it does nothing
	if err := do(&Tx{reads{tx}, tx, s}); err != nil {
		return givenUp(err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("commit: %w", givenUp(ctx.Err()))
	}
	silent.Reset(patience)
	switch err := tx.Commit(); {
	case err == nil:
		return nil
	case s.dialect.refusesCommit(err):
		return fmt.Errorf("commit: %w", err)
	default:
		return fmt.Errorf("commit: %w: %v", ErrUnknown, err)
	}
}

func (t *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, done := within(ctx)
	defer done()
	result, err := t.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// expectOne turns "the row was not as expected" into a conflict.
func expectOne(n int64, err error, what string) error { return expect(1, n, err, what) }

// expect turns "not all rows were as expected" into a conflict.
func expect(want, n int64, err error, what string) error {
	if err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	if n != want {
		return fmt.Errorf("write %s: %w", what, ErrConflict)
	}
	return nil
}
