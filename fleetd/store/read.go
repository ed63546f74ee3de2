package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"troupe/fleetd/selector"
)

// reads are the questions that can be asked outside of a transaction and in it.
type reads struct{ q querier }

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// patience is how long one question to the database may take. A server that lives
// ends a statement of its own accord before; one that hangs would keep whoever
// asks until he gives up, and could then not be told from a fleetd instance that is dead.
const patience = 12 * time.Second

type patienceKey struct{}

// WithPatience makes questions that are asked under the context it returns wait at
// most d, for callers who have somebody waiting for them.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

func patienceOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(patienceKey{}).(time.Duration); ok {
		return d
	}
	return patience
}

func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patienceOf(ctx), ErrSilent)
}

func (r reads) row(ctx context.Context, query string, args ...any) row {
	ctx, done := within(ctx)
	return row{r.q.QueryRowContext(ctx, query, args...), done}
}

// row is the only row of an answer; it is read once.
type row struct {
	*sql.Row
	done context.CancelFunc
}

func (r row) Scan(into ...any) error {
	defer r.done()
	return r.Row.Scan(into...)
}

// list collects the rows of a query.
func list[T any](ctx context.Context, r reads, scan func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	ctx, done := within(ctx)
	defer done()
	rows, err := r.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// one is the only row of a query, or ErrNotFound.
func one[T any](ctx context.Context, r reads, scan func(scan func(...any) error) (T, error), query string, args ...any) (T, error) {
	v, err := scan(r.row(ctx, query, args...).Scan)
	return v, found(err)
}

// found turns "there is no such row" into ErrNotFound.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// micros is how a time is stored; the zero time is zero.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// bytesOf keeps "no bytes" from being NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// filled is nil for "no bytes", as callers had it.
func filled(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// where collects the conditions of a query and their arguments.
type where struct {
	conditions []string
	args       []any
}

// arg adds an argument and returns its placeholder.
func (w *where) arg(v any) string {
	w.args = append(w.args, v)
	return "$" + strconv.Itoa(len(w.args))
}

// when adds a condition with one %s for its argument, if it is asked for.
func (w *where) when(asked bool, condition string, v any) {
	if asked {
		w.conditions = append(w.conditions, fmt.Sprintf(condition, w.arg(v)))
	}
}

// names adds the condition that what is one of these. Nothing is one of none.
func (w *where) names(what string, ids []string) {
	if len(ids) == 0 {
		w.conditions = append(w.conditions, "1 = 0")
		return
	}
	places := make([]string, len(ids))
	for i, id := range ids {
		places[i] = w.arg(id)
	}
	w.conditions = append(w.conditions, what+" IN ("+strings.Join(places, ", ")+")")
}

// selects adds the condition that the robot r.id is meant by s. An empty
// selector means no robot.
func (w *where) selects(s selector.Selector) {
	switch {
	case s.All:
	case len(s.IDs) > 0:
		w.names("r.id", s.IDs)
	case len(s.Labels) > 0:
		for _, l := range s.Labels {
			w.conditions = append(w.conditions, fmt.Sprintf(
				"EXISTS (SELECT 1 FROM labels s WHERE s.robot = r.id AND s.key = %s AND s.value = %s)", w.arg(l.Key), w.arg(l.Value)))
		}
	default:
		w.conditions = append(w.conditions, "1 = 0")
	}
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}
