package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// counts are the statements that a database got and the rows that it returned. A prepared
// statement counts once, however often it is executed.
type counts struct {
	statements, rows atomic.Int64
	note             func(query string, args []driver.NamedValue) // of each statement with its arguments; nil = no one asks
}

// of counts the statements and rows of do.
func (c *counts) of(t *testing.T, do func() error) (statements, rows int64) {
	t.Helper()
	c.statements.Store(0)
	c.rows.Store(0)
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return c.statements.Load(), c.rows.Load()
}

// openCounted opens a store with counted connections.
func openCounted(t *testing.T, address string) (*Store, *counts) {
	t.Helper()
	s, err := Open(t.Context(), address, time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	source := address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		source = "file:" + path + "?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_txlock=immediate"
	}
	c := &counts{}
	counted := sql.OpenDB(&countedDriver{s.pools.write.Driver(), source, c})
	s.pools.read, s.pools.write, s.reads = counted, counted, reads{counted}
	t.Cleanup(func() {
		if err := counted.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

type countedDriver struct {
	driver driver.Driver
	source string
	*counts
}

func (d *countedDriver) Driver() driver.Driver { return d.driver }

func (d *countedDriver) Connect(context.Context) (driver.Conn, error) {
	conn, err := d.driver.Open(d.source)
	if err != nil {
		return nil, err
	}
	return &countedConn{conn, d.counts}, nil
}

type countedConn struct {
	driver.Conn
	*counts
}

func (c *countedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func (c *countedConn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.statements.Add(1)
	c.noted(query, nil)
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}

func (c *countedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.statements.Add(1)
	c.noted(query, args)
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *countedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.statements.Add(1)
	c.noted(query, args)
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &countedRows{rows, c.counts}, nil
}

func (c *counts) noted(query string, args []driver.NamedValue) {
	if c.note != nil {
		c.note(query, args)
	}
}

type countedRows struct {
	driver.Rows
	*counts
}

func (r *countedRows) Next(into []driver.Value) error {
	err := r.Rows.Next(into)
	if err == nil {
		r.rows.Add(1)
	}
	return err
}
