package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"modernc.org/sqlite"
)

// dialect is what differs between the two databases.
type dialect struct {
	name      string
	goose     goose.Dialect
	isolation sql.IsolationLevel
	// migrateLocked: other programs may migrate the same database at the same time.
	migrateLocked bool
	// arrays: a statement takes the values of many rows as one array for each column.
	arrays bool
	// shared: other instances write to the same database, so a transaction that hangs blocks them.
	shared bool
	// isRetryable: the transaction conflicted with another one, or waited for it for too long, and may succeed if repeated.
	isRetryable func(error) bool
	// isMissing: a row that another row references does not exist.
	isMissing func(error) bool
	// isTaken: a row with this key exists already.
	isTaken func(error) bool
	// refusesCommit: this error of a commit means that nothing was committed.
	refusesCommit func(error) bool
}

// pools are the connections of one open store. SQLite has one writer at a time, so the write
// pool has one connection: transactions wait for it in order, whereas SQLite itself would
// poll. With PostgreSQL both pools are the same.
type pools struct {
	read, write *sql.DB
	head        *sql.DB // one connection outside the pools, for the head of the audit log; nil with SQLite
	close       func() error
	place       string // of the database, for error messages; without the password
	schema      pgSchema
	// markBegun records in the lock of an SQLite file that the file holds a fleet; nil with
	// PostgreSQL.
	markBegun func() error
	// connect opens a connection outside the pools, for the lock of the leader; nil where
	// there is only one instance.
	connect func(ctx context.Context) (*pgx.Conn, error)
}

var postgres = dialect{
	name:          "postgres",
	goose:         goose.DialectPostgres,
	isolation:     sql.LevelSerializable,
	migrateLocked: true,
	arrays:        true,
	shared:        true,
	isRetryable: func(err error) bool {
		switch pgCode(err) {
		case "40001", "40P01", // serialization failure, deadlock
			"55P03", "25P03": // the time-outs of boundLocks: for a lock, and idle in a transaction
			return true
		}
		return false
	},
	isMissing: func(err error) bool { return pgCode(err) == "23503" },
	isTaken:   func(err error) bool { return pgCode(err) == "23505" },
	refusesCommit: func(err error) bool { // the server refused it, or never received it
		return pgCode(err) != "" || errors.Is(err, pgx.ErrTxCommitRollback) || pgconn.SafeToRetry(err)
	},
}

var sqlite3 = dialect{
	name:        "sqlite",
	goose:       goose.DialectSQLite3,
	isolation:   sql.LevelDefault,                                          // immediate transactions are serializable
	isRetryable: func(err error) bool { return sqliteCode(err)&0xff == 5 }, // SQLITE_BUSY
	isMissing:   func(err error) bool { return sqliteCode(err) == 787 },    // SQLITE_CONSTRAINT_FOREIGNKEY
	isTaken: func(err error) bool {
		code := sqliteCode(err)
		return code == 2067 || code == 1555 // unique, primary key
	},
	refusesCommit: func(error) bool { return true }, // the database is in this process, so no connection breaks during a commit
}

func pgCode(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// open opens the database of an address.
func open(ctx context.Context, address string, log *slog.Logger, dial Dialer) (dialect, pools, error) {
	switch {
	case strings.HasPrefix(address, "sqlite:"):
		p, err := openSQLite(ctx, strings.TrimPrefix(address, "sqlite:"), log)
		return sqlite3, p, err
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		p, err := openPostgres(ctx, address, dial)
		return postgres, p, err
	}
	return dialect{}, pools{}, errors.New("unknown kind of database: write sqlite:PATH, or a postgres:// address")
}

func openPostgres(ctx context.Context, address string, dial Dialer) (pools, error) {
	config, err := parsePostgres(address)
	if err != nil {
		return pools{}, err
	}
	if dial != nil {
		config.ConnConfig.DialFunc = pgconn.DialFunc(dial)
	}
	if config.PingTimeout == 0 {
		config.PingTimeout = 2 * time.Second // the default is none
	}
	if config.MaxConnLifetimeJitter == 0 {
		config.MaxConnLifetimeJitter = 10 * time.Minute // so that the connections do not all expire at once
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	for name, value := range map[string]string{
		"application_name":                    "troupe-fleetd",
		"statement_timeout":                   "10s", // below queryTimeout: a caller that times out costs the pool the connection
		"lock_timeout":                        "8s",
		"idle_in_transaction_session_timeout": "30s",
	} {
		if _, said := config.ConnConfig.RuntimeParams[name]; !said {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return pools{}, fmt.Errorf("open the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return pools{}, fmt.Errorf("reach the database: %w", err)
	}
	schema, err := readSchema(ctx, pool)
	if err != nil {
		pool.Close()
		return pools{}, err
	}
	db := stdlib.OpenDBFromPool(pool)
	head := stdlib.OpenDB(*pool.Config().ConnConfig.Copy())
	head.SetMaxOpenConns(1)
	head.SetMaxIdleConns(1)
	head.SetConnMaxLifetime(time.Hour)
	own := pool.Config().ConnConfig.Copy()
	own.RuntimeParams["application_name"] += schema.leadSuffix()
	for name, value := range map[string]string{ // an instance that is cut off loses its locks within about 10 s
		"tcp_keepalives_idle": "4", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10000",
	} {
		own.RuntimeParams[name] = value
	}
	place := schema.placeIn(fmt.Sprintf("database %s on %s", config.ConnConfig.Database, config.ConnConfig.Host))
	return pools{read: db, write: db, head: head, place: place, schema: schema, connect: func(ctx context.Context) (*pgx.Conn, error) {
		return pgx.ConnectConfig(ctx, own)
	}, close: func() error {
		err := db.Close()
		_ = head.Close() // its connection may be broken; nothing is lost
		pool.Close()
		return err
	}}, nil
}

// CheckAddress reports why the address of a PostgreSQL server can never be used. It quotes nothing of it: in an
// address that was not parsed, nobody knows where the password is. Errors of pgx quote the address, or parts of it.
func CheckAddress(address string) error {
	_, err := parsePostgres(address)
	return err
}

const inAPassword = "; in a password write %40 for @, %3A for :, %2F for /, %3F for ?, %23 for #, %25 for % and %20 for a space"

func parsePostgres(address string) (*pgxpool.Config, error) {
	u, err := url.Parse(address)
	// With an @ after its host, the address has a password that ends the host early.
	if err != nil || u.Opaque != "" || u.Fragment != "" || strings.Contains(u.Path+u.RawQuery, "@") || strings.Contains(u.Hostname(), " ") {
		return nil, errors.New("the database's address is not a URL: write postgres://user@host:port/name" + inAPassword)
	}
	config, err := pgxpool.ParseConfig(address)
	if err == nil {
		return config, nil
	}
	for name, values := range u.Query() {
		alone := url.URL{Scheme: u.Scheme, Host: "localhost", RawQuery: url.Values{name: values}.Encode()}
		if _, err := pgxpool.ParseConfig(alone.String()); err != nil { // pgx knows the name: of others it takes any value
			return nil, fmt.Errorf("the database's address: the value of the parameter %q cannot be used%s", name, inAPassword)
		}
	}
	return nil, errors.New(
		"the database's address, or a variable PG* of the environment, cannot be used: write postgres://user@host:port/name" + inAPassword)
}

func openSQLite(ctx context.Context, path string, log *slog.Logger) (pools, error) {
	if path == "" || strings.HasPrefix(path, ":") {
		return pools{}, errors.New("the address names no file: write sqlite:PATH")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return pools{}, fmt.Errorf("resolve the path of the database: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return pools{}, fmt.Errorf("make the database's folder: %w", err)
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return pools{}, fmt.Errorf("open %s: %w", path, err)
	}
	created, err := prepareFile(path, lock.mark, log)
	p := pools{place: path, markBegun: func() error { return lock.write(markFleet) }}
	if err == nil {
		err = p.connectSQLite(ctx, path, created, log)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("open %s: %w", path, err), p.closeSQLite())
		if size, _, _ := sizeOf(path); created && size == 0 { // as on a full disk: the next start creates it again
			err = errors.Join(err, os.Remove(path))
		}
		return pools{}, errors.Join(err, lock.Close())
	}
	p.close = func() error { return errors.Join(p.closeSQLite(), lock.Close()) }
	return p, nil
}

func (p *pools) connectSQLite(ctx context.Context, path string, created bool, log *slog.Logger) (err error) {
	if !created {
		if err := checkFile(ctx, path, log); err != nil {
			return err
		}
	}
	if p.write, err = sqliteDB(path, "_txlock=immediate", 1); err != nil {
		return err
	}
	if err := p.write.PingContext(ctx); err != nil { // writes the first page, which readers need
		return err
	}
	p.read, err = sqliteDB(path, "_pragma=query_only(1)", 4)
	return err
}

func (p *pools) closeSQLite() (err error) {
	for _, db := range []*sql.DB{p.read, p.write} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

func sqliteDB(path, more string, connections int) (*sql.DB, error) {
	where := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: strings.Join([]string{
		"_pragma=busy_timeout(5000)", // first, since the others may find the file locked
		"_pragma=journal_mode(WAL)",
		"_pragma=foreign_keys(1)",
		"_pragma=synchronous(FULL)", // a committed transaction survives a power cut
		more,
	}, "&")}
	db, err := sql.Open("sqlite", where.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// locker lets one program at a time migrate the database.
func (p *pools) locker() (goose.ProviderOption, error) {
	number := p.schema.lockNumber(lock.DefaultLockID)
	l, err := lock.NewPostgresSessionLocker(lock.WithLockID(number), lock.WithLockTimeout(1, 60)) // tries each second, for a minute
	if err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	return goose.WithSessionLocker(l), nil
}
