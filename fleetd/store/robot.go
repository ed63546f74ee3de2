package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Robot is what fleetd keeps of a robot beside the robot's own documents.
type Robot struct {
	ID         string
	Labels     map[string]string // never nil
	FirstSeen  time.Time
	LastSeen   time.Time // when its newest saved document was received
	DesiredRev int64     // of its desired story; 0 = none was ever published
	Story      string    // its default story; empty = none
	StoryRev   int64
	SHA256     string // of that revision's bytes

	Activities       []library.Pin // that are assigned to it, in the order of the set
	ActivitiesRev    int64         // of its desired activities; 0 = none were ever published
	ActivitiesSHA256 string        // of the set's bytes; empty without activities

	ConfigRev, ModeRev, PlacesRev int64 // of its other desired documents; 0 = none was ever published
}

// DesiredRevOf is the revision of the robot's newest desired document on a topic; 0 = none was ever published.
func (r Robot) DesiredRevOf(topic schema.TopicKind) int64 {
	switch topic {
	case schema.TopicDesiredStory:
		return r.DesiredRev
	case schema.TopicDesiredActivities:
		return r.ActivitiesRev
	case schema.TopicDesiredConfig:
		return r.ConfigRev
	case schema.TopicDesiredMode:
		return r.ModeRev
	}
	return r.PlacesRev
}

// Document is the newest document of one kind that a robot published, as its exact bytes.
type Document struct {
	Robot      string
	Kind       schema.TopicKind
	Body       []byte
	ReceivedAt time.Time
}

// counters are the members that change each time that a robot writes a document.
var counters = [][]byte{[]byte(`"ts":`), []byte(`"state_seq":`), []byte(`"session":`)}

// Repeats reports whether d differs from was in ts, state_seq and session at most. Such a
// document need not be saved again. Robots write the members in one order and without
// spaces; two documents that differ in that do not repeat each other.
//
// It runs for every message of every robot, so it compares bytes and decodes nothing.
func (d Document) Repeats(was Document) bool {
	a, b := d.Body, was.Body
	depth, inString := 0, false
next:
	for len(a) > 0 && len(b) > 0 {
		if a[0] == '"' && !inString && depth == 1 {
			for _, name := range counters {
				if bytes.HasPrefix(a, name) && bytes.HasPrefix(b, name) {
					a, b = skipScalar(a[len(name):]), skipScalar(b[len(name):])
					continue next
				}
			}
		}
		if a[0] != b[0] {
			return false
		}
		switch c := a[0]; {
		case c == '\\' && inString: // the next character does not end the string
			if len(a) < 2 || len(b) < 2 || a[1] != b[1] {
				return false
			}
			a, b = a[1:], b[1:]
		case c == '"':
			inString = !inString
		case inString:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
		a, b = a[1:], b[1:]
	}
	return len(a) == 0 && len(b) == 0
}

// skipScalar returns what follows a JSON string without escapes, or a number.
func skipScalar(b []byte) []byte {
	if len(b) > 0 && b[0] == '"' {
		if end := bytes.IndexByte(b[1:], '"'); end >= 0 {
			return b[end+2:]
		}
		return nil
	}
	return b[max(0, bytes.IndexAny(b, ",}")):]
}

const selectRobots = `SELECT r.id, r.first_seen, r.last_seen, COALESCE(w.rev, 0), COALESCE(d.story, ''), COALESCE(d.rev, 0), COALESCE(v.sha256, ''), COALESCE(a.rev, 0), COALESCE(s.sha256, ''),
		COALESCE(c.rev, 0), COALESCE(m.rev, 0), COALESCE(p.rev, 0)
	FROM robots r
	LEFT JOIN defaults d ON d.robot = r.id
	LEFT JOIN revisions v ON v.kind = d.kind AND v.id = d.story AND v.rev = d.rev
	LEFT JOIN desired w ON w.robot = r.id AND w.kind = 'desired_story'
	LEFT JOIN desired a ON a.robot = r.id AND a.kind = 'desired_activities'
	LEFT JOIN desired c ON c.robot = r.id AND c.kind = 'desired_config'
	LEFT JOIN desired m ON m.robot = r.id AND m.kind = 'desired_mode'
	LEFT JOIN desired p ON p.robot = r.id AND p.kind = 'desired_places'
	LEFT JOIN desired_sets s ON s.robot = r.id AND s.kind = 'desired_activities'`

func scanRobot(scan func(...any) error) (Robot, error) {
	r := Robot{Labels: map[string]string{}}
	var first, last int64
	err := scan(&r.ID, &first, &last, &r.DesiredRev, &r.Story, &r.StoryRev, &r.SHA256, &r.ActivitiesRev, &r.ActivitiesSHA256, &r.ConfigRev,
		&r.ModeRev, &r.PlacesRev)
	r.FirstSeen, r.LastSeen = timeOf(first), timeOf(last)
	return r, err
}

// Robots lists the robots that s selects, by id, without decommissioned ones.
func (r reads) Robots(ctx context.Context, s selector.Selector) ([]Robot, error) {
	var w where
	w.addSelector(s)
	w.conditions = append(w.conditions, "r.archived_at = 0")
	robots, err := queryAll(ctx, r, scanRobot, selectRobots+w.String()+" ORDER BY r.id", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list robots: %w", err)
	}
	place := make(map[string]int, len(robots))
	for i, robot := range robots {
		place[robot.ID] = i
	}
	labels, err := queryAll(ctx, r, func(scan func(...any) error) (l robotLabel, err error) {
		return l, scan(&l.robot, &l.key, &l.value)
	}, "SELECT l.robot, l.key, l.value FROM labels l JOIN robots r ON r.id = l.robot"+w.String(), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list labels: %w", err)
	}
	for _, l := range labels {
		if i, ok := place[l.robot]; ok {
			robots[i].Labels[l.key] = l.value
		}
	}
	activities, err := queryAll(ctx, r, scanAssigned,
		assignedSelect+" JOIN robots r ON r.id = p.robot"+w.String()+" ORDER BY p.robot, p.place", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list the activities of robots: %w", err)
	}
	for _, a := range activities {
		if i, ok := place[a.robot]; ok {
			robots[i].Activities = append(robots[i].Activities, a.Pin)
		}
	}
	return robots, nil
}

// Robot returns one robot, or ErrNotFound.
func (r reads) Robot(ctx context.Context, id string) (Robot, error) {
	robots, err := r.Robots(ctx, selector.IDs(id))
	if err != nil {
		return Robot{}, err
	}
	if len(robots) == 0 {
		return Robot{}, fmt.Errorf("robot %s: %w", id, ErrNotFound)
	}
	return robots[0], nil
}

// AddRobot adds a robot to the fleet and reports whether it was not in it.
func (s *Store) AddRobot(ctx context.Context, id string, now time.Time) (added bool, err error) {
	err = s.Tx(ctx, func(tx *Tx) error {
		added, err = tx.AddRobot(ctx, id, now)
		return err
	})
	return added, err
}

// AddRobot adds a robot to the fleet and reports whether it was not in it. A decommissioned
// robot gets back its history and its last desired documents, which are published again.
func (t *Tx) AddRobot(ctx context.Context, id string, now time.Time) (added bool, err error) {
	all, err := t.AddRobots(ctx, []string{id}, now)
	return len(all) > 0, err
}

// AddRobots is AddRobot for many robots, each named once. It returns those that were not in the fleet.
func (t *Tx) AddRobots(ctx context.Context, ids []string, now time.Time) (added []string, err error) {
	columns := append(slices.Clone(robotColumn), number("at", func(string) int64 { return micros(now) }))
	added, err = writeReturning(ctx, t, ids, columns, `INSERT INTO robots (id, first_seen, last_seen) SELECT robot, at, at FROM given WHERE true
		ON CONFLICT (id) DO UPDATE SET archived_at = 0, last_seen = excluded.last_seen WHERE robots.archived_at > 0 RETURNING id`)
	if err != nil {
		return nil, fmt.Errorf("add robots %s: %w", strings.Join(ids, " "), err)
	}
	if len(added) == 0 {
		return nil, nil
	}
	if err := t.countChange(ctx, added...); err != nil {
		return nil, err
	}
	return added, t.enqueueDesired(ctx, added, now)
}

// enqueueDesired adds all desired documents of robots to the outbox.
func (t *Tx) enqueueDesired(ctx context.Context, robots []string, now time.Time) error {
	var w where
	w.addNamed("robot", robots)
	desired, err := queryAll(ctx, t.reads, func(scan func(...any) error) (m library.Message, err error) {
		return m, scan(&m.Topic, &m.Target, &m.Payload)
	}, `SELECT kind, robot, payload FROM desired`+w.String()+` ORDER BY robot, kind`, w.args...)
	if err != nil {
		return fmt.Errorf("list the desired documents for %d robots: %w", len(robots), err)
	}
	return t.enqueue(ctx, desired, now)
}

// SetLabels replaces the labels of a robot.
func (t *Tx) SetLabels(ctx context.Context, robot string, labels map[string]string) error {
	return t.SetLabelsOf(ctx, map[string]map[string]string{robot: labels})
}

// SetLabelsOf replaces the labels of robots.
func (t *Tx) SetLabelsOf(ctx context.Context, labels map[string]map[string]string) error {
	robots := slices.Sorted(maps.Keys(labels))
	var rows []robotLabel
	for _, robot := range robots {
		for _, key := range slices.Sorted(maps.Keys(labels[robot])) {
			rows = append(rows, robotLabel{robot, key, labels[robot][key]})
		}
	}
	if _, err := writeRows(ctx, t, robots, robotColumn, `DELETE FROM labels WHERE robot IN (SELECT robot FROM given)`); err != nil {
		return fmt.Errorf("remove the labels of %d robots: %w", len(robots), err)
	}
	if _, err := writeRows(ctx, t, rows, labelColumns, `INSERT INTO labels (robot, key, value) SELECT robot, key, value FROM given`); err != nil {
		return fmt.Errorf("label %d robots: %w", len(robots), err)
	}
	return t.countChange(ctx, robots...)
}

// robotLabel is one label of one robot.
type robotLabel struct{ robot, key, value string }

var (
	robotColumn  = []column[string]{text("robot", func(id string) string { return id })}
	labelColumns = []column[robotLabel]{
		text("robot", func(l robotLabel) string { return l.robot }),
		text("key", func(l robotLabel) string { return l.key }),
		text("value", func(l robotLabel) string { return l.value }),
	}
)

// Documents lists the newest documents of one robot, or of all if robot is empty, without
// those of decommissioned robots.
func (r reads) Documents(ctx context.Context, robot string) ([]Document, error) {
	var w where
	w.addIf(robot != "", "d.robot = %s", robot)
	w.conditions = append(w.conditions, "r.archived_at = 0")
	all, err := queryAll(ctx, r, func(scan func(...any) error) (d Document, err error) {
		var at int64
		err = scan(&d.Robot, &d.Kind, &d.Body, &at)
		d.ReceivedAt = timeOf(at)
		return d, err
	}, "SELECT d.robot, d.kind, d.body, d.received_at FROM documents d JOIN robots r ON r.id = d.robot"+w.String()+" ORDER BY d.robot, d.kind",
		w.args...)
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	return all, nil
}

// SaveDocuments saves each document unless a newer one of its robot and kind is saved
// already. An empty body deletes the document. If one is of an unknown robot, nothing is
// saved and the error is ErrNotFound.
func (s *Store) SaveDocuments(ctx context.Context, documents []Document) error {
	saved, deleted, seen := splitNewest(documents)
	err := s.plainTx(ctx, func(tx *Tx) error {
		for _, d := range deleted {
			if _, err := tx.exec(ctx, `DELETE FROM documents WHERE robot = $1 AND kind = $2 AND received_at <= $3`, d.Robot, string(d.Kind),
				micros(d.ReceivedAt)); err != nil {
				return err
			}
		}
		if _, err := writeRows(ctx, tx, saved, documentColumns, `INSERT INTO documents (robot, kind, body, received_at)
			SELECT robot, kind, body, received_at FROM given WHERE true
			ON CONFLICT (robot, kind) DO UPDATE SET body = excluded.body, received_at = excluded.received_at
			WHERE documents.received_at <= excluded.received_at`); err != nil {
			return err
		}
		_, err := writeRows(ctx, tx, seen, seenColumns, `UPDATE robots SET last_seen = given.last_seen
			FROM given WHERE robots.id = given.robot AND robots.last_seen < given.last_seen`)
		return err
	})
	if err != nil {
		return fmt.Errorf("save %d documents: %w", len(documents), err)
	}
	return nil
}

var (
	documentColumns = []column[Document]{
		text("robot", func(d Document) string { return d.Robot }),
		text("kind", func(d Document) string { return string(d.Kind) }),
		binary("body", func(d Document) []byte { return d.Body }),
		number("received_at", func(d Document) int64 { return micros(d.ReceivedAt) }),
	}
	seenColumns = []column[Document]{
		text("robot", func(d Document) string { return d.Robot }),
		number("last_seen", func(d Document) int64 { return micros(d.ReceivedAt) }),
	}
)

// splitNewest takes the newest document of each robot and kind and splits them into those to
// save and those to delete. seen has the newest of each robot that is not empty. All are
// ordered by robot and kind, so that two writers lock rows in the same order.
func splitNewest(documents []Document) (saved, deleted, seen []Document) {
	order := func(a, b Document) int { return cmp.Or(cmp.Compare(a.Robot, b.Robot), cmp.Compare(a.Kind, b.Kind)) }
	sorted := slices.SortedStableFunc(slices.Values(documents), func(a, b Document) int {
		return cmp.Or(order(a, b), a.ReceivedAt.Compare(b.ReceivedAt))
	})
	for i, d := range sorted {
		switch {
		case i+1 < len(sorted) && order(d, sorted[i+1]) == 0: // a newer one follows
		case len(d.Body) == 0:
			deleted = append(deleted, d)
		default:
			saved = append(saved, d)
		}
		if len(d.Body) == 0 {
			continue
		}
		if n := len(seen); n == 0 || seen[n-1].Robot != d.Robot {
			seen = append(seen, d)
		} else if d.ReceivedAt.After(seen[n-1].ReceivedAt) {
			seen[n-1] = d
		}
	}
	return saved, deleted, seen
}
