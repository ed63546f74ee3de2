package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/selector"
)

// reads are the queries that work inside and outside of a transaction.
type reads struct{ q querier }

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// queryTimeout bounds one query. A healthy server ends a statement before that (see
// statement_timeout). Without it a server that hangs would block every caller, and the
// instance would look dead to others.
const queryTimeout = 12 * time.Second

type queryTimeoutKey struct{}

// WithQueryTimeout returns a context whose queries take at most d, for callers that answer
// somebody.
func WithQueryTimeout(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, queryTimeoutKey{}, d)
}

func queryTimeoutOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(queryTimeoutKey{}).(time.Duration); ok {
		return d
	}
	return queryTimeout
}

func withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, queryTimeoutOf(ctx), ErrTimeout)
}

func (r reads) queryRow(ctx context.Context, query string, args ...any) row {
	ctx, done := withTimeout(ctx)
	return row{r.q.QueryRowContext(ctx, query, args...), done}
}

// row is the only row of a result; it must be scanned once.
type row struct {
	*sql.Row
	done context.CancelFunc
}

func (r row) Scan(into ...any) error {
	defer r.done()
	return r.Row.Scan(into...)
}

// queryAll returns all rows of a query.
func queryAll[T any](ctx context.Context, r reads, scan func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	ctx, done := withTimeout(ctx)
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

// queryOne returns the only row of a query, or ErrNotFound.
func queryOne[T any](ctx context.Context, r reads, scan func(scan func(...any) error) (T, error), query string, args ...any) (T, error) {
	v, err := scan(r.queryRow(ctx, query, args...).Scan)
	return v, mapNoRows(err)
}

// mapNoRows turns sql.ErrNoRows into ErrNotFound.
func mapNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// micros is a time as it is stored, in microseconds; the zero time is 0.
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

// neverNil keeps an empty value from being stored as NULL.
func neverNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// nilIfEmpty reverses neverNil.
func nilIfEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

func boolToInt(b bool) int64 {
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

// addIf adds a condition with one %s for its argument, if wanted.
func (w *where) addIf(wanted bool, condition string, v any) {
	if wanted {
		w.conditions = append(w.conditions, fmt.Sprintf(condition, w.arg(v)))
	}
}

// addIn adds the condition that a column has one of these few values; none of them = no row.
func (w *where) addIn(column string, ids []string) {
	if len(ids) == 0 {
		w.conditions = append(w.conditions, "1 = 0")
		return
	}
	places := make([]string, len(ids))
	for i, id := range ids {
		places[i] = w.arg(id)
	}
	w.conditions = append(w.conditions, column+" IN ("+strings.Join(places, ", ")+")")
}

// addNamed adds the condition that a column has one of any number of values. They are one
// argument, the keys of a JSON object, since a statement has a limited number of parameters.
func (w *where) addNamed(column string, values []string) {
	object := make(map[string]int, len(values))
	for _, v := range values {
		object[v] = 0
	}
	w.conditions = append(w.conditions, column+" IN (SELECT key FROM json_each("+w.arg(jsonText(object))+"))")
}

// jsonText is a value of strings and numbers as an argument of json_each, which SQLite and
// PostgreSQL both have.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return string(text)
}

// addSelector adds the condition that s selects the robot r.id. An empty selector selects no
// robot, and neither does one with terms that the view should have resolved.
func (w *where) addSelector(s selector.Selector) {
	switch {
	case s.NeedsView():
		w.conditions = append(w.conditions, "1 = 0")
	case s.All:
	case len(s.IDs) > 0:
		w.addNamed("r.id", s.IDs)
	case len(s.Labels) > 0:
		for _, l := range s.Labels {
			w.conditions = append(w.conditions, fmt.Sprintf(
				"EXISTS (SELECT 1 FROM labels s WHERE s.robot = r.id AND s.key = %s AND s.value = %s)", w.arg(l.Key), w.arg(l.Value)))
		}
	default:
		w.conditions = append(w.conditions, "1 = 0")
	}
}

// addSites adds the condition that the robot of a row has one of these sites, if there are any.
func (w *where) addSites(sites []string) {
	if len(sites) > 0 {
		w.addRobotSites("robot", sites)
	}
}

// addRobotSites adds the condition that the robot of a column has one of these sites.
func (w *where) addRobotSites(column string, sites []string) {
	var robots where
	robots.args = w.args
	robots.addIf(true, "key = %s", auth.SiteLabel)
	robots.addIn("value", sites)
	w.args = robots.args
	w.conditions = append(w.conditions, column+" IN (SELECT robot FROM labels"+robots.String()+")")
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}
