package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/stop"
	"troupe/schema"
)

const selectStops = `SELECT id, robot, level, asked_by, why, asked_at, released_at, released_by, released_why, client FROM stops`

func scanStop(scan func(...any) error) (stop.Latch, error) {
	var l stop.Latch
	var asked, released int64
	err := scan(&l.ID, &l.Robot, &l.Level, &l.By, &l.Why, &asked, &released, &l.ReleasedBy, &l.ReleasedWhy, &l.Client)
	l.RequestedAt, l.ReleasedAt = timeOf(asked), timeOf(released)
	return l, err
}

// LatchedStops lists the latched stops, the oldest first.
func (r reads) LatchedStops(ctx context.Context) ([]stop.Latch, error) {
	all, err := queryAll(ctx, r, scanStop, selectStops+" WHERE released_at = 0 ORDER BY asked_at, id, robot")
	if err != nil {
		return nil, fmt.Errorf("list stops: %w", err)
	}
	return all, nil
}

// ReleasedStops lists the stops that were released at or after since.
func (r reads) ReleasedStops(ctx context.Context, since time.Time) ([]stop.Latch, error) {
	all, err := queryAll(ctx, r, scanStop, selectStops+" WHERE released_at > 0 AND released_at >= $1 ORDER BY released_at, id, robot",
		micros(since))
	if err != nil {
		return nil, fmt.Errorf("list released stops: %w", err)
	}
	return all, nil
}

// StopsFor reads what a plan needs. Apply its changes in the same transaction.
func (t *Tx) StopsFor(ctx context.Context, need stop.Need) (stop.Rows, error) {
	rows := stop.Rows{Revs: map[string]int64{}}
	if err := t.queryRow(ctx, `SELECT fleet_id FROM fleet WHERE only_row = 1`).Scan(&rows.FleetID); err != nil {
		return rows, fmt.Errorf("read the fleet id: %w", err)
	}
	var err error
	if rows.Signer, err = t.signer(ctx); err != nil {
		return rows, err
	}
	all, err := t.readSelected(ctx, &rows, need.Requests)
	if err != nil {
		return rows, err
	}
	if err := t.readLatchesOf(ctx, &rows, need); err != nil {
		return rows, err
	}
	if all || need.All {
		return rows, t.readLatched(ctx, &rows, where{})
	}
	concerned := map[string]bool{}
	for _, r := range rows.Robots {
		concerned[r.ID] = true
	}
	for _, l := range rows.Latches {
		if l.IsLatched() {
			concerned[l.Robot] = true // the empty name stands for all robots
		}
	}
	if len(concerned) == 0 {
		return rows, nil
	}
	var w where
	w.addNamed("robot", slices.Sorted(maps.Keys(concerned)))
	return rows, t.readLatched(ctx, &rows, w)
}

// readSelected reads the robots that requests select, and reports whether one selects all.
func (t *Tx) readSelected(ctx context.Context, rows *stop.Rows, requests []stop.Request) (all bool, err error) {
	named := map[string]bool{}
	var selectors []selector.Selector
	for _, o := range requests {
		all = all || o.All
		for _, id := range o.Robots {
			named[id] = true
		}
		if len(o.Labels) > 0 {
			var labels []selector.Label
			for _, k := range slices.Sorted(maps.Keys(o.Labels)) {
				labels = append(labels, selector.Label{Key: k, Value: o.Labels[k]})
			}
			selectors = append(selectors, selector.Labelled(labels...))
		}
	}
	if len(named) > 0 {
		selectors = append(selectors, selector.IDs(slices.Sorted(maps.Keys(named))...))
	}
	if all {
		selectors = []selector.Selector{selector.All()}
	}
	read := map[string]bool{}
	for _, sel := range selectors {
		robots, err := t.Robots(ctx, sel)
		if err != nil {
			return all, err
		}
		for _, r := range robots {
			if !read[r.ID] {
				read[r.ID] = true
				rows.Robots = append(rows.Robots, stop.Robot{ID: r.ID, Labels: r.Labels})
			}
		}
	}
	return all, nil
}

// readLatchesOf reads the stops with the ids in question, latched or released.
func (t *Tx) readLatchesOf(ctx context.Context, rows *stop.Rows, need stop.Need) error {
	ids := slices.Clone(need.Release)
	for _, o := range need.Requests {
		ids = append(ids, o.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	var w where
	w.addNamed("id", ids)
	latches, err := queryAll(ctx, t.reads, scanStop, selectStops+w.String()+" ORDER BY id, robot", w.args...)
	if err != nil {
		return fmt.Errorf("list stops: %w", err)
	}
	rows.Latches = append(rows.Latches, latches...)
	return nil
}

// readLatched reads the latched stops of some robots, and the revisions of their stop documents.
func (t *Tx) readLatched(ctx context.Context, rows *stop.Rows, robots where) error {
	held := robots
	held.conditions = append(slices.Clone(robots.conditions), "released_at = 0")
	latches, err := queryAll(ctx, t.reads, scanStop, selectStops+held.String()+" ORDER BY asked_at, id, robot", held.args...)
	if err != nil {
		return fmt.Errorf("list stops: %w", err)
	}
	type id struct{ id, robot string }
	known := map[id]bool{}
	for _, l := range rows.Latches {
		known[id{l.ID, l.Robot}] = true
	}
	for _, l := range latches {
		if !known[id{l.ID, l.Robot}] {
			rows.Latches = append(rows.Latches, l)
		}
	}
	type rev struct {
		robot string
		n     int64
	}
	documents := robots
	documents.conditions = append(slices.Clone(robots.conditions), "kind = 'desired_stop'")
	revs, err := queryAll(ctx, t.reads, func(scan func(...any) error) (v rev, err error) {
		return v, scan(&v.robot, &v.n)
	}, `SELECT robot, rev FROM desired`+documents.String()+` UNION ALL SELECT '', rev FROM fleet_documents WHERE kind = 'fleet_stop'`,
		documents.args...)
	if err != nil {
		return fmt.Errorf("read the revisions of stops: %w", err)
	}
	for _, v := range revs {
		rows.Revs[v.robot] = v.n
	}
	return nil
}

// StopDocuments returns the newest stop documents by robot; the one of all robots has the empty
// name.
func (t *Tx) StopDocuments(ctx context.Context) (map[string][]byte, error) {
	type document struct {
		robot   string
		payload []byte
	}
	all, err := queryAll(ctx, t.reads, func(scan func(...any) error) (v document, err error) {
		return v, scan(&v.robot, &v.payload)
	}, `SELECT robot, payload FROM desired WHERE kind = 'desired_stop' UNION ALL SELECT '', payload FROM fleet_documents WHERE kind = 'fleet_stop'`)
	if err != nil {
		return nil, fmt.Errorf("read the documents of stops: %w", err)
	}
	documents := make(map[string][]byte, len(all))
	for _, v := range all {
		documents[v.robot] = v.payload
	}
	return documents, nil
}

// ApplyStops writes the stops and documents of a plan, and enqueues the documents. If another
// transaction wrote one of them meanwhile, the error is ErrConflict.
func (t *Tx) ApplyStops(ctx context.Context, c stop.Changes, now time.Time) error {
	if _, err := writeRows(ctx, t, c.Latches, latchColumns, `INSERT INTO stops (id, robot, level, asked_by, why, asked_at, released_at, released_by, released_why, client)
		SELECT id, robot, level, asked_by, why, asked_at, released_at, released_by, released_why, client FROM given WHERE true
		ON CONFLICT (id, robot) DO UPDATE SET level = excluded.level, asked_by = excluded.asked_by, why = excluded.why, asked_at = excluded.asked_at,
			released_at = excluded.released_at, released_by = excluded.released_by, released_why = excluded.released_why, client = excluded.client`); err != nil {
		return fmt.Errorf("write %d stops: %w", len(c.Latches), err)
	}
	var messages []library.Message
	var rows []desiredRow
	for _, d := range c.Documents {
		m := library.Message{Topic: schema.TopicDesiredStop, Target: d.Robot, Payload: d.Payload}
		if d.Robot == "" {
			m.Topic = schema.TopicFleetStop
			n, err := t.exec(ctx, `INSERT INTO fleet_documents (kind, rev, payload, changed_at) VALUES ($1, $2, $3, $4)
				ON CONFLICT (kind) DO UPDATE SET rev = excluded.rev, payload = excluded.payload, changed_at = excluded.changed_at
				WHERE fleet_documents.rev < excluded.rev`, string(m.Topic), d.Rev, d.Payload, micros(now))
			if err := expectOne(n, err, "the stops of all robots"); err != nil {
				return err
			}
		} else {
			rows = append(rows, desiredRow{d.Robot, m.Topic, d.Rev, d.Payload, nil, now, ""})
		}
		messages = append(messages, m)
	}
	if err := t.saveDesired(ctx, rows); err != nil {
		return err
	}
	if err := t.Note(ctx, now, c.Notes...); err != nil {
		return err
	}
	if err := t.saveCounter(ctx, c.Counter); err != nil {
		return err
	}
	return t.enqueueStops(ctx, messages, now)
}

// enqueueStops adds documents of stops to the outbox. A robot that left the fleet gets its documents
// when it is added again: until then the broker has none.
func (t *Tx) enqueueStops(ctx context.Context, messages []library.Message, now time.Time) error {
	w := where{conditions: []string{"archived_at > 0"}}
	var targets []string
	for _, m := range messages {
		targets = append(targets, m.Target)
	}
	w.addNamed("id", targets)
	left, err := queryAll(ctx, t.reads, func(scan func(...any) error) (id string, err error) {
		return id, scan(&id)
	}, `SELECT id FROM robots`+w.String(), w.args...)
	if err != nil {
		return fmt.Errorf("list the robots that left the fleet: %w", err)
	}
	slices.Sort(left) // by bytes, as inSorted does
	return t.enqueue(ctx, slices.DeleteFunc(messages, func(m library.Message) bool { return inSorted(left, m.Target) }), now)
}

var latchColumns = []column[stop.Latch]{
	text("id", func(l stop.Latch) string { return l.ID }),
	text("robot", func(l stop.Latch) string { return l.Robot }),
	text("level", func(l stop.Latch) string { return string(l.Level) }),
	text("asked_by", func(l stop.Latch) string { return l.By }),
	text("why", func(l stop.Latch) string { return l.Why }),
	number("asked_at", func(l stop.Latch) int64 { return micros(l.RequestedAt) }),
	number("released_at", func(l stop.Latch) int64 { return micros(l.ReleasedAt) }),
	text("released_by", func(l stop.Latch) string { return l.ReleasedBy }),
	text("released_why", func(l stop.Latch) string { return l.ReleasedWhy }),
	text("client", func(l stop.Latch) string { return l.Client }),
}
