package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"troupe/fleetd/notify"
	"troupe/schema"
)

// Receiver is where notifications go, as the database has it.
type Receiver struct {
	ID      string
	Version int64 // rises with every change; 0 = it is new
	notify.Receiver
	Sealed    []byte   // its secrets; empty = none
	Secrets   []string // names of the secrets that are set
	ChangedAt time.Time
	ChangedBy string
}

const selectReceivers = `SELECT id, version, body, secrets, secret, changed_at, changed_by FROM receivers`

func scanReceiver(scan func(...any) error) (r Receiver, err error) {
	var body []byte
	var names string
	var changed int64
	if err := scan(&r.ID, &r.Version, &body, &r.Sealed, &names, &changed, &r.ChangedBy); err != nil {
		return r, err
	}
	r.Sealed, r.Secrets, r.ChangedAt = nilIfEmpty(r.Sealed), strings.Fields(names), timeOf(changed)
	r.Receiver, err = decodeColumn[notify.Receiver](body, "body", "receiver "+r.ID)
	return r, err
}

// Receivers lists the receivers of notifications.
func (r reads) Receivers(ctx context.Context) ([]Receiver, error) {
	all, err := queryAll(ctx, r, scanReceiver, selectReceivers+" ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("list receivers: %w", err)
	}
	return all, nil
}

// Receiver returns one receiver, or ErrNotFound.
func (r reads) Receiver(ctx context.Context, id string) (Receiver, error) {
	one, err := queryOne(ctx, r, scanReceiver, selectReceivers+" WHERE id = $1", id)
	if err != nil {
		return one, fmt.Errorf("receiver %s: %w", id, err)
	}
	return one, nil
}

// PutReceiver writes a receiver whose version is that of the row, or 0 if there is none; otherwise the error is ErrConflict.
func (t *Tx) PutReceiver(ctx context.Context, r Receiver) error {
	body, err := schema.Encode(r.Receiver)
	if err != nil {
		return fmt.Errorf("write receiver %s: %w", r.ID, err)
	}
	query := `UPDATE receivers SET version = version + 1, body = $3, secrets = $4, secret = $5, changed_at = $6, changed_by = $7 WHERE id = $1 AND version = $2`
	if r.Version == 0 {
		query = `INSERT INTO receivers (id, version, body, secrets, secret, changed_at, changed_by) VALUES ($1, $2 + 1, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`
	}
	n, err := t.exec(ctx, query, r.ID, r.Version, body, neverNil(r.Sealed), strings.Join(r.Secrets, " "), micros(r.ChangedAt), r.ChangedBy)
	return expectOne(n, err, "receiver "+r.ID)
}

// DeleteReceiver deletes a receiver, or returns ErrNotFound. What waits for it is given up.
func (t *Tx) DeleteReceiver(ctx context.Context, id string, now time.Time) error {
	if _, err := t.exec(ctx, `UPDATE notifications SET state = $2, next_at = 0, ended_at = $3, detail = $4 WHERE receiver = $1 AND state = $5`,
		id, string(notify.Dead), micros(now), "the receiver was deleted", string(notify.Waiting)); err != nil {
		return fmt.Errorf("give up what waits for receiver %s: %w", id, err)
	}
	return t.deleteOne(ctx, "receiver "+id, `DELETE FROM receivers WHERE id = $1`, id)
}

// Route is a route with its state.
type Route struct {
	ID      string
	Version int64 // rises with every change by a person; 0 = it is new
	notify.Route
	ChangedAt time.Time
	ChangedBy string
	Step      int64 // rises with every change of State
	State     notify.State
}

const selectRoutes = `SELECT id, version, body, changed_at, changed_by, step, state FROM routes`

func scanRoute(scan func(...any) error) (r Route, err error) {
	var body, state []byte
	var changed int64
	if err := scan(&r.ID, &r.Version, &body, &changed, &r.ChangedBy, &r.Step, &state); err != nil {
		return r, err
	}
	r.ChangedAt = timeOf(changed)
	if r.Route, err = decodeColumn[notify.Route](body, "body", "route "+r.ID); err != nil || len(state) == 0 {
		return r, err
	}
	r.State, err = decodeColumn[notify.State](state, "state", "route "+r.ID)
	return r, err
}

// Routes lists the routes of notifications.
func (r reads) Routes(ctx context.Context) ([]Route, error) {
	all, err := queryAll(ctx, r, scanRoute, selectRoutes+" ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("list routes: %w", err)
	}
	return all, nil
}

// Route returns one route, or ErrNotFound.
func (r reads) Route(ctx context.Context, id string) (Route, error) {
	one, err := queryOne(ctx, r, scanRoute, selectRoutes+" WHERE id = $1", id)
	if err != nil {
		return one, fmt.Errorf("route %s: %w", id, err)
	}
	return one, nil
}

// RouteVersions returns the version and the step of each route, by id. They change with each change of it.
func (r reads) RouteVersions(ctx context.Context) (map[string][2]int64, error) {
	type row struct {
		id string
		of [2]int64
	}
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) { return v, scan(&v.id, &v.of[0], &v.of[1]) }, `SELECT id, version, step FROM routes`)
	if err != nil {
		return nil, fmt.Errorf("read whether routes changed: %w", err)
	}
	out := make(map[string][2]int64, len(all))
	for _, v := range all {
		out[v.id] = v.of
	}
	return out, nil
}

// PutRoute writes a route whose version is that of the row, or 0 if there is none; otherwise the error is ErrConflict. The
// state stays; a new route has none.
func (t *Tx) PutRoute(ctx context.Context, r Route) error {
	body, err := schema.Encode(r.Route)
	if err != nil {
		return fmt.Errorf("write route %s: %w", r.ID, err)
	}
	query := `UPDATE routes SET version = version + 1, body = $3, changed_at = $4, changed_by = $5 WHERE id = $1 AND version = $2`
	args := []any{r.ID, r.Version, body, micros(r.ChangedAt), r.ChangedBy}
	if r.Version == 0 {
		query = `INSERT INTO routes (id, version, body, changed_at, changed_by, step, state) VALUES ($1, $2 + 1, $3, $4, $5, 0, $6) ON CONFLICT (id) DO NOTHING`
		args = append(args, []byte{})
	}
	n, err := t.exec(ctx, query, args...)
	return expectOne(n, err, "route "+r.ID)
}

// DeleteRoute deletes a route, or returns ErrNotFound. What it has sent stays until it is pruned.
func (t *Tx) DeleteRoute(ctx context.Context, id string) error {
	return t.deleteOne(ctx, "route "+id, `DELETE FROM routes WHERE id = $1`, id)
}

// StepRoute saves the state of a route after a step, with what the step sends. If the route was changed or stepped since it
// was read, the error is ErrConflict.
func (t *Tx) StepRoute(ctx context.Context, r Route, state notify.State, send []notify.Notification, now time.Time) error {
	body, err := schema.Encode(state)
	if err != nil {
		return fmt.Errorf("write the state of route %s: %w", r.ID, err)
	}
	n, err := t.exec(ctx, `UPDATE routes SET step = step + 1, state = $4 WHERE id = $1 AND version = $2 AND step = $3`, r.ID, r.Version, r.Step, body)
	if err := expectOne(n, err, "route "+r.ID); err != nil {
		return err
	}
	return t.AddNotifications(ctx, send, now)
}

// AddNotifications adds notifications that wait.
func (t *Tx) AddNotifications(ctx context.Context, send []notify.Notification, now time.Time) error {
	if len(send) == 0 {
		return nil
	}
	var last int64
	if err := t.queryRow(ctx, `SELECT COALESCE(MAX(num), 0) FROM notifications`).Scan(&last); err != nil {
		return fmt.Errorf("number notifications: %w", err)
	}
	for i, one := range send {
		body, err := schema.Encode(one)
		if err != nil {
			return fmt.Errorf("write notification %s: %w", one.ID, err)
		}
		if _, err := t.exec(ctx, `INSERT INTO notifications (id, num, route, receiver, kind, body, created_at, state, tries, since, next_at, ended_at, detail)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $7, $7, 0, '')`,
			one.ID, last+int64(i)+1, one.Route, one.Receiver, string(one.Kind), body, micros(now), string(notify.Waiting)); err != nil {
			return fmt.Errorf("add notification %s: %w", one.ID, err)
		}
	}
	return nil
}

// Notification is what is sent, and what became of it.
type Notification struct {
	Num int64
	notify.Notification
	CreatedAt time.Time
	State     notify.DeliveryState
	Tries     int
	Since     time.Time // from when on it is tried
	NextAt    time.Time // zero = never
	EndedAt   time.Time // zero = not yet
	Detail    string    // of the newest try
}

const selectNotifications = `SELECT num, body, created_at, state, tries, since, next_at, ended_at, detail FROM notifications`

func scanNotification(scan func(...any) error) (n Notification, err error) {
	var body []byte
	var created, since, next, ended int64
	if err := scan(&n.Num, &body, &created, &n.State, &n.Tries, &since, &next, &ended, &n.Detail); err != nil {
		return n, err
	}
	n.CreatedAt, n.Since, n.NextAt, n.EndedAt = timeOf(created), timeOf(since), timeOf(next), timeOf(ended)
	n.Notification, err = decodeColumn[notify.Notification](body, "body", "a notification")
	return n, err
}

// NotificationQuery selects notifications; a zero field does not restrict.
type NotificationQuery struct {
	State    notify.DeliveryState
	Receiver string
	Route    string
	Limit    int // 0 = 100
}

// Notifications lists notifications, the newest first.
func (r reads) Notifications(ctx context.Context, q NotificationQuery) ([]Notification, error) {
	var w where
	w.addIf(q.State != "", "state = %s", string(q.State))
	w.addIf(q.Receiver != "", "receiver = %s", q.Receiver)
	w.addIf(q.Route != "", "route = %s", q.Route)
	all, err := queryAll(ctx, r, scanNotification, selectNotifications+w.String()+" ORDER BY num DESC LIMIT "+w.arg(limitOf(q.Limit)),
		w.args...)
	if err != nil {
		return nil, fmt.Errorf("list notifications: %w", err)
	}
	return all, nil
}

// Notification returns one notification, or ErrNotFound.
func (r reads) Notification(ctx context.Context, id string) (Notification, error) {
	n, err := queryOne(ctx, r, scanNotification, selectNotifications+" WHERE id = $1", id)
	if err != nil {
		return n, fmt.Errorf("notification %s: %w", id, err)
	}
	return n, nil
}

const dueNotifications = selectNotifications + ` WHERE num IN (SELECT MIN(num) FROM notifications WHERE state = 'waiting' GROUP BY receiver) AND next_at <= $1 ORDER BY num`

// DueNotifications lists, of each receiver, the oldest notification that waits, if its time has come. The others of that
// receiver wait for it.
func (r reads) DueNotifications(ctx context.Context, now time.Time) ([]Notification, error) {
	all, err := queryAll(ctx, r, scanNotification, dueNotifications, micros(now))
	if err != nil {
		return nil, fmt.Errorf("list due notifications: %w", err)
	}
	return all, nil
}

// EndTry saves what became of a try of a notification. If it was tried by somebody else since it was read, the error is
// ErrConflict.
func (t *Tx) EndTry(ctx context.Context, was Notification, state notify.DeliveryState, next, now time.Time, detail string) error {
	ended := int64(0)
	if state != notify.Waiting {
		ended = micros(now)
	}
	n, err := t.exec(ctx, `UPDATE notifications SET state = $3, tries = tries + 1, next_at = $4, ended_at = $5, detail = $6 WHERE id = $1 AND tries = $2 AND state = $7`,
		was.ID, was.Tries, string(state), micros(next), ended, detail, string(notify.Waiting))
	return expectOne(n, err, "notification "+was.ID)
}

// Resend makes a notification that has ended wait again.
func (t *Tx) Resend(ctx context.Context, id string, now time.Time) error {
	n, err := t.exec(ctx, `UPDATE notifications SET state = $2, since = $3, next_at = $3, ended_at = 0 WHERE id = $1 AND state <> $2`, id, string(notify.Waiting), micros(now))
	return expectOne(n, err, "notification "+id)
}

// Deliveries counts notifications of one receiver.
type Deliveries struct {
	Receiver          string
	Waiting, Sent     int64 // Sent also counts what is pruned after a while
	Dead              int64
	OldestAt          time.Time // of those that wait; zero if none does
	LastAt            time.Time // when the newest was sent
	LastFailureDetail string
}

// Deliveries counts the notifications of each receiver.
func (r reads) Deliveries(ctx context.Context) (map[string]Deliveries, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (d Deliveries, err error) {
		var oldest, last int64
		err = scan(&d.Receiver, &d.Waiting, &d.Sent, &d.Dead, &oldest, &last)
		d.OldestAt, d.LastAt = timeOf(oldest), timeOf(last)
		return d, err
	}, `SELECT receiver, SUM(CASE WHEN state = 'waiting' THEN 1 ELSE 0 END), SUM(CASE WHEN state = 'sent' THEN 1 ELSE 0 END),
		SUM(CASE WHEN state = 'dead' THEN 1 ELSE 0 END), COALESCE(MIN(CASE WHEN state = 'waiting' THEN created_at END), 0),
		COALESCE(MAX(CASE WHEN state = 'sent' THEN ended_at END), 0) FROM notifications GROUP BY receiver`)
	if err != nil {
		return nil, fmt.Errorf("count notifications: %w", err)
	}
	failures, err := queryAll(ctx, r, func(scan func(...any) error) (d Deliveries, err error) {
		return d, scan(&d.Receiver, &d.LastFailureDetail)
	}, `SELECT receiver, detail FROM notifications WHERE num IN (SELECT MIN(num) FROM notifications WHERE state = 'waiting' GROUP BY receiver)`)
	if err != nil {
		return nil, fmt.Errorf("read why notifications wait: %w", err)
	}
	out := make(map[string]Deliveries, len(all))
	for _, d := range all {
		out[d.Receiver] = d
	}
	for _, f := range failures {
		d := out[f.Receiver]
		d.LastFailureDetail = f.LastFailureDetail
		out[f.Receiver] = d
	}
	return out, nil
}

const oldNotifications = `DELETE FROM notifications WHERE id IN (
	SELECT id FROM notifications WHERE ended_at > 0 AND ended_at < $1 ORDER BY ended_at LIMIT $2)`

// PruneNotifications deletes up to limit of the oldest notifications that ended before then.
func (s *Store) PruneNotifications(ctx context.Context, then time.Time, limit int) (int64, error) {
	return s.prune(ctx, "notifications", oldNotifications, micros(then), limit)
}

// EventsOf lists up to limit events of these types in the order in which they were received, from since on. after is the last
// event of the page before this one; nil = none.
func (r reads) EventsOf(ctx context.Context, types []string, since time.Time, after *Event, limit int) ([]Event, error) {
	var w where
	if after != nil && after.ReceivedAt.After(since) {
		since = after.ReceivedAt
	}
	w.addIf(true, "received_at >= %s", micros(since))
	w.addIn("type", types)
	if after != nil {
		w.conditions = append(w.conditions, fmt.Sprintf("(received_at, robot, boot, seq) > (%s, %s, %s, %s)",
			w.arg(micros(after.ReceivedAt)), w.arg(after.Robot), w.arg(after.Boot), w.arg(after.Seq)))
	}
	all, err := queryAll(ctx, r, scanEvent, selectEvents+w.String()+" ORDER BY received_at, robot, boot, seq LIMIT "+w.arg(limit), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list events by type: %w", err)
	}
	return all, nil
}
