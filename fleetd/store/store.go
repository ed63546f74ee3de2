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
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/schema"
)

// Errors that callers distinguish with errors.Is.
var (
	ErrNotFound = errors.New("not found")                                     // there is no row of this name
	ErrConflict = errors.New("changed by somebody else")                      // the row is no longer as the caller read it
	ErrInUse    = errors.New("another program already uses this SQLite file") // an SQLite file has one instance
	ErrBusy     = errors.New("the database is too busy; nothing was changed") // after several attempts
	ErrNewer    = errors.New("the database is newer than this fleetd")        // a later version migrated it
	ErrOlder    = errors.New("the database is older than this fleetd reads")  // a version before the first release created it
	ErrDamaged  = errors.New("the database is damaged")                       // found by the check at the start, before any write
	ErrTimeout  = errors.New("the database does not answer")                  // no answer in time; nothing was changed
	// ErrOutcomeUnknown: the connection was lost, or timed out, between the request to commit and
	// the answer to it.
	ErrOutcomeUnknown = errors.New("the database did not say whether it committed")
)

// retries bounds the attempts of a transaction that conflicts with others.
const retries = 8

//go:embed migrations/*.sql
var migrations embed.FS

// Store is an open database. It is safe for concurrent use.
type Store struct {
	reads
	dialect   dialect
	pools     pools
	fleetID   string
	leading   atomic.Bool                // with SQLite: this process leads
	candidate atomic.Pointer[LeaderLock] // holds a connection, waits for the lock of the leader
	// The keys that sign desired documents; nil = documents are not signed.
	key, release ed25519.PrivateKey
	chain        chain                                                         // of the audit log
	reported     func(robot string, topic schema.TopicKind) schema.ReportedRev // what robots report; nil = nothing
	// beforeStatement is called before each statement of a transaction, and before its commit; nil = nothing is.
	beforeStatement func() error
	measure         func(context.Context) (end func(error)) // see MeasureTransactions; nil = nothing measures
}

// SetBeforeStatement is for tests, which end a transaction between two of its statements: f is called before each of them,
// and before the commit, and its error ends the transaction like the end of the process.
func (s *Store) SetBeforeStatement(f func() error) { s.beforeStatement = f }

// Open opens the database at address, which is sqlite:PATH or postgres://..., and applies
// the migrations that it lacks. A new database gets its own fleet id and now as its time of
// creation. Errors never contain the password of the address.
func Open(ctx context.Context, address string, now time.Time, log *slog.Logger) (*Store, error) {
	return OpenOver(ctx, address, now, log, nil)
}

// Dialer opens a connection to a PostgreSQL server.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// OpenOver is Open with the connections of dial to PostgreSQL; nil is the network's.
func OpenOver(ctx context.Context, address string, now time.Time, log *slog.Logger, dial Dialer) (*Store, error) {
	d, p, err := open(ctx, address, log, dial)
	if err != nil {
		return nil, err
	}
	p.close = sync.OnceValue(p.close)
	s := &Store{reads: reads{p.read}, dialect: d, pools: p, chain: chain{turn: make(chan struct{}, 1), head: p.head}}
	if err := s.start(ctx, now, log); err != nil {
		return nil, errors.Join(err, p.close())
	}
	if p.markBegun != nil {
		if err := p.markBegun(); err != nil {
			log.Warn("lock file not marked: if the database file is lost, the next start begins a new fleet", "error", err)
		}
	}
	return s, nil
}

// Close ends all connections and, with SQLite, releases the lock of the file. A second call
// does nothing.
func (s *Store) Close() error {
	if l := s.candidate.Swap(nil); l != nil {
		l.Drop()
	}
	return s.pools.close()
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.pools.write.PingContext(ctx) }

// CheckWrite reports whether the database accepts a write; with a full disk or on a
// read-only server Ping still succeeds. It changes nothing.
func (s *Store) CheckWrite(ctx context.Context) error {
	return s.plainTx(ctx, func(tx *Tx) error {
		n, err := tx.exec(ctx, `UPDATE fleet SET created_at = created_at WHERE only_row = 1`)
		return expectOne(n, err, "the fleet's row")
	})
}

// FleetID names this database to robots. It is created with the database and never changes.
func (s *Store) FleetID() string { return s.fleetID }

// Dialect is postgres or sqlite.
func (s *Store) Dialect() string { return s.dialect.name }

// SingleInstance reports whether no other instance can use the database.
func (s *Store) SingleInstance() bool { return s.pools.connect == nil }

func (s *Store) start(ctx context.Context, now time.Time, log *slog.Logger) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	options := []goose.ProviderOption{goose.WithSlog(log), goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(s.fillRefs(), s.linkAll())}
	if s.dialect.migrateLocked {
		if err := s.pools.makeSchema(ctx); err != nil {
			return err
		}
		locker, err := s.pools.locker()
		if err != nil {
			return err
		}
		options = append(options, locker)
	}
	provider, err := goose.NewProvider(s.dialect.goose, s.pools.write, files, options...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if err := s.awaitReadable(ctx, provider); err != nil { // before any write
		return err
	}
	done, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	if err := s.refuseUnreadable(ctx, provider); err != nil { // another instance migrated while this one waited for the lock
		return err
	}
	for _, step := range done {
		log.Info("database migrated", "version", step.Source.Version, "took", step.Duration)
	}
	return s.Tx(ctx, func(tx *Tx) error {
		_, err := tx.exec(ctx, `INSERT INTO fleet (only_row, fleet_id, outbox_seq, created_at)
			VALUES (1, $1, 0, $2) ON CONFLICT (only_row) DO NOTHING`, uuid.NewString(), micros(now))
		if err != nil {
			return fmt.Errorf("write the fleet id: %w", err)
		}
		return tx.queryRow(ctx, `SELECT fleet_id FROM fleet WHERE only_row = 1`).Scan(&s.fleetID)
	})
}

// oldestVersion is the oldest schema version that this fleetd can read: that of the first
// release, which the first migration creates.
const oldestVersion = 10

// An instance asks every migrationPoll how far another one has migrated the database. It gives up
// after maxIdlePolls without a new version.
const (
	migrationPoll = 100 * time.Millisecond
	maxIdlePolls  = 20
)

// awaitReadable is refuseUnreadable, except that it waits while an instance of an earlier release
// creates the database at this moment: that one passes through the versions before oldestVersion.
func (s *Store) awaitReadable(ctx context.Context, provider *goose.Provider) error {
	poll := time.NewTicker(migrationPoll)
	defer poll.Stop()
	version, idle := int64(-1), 0
	for {
		err := s.refuseUnreadable(ctx, provider)
		if !s.dialect.migrateLocked || !errors.Is(err, ErrOlder) {
			return err
		}
		now, _, failed := provider.GetVersions(ctx)
		if failed != nil {
			return fmt.Errorf("read the database's version: %w", failed)
		}
		if now != version {
			version, idle = now, 0
		} else if idle++; idle >= maxIdlePolls {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for another instance to migrate the database: %w", context.Cause(ctx))
		case <-poll.C:
		}
	}
}

// refuseUnreadable returns ErrNewer if a later version of fleetd migrated the database, since
// this one does not know what the tables mean now, and ErrOlder if a version before the
// first release created it.
func (s *Store) refuseUnreadable(ctx context.Context, provider *goose.Provider) error {
	current, known, err := provider.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read the database's version: %w", err)
	case current > known:
		return fmt.Errorf("open %s: %w: its schema version is %d, and this fleetd knows versions up to %d; "+
			"run the fleetd that made it or a later one, or restore the backup from before the upgrade",
			s.pools.place, ErrNewer, current, known)
	case current > 0 && current < oldestVersion:
		return fmt.Errorf("open %s: %w: its schema version is %d, and this fleetd reads versions from %d; run the fleetd that created it, "+
			"or begin with an empty database and publish the stories again",
			s.pools.place, ErrOlder, current, oldestVersion)
	}
	return nil
}

// Tx is one transaction: its writes happen all or not at all. In a transaction of Store.Tx, which
// is serializable, nobody else changes what it has read before it commits. It has every query of
// the Store.
type Tx struct {
	reads
	tx    *sql.Tx
	store *Store
	actor auth.Principal // of the notes
	notes []audit.Entry  // that link writes just before the commit
	bound bool           // see boundLocks
}

// Tx runs do in a transaction and commits if do returns nil. If the transaction conflicts
// with another one, do runs again: it must have no effect but through tx, and must not use
// the store itself. After several conflicts the error is ErrBusy.
func (s *Store) Tx(ctx context.Context, do func(tx *Tx) error) error {
	return s.transact(ctx, s.dialect.isolation, do)
}

// plainTx is Tx for writes that do not depend on what they read, in the default isolation of
// the database, which costs less than the serializable one.
func (s *Store) plainTx(ctx context.Context, do func(tx *Tx) error) error {
	return s.transact(ctx, sql.LevelDefault, do)
}

func (s *Store) transact(ctx context.Context, isolation sql.IsolationLevel, do func(tx *Tx) error) (err error) {
	if s.measure != nil {
		end := s.measure(ctx)
		defer func() { end(err) }()
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval, wait.RandomizationFactor = 5*time.Millisecond, 250*time.Millisecond, 0.9
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		err := s.tryOnce(ctx, isolation, do)
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

func (s *Store) tryOnce(ctx context.Context, isolation sql.IsolationLevel, do func(tx *Tx) error) error {
	timeout := queryTimeoutOf(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(timeout, func() { cancel(ErrTimeout) })
	defer timer.Stop()
	// The driver reports our time-out as context.Canceled, as if the caller had cancelled.
	withCause := func(err error) error {
		if errors.Is(context.Cause(ctx), ErrTimeout) {
			return fmt.Errorf("%w: %v", ErrTimeout, err)
		}
		return err
	}
	tx, err := s.pools.write.BeginTx(ctx, &sql.TxOptions{Isolation: isolation})
	if err != nil {
		return fmt.Errorf("begin: %w", withCause(err))
	}
	timer.Stop()
	defer tx.Rollback() // does nothing after a commit
	t := &Tx{reads: reads{tx}, tx: tx, store: s}
	if s.beforeStatement != nil {
		t.reads = reads{interruptible{tx, s}}
	}
	if err := do(t); err != nil {
		return withCause(err)
	}
	free, err := t.link(ctx)
	defer free()
	if err != nil {
		return withCause(err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("commit: %w", withCause(ctx.Err()))
	}
	if err := s.interrupted(); err != nil {
		return err
	}
	timer.Reset(timeout)
	switch err := tx.Commit(); {
	case err == nil:
		return nil
	case s.dialect.refusesCommit(err):
		return fmt.Errorf("commit: %w", err)
	default:
		return fmt.Errorf("commit: %w: %v", ErrOutcomeUnknown, err)
	}
}

// interrupted is the error of SetBeforeStatement, with which a transaction ends.
func (s *Store) interrupted() error {
	if s.beforeStatement == nil {
		return nil
	}
	return s.beforeStatement()
}

// interruptible is a transaction whose queries SetBeforeStatement can end.
type interruptible struct {
	*sql.Tx
	store *Store
}

func (i interruptible) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := i.store.interrupted(); err != nil {
		return nil, err
	}
	return i.Tx.QueryContext(ctx, query, args...)
}

// QueryRowContext has no error to return, so it asks for one with a context that has ended.
func (i interruptible) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := i.store.interrupted(); err != nil {
		ended, cancel := context.WithCancelCause(ctx)
		cancel(err)
		ctx = ended
	}
	return i.Tx.QueryRowContext(ctx, query, args...)
}

// An instance that hangs in a transaction keeps its locks. The server ends it after idleTimeout, and
// its transactions that still wait for a lock by then after lockTimeout: otherwise each of them
// would get the lock in its turn and keep it for as long. So together they delay the other
// instances by less than 3 s.
const boundLocks = `SELECT set_config('lock_timeout', '1400ms', true), set_config('idle_in_transaction_session_timeout', '1500ms', true)`

// boundLocks is called before the first statement of a transaction that locks rows. What a
// transaction computes before that blocks nobody, and may take longer.
func (t *Tx) boundLocks(ctx context.Context) error {
	if t.bound || !t.store.dialect.shared {
		return nil
	}
	ctx, done := withTimeout(ctx)
	defer done()
	if _, err := t.tx.ExecContext(ctx, boundLocks); err != nil {
		return fmt.Errorf("bound the locks of a transaction: %w", err)
	}
	t.bound = true
	return nil
}

func (t *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.boundLocks(ctx); err != nil {
		return 0, err
	}
	if err := t.store.interrupted(); err != nil {
		return 0, err
	}
	ctx, done := withTimeout(ctx)
	defer done()
	result, err := t.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// expectOne returns ErrConflict unless one row was written.
func expectOne(n int64, err error, what string) error { return expectRows(1, n, err, what) }

// expectRows returns ErrConflict unless want rows were written.
func expectRows(want, n int64, err error, what string) error {
	if err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	if n != want {
		return fmt.Errorf("write %s: %w", what, ErrConflict)
	}
	return nil
}
