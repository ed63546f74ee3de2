package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// rowsAtOnce bounds the rows of one statement: PostgreSQL ends a statement that takes too
// long, and keeps all of its values in memory.
const rowsAtOnce = 1000

// column is one column of the table "given", from which a bulk statement reads its rows.
type column[R any] struct {
	name  string
	typ   string // in PostgreSQL
	value func(R) any
	array func([]R) any // the values of many rows, for PostgreSQL
}

func columnOf[R, V any](name, typ string, value func(R) V) column[R] {
	return column[R]{name, typ, func(r R) any { return value(r) }, func(rows []R) any {
		values := make([]V, len(rows))
		for i, r := range rows {
			values[i] = value(r)
		}
		return values
	}}
}

func text[R any](name string, value func(R) string) column[R] {
	return columnOf(name, "text", value)
}

func number[R any](name string, value func(R) int64) column[R] {
	return columnOf(name, "bigint", value)
}

func binary[R any](name string, value func(R) []byte) column[R] {
	return columnOf(name, "bytea", func(r R) []byte { return neverNil(value(r)) })
}

// writeRows executes a statement that reads many rows from a table "given" of these columns,
// and returns how many rows it wrote. PostgreSQL gets the rows as arrays, up to rowsAtOnce
// in each statement. SQLite gets them one by one, with the statement prepared once. Two rows
// must not write the same row of the database: PostgreSQL refuses that.
func writeRows[R any](ctx context.Context, t *Tx, rows []R, columns []column[R], query string) (n int64, err error) {
	err = bulk(ctx, t, rows, columns, query, func(ctx context.Context, s statement, args []any) error {
		result, err := s.ExecContext(ctx, args...)
		if err != nil {
			return err
		}
		written, err := result.RowsAffected()
		n += written
		return err
	})
	return n, err
}

// writeReturning is writeRows for a statement that returns one text for each row that it
// wrote.
func writeReturning[R any](ctx context.Context, t *Tx, rows []R, columns []column[R], query string) (all []string, err error) {
	err = bulk(ctx, t, rows, columns, query, func(ctx context.Context, s statement, args []any) error {
		found, err := s.QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var one string
			if err := found.Scan(&one); err != nil {
				return err
			}
			all = append(all, one)
		}
		return found.Err()
	})
	return all, err
}

// statement is a prepared statement, or one that the driver prepares itself.
type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
}

type unprepared struct {
	tx    *sql.Tx
	query string
}

func (u unprepared) ExecContext(ctx context.Context, args ...any) (sql.Result, error) {
	return u.tx.ExecContext(ctx, u.query, args...)
}

func (u unprepared) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return u.tx.QueryContext(ctx, u.query, args...)
}

func bulk[R any](ctx context.Context, t *Tx, rows []R, columns []column[R], query string,
	run func(context.Context, statement, []any) error) error {
	if len(rows) == 0 {
		return nil
	}
	if err := t.boundLocks(ctx); err != nil {
		return err
	}
	one := run
	run = func(ctx context.Context, s statement, args []any) error {
		if err := t.store.interrupted(); err != nil {
			return err
		}
		return one(ctx, s, args)
	}
	query = givenTable(columns, t.store.dialect.arrays) + query
	args := make([]any, len(columns))
	if t.store.dialect.arrays { // pgx caches prepared statements
		for some := range slices.Chunk(rows, rowsAtOnce) {
			for i, c := range columns {
				args[i] = c.array(some)
			}
			if err := asOneQuery(ctx, func(ctx context.Context) error { return run(ctx, unprepared{t.tx, query}, args) }); err != nil {
				return err
			}
		}
		return nil
	}
	prepared, err := t.tx.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer prepared.Close()
	for some := range slices.Chunk(rows, rowsAtOnce) {
		if err := asOneQuery(ctx, func(ctx context.Context) error {
			for _, r := range some {
				for i, c := range columns {
					args[i] = c.value(r)
				}
				if err := run(ctx, prepared, args); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// asOneQuery gives do the time of one query.
func asOneQuery(ctx context.Context, do func(context.Context) error) error {
	ctx, done := withTimeout(ctx)
	defer done()
	return do(ctx)
}

// givenTable is the beginning of a bulk statement: the table of its rows.
func givenTable[R any](columns []column[R], arrays bool) string {
	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i], values[i] = c.name, fmt.Sprintf("$%d", i+1)
		if arrays {
			values[i] += "::" + c.typ + "[]"
		}
	}
	source := strings.Join(values, ", ")
	if arrays {
		source = "* FROM unnest(" + source + ")"
	}
	return "WITH given (" + strings.Join(names, ", ") + ") AS (SELECT " + source + ") "
}
