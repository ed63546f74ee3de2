package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/content"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/schema"
)

const selectRollouts = `SELECT o.id, o.version, o.name, o.state, o.why, o.cause, o.cause_id, o.content, o.digest, o.selector, o.spec, o.seed, o.wave,
	o.created_at, o.created_by, o.approved_at, o.approved_by, o.not_before, o.started_at, o.ended_at, o.next_at FROM rollouts o`

func scanRollout(scan func(...any) error) (o rollout.Rollout, err error) {
	var body, spec []byte
	var seed, created, approved, notBefore, started, ended, next int64
	if err := scan(&o.ID, &o.Version, &o.Name, &o.State, &o.Why, &o.Cause, &o.CauseID, &body, &o.Digest, &o.Robots, &spec, &seed, &o.Wave,
		&created, &o.CreatedBy, &approved, &o.ApprovedBy, &notBefore, &started, &ended, &next); err != nil {
		return o, err
	}
	o.Seed = uint64(seed)
	o.CreatedAt, o.ApprovedAt, o.NotBefore, o.StartedAt, o.EndedAt, o.NextAt = timeOf(created), timeOf(approved), timeOf(notBefore), timeOf(started), timeOf(ended), timeOf(next)
	if o.Content, err = decodeColumn[content.Content](body, "content", "rollout "+o.ID); err != nil {
		return o, err
	}
	o.Spec, err = decodeColumn[rollout.Spec](spec, "plan", "rollout "+o.ID)
	return o, err
}

// decodeColumn decodes a column with JSON that fleetd wrote.
func decodeColumn[T any](b []byte, what, of string) (T, error) {
	v, problems := schema.Decode[T](b)
	if errs := schema.Errors(problems); len(errs) > 0 {
		return v, fmt.Errorf("read the %s of %s: %s", what, of, errs[0])
	}
	return v, nil
}

// RolloutQuery selects rollouts. Zero values select all.
type RolloutQuery struct {
	ID    string        // only this one, such as to learn whether its robots are all of some sites
	Open  bool          // only those that have not ended
	State rollout.State // only those in this state
	Robot string        // only those with this robot
	Sites []string      // only those whose robots are all of these sites
	Limit int
}

// Rollouts lists rollouts with their waves, the newest first.
func (r reads) Rollouts(ctx context.Context, q RolloutQuery) ([]rollout.Rollout, error) {
	var w where
	if q.Open {
		w.conditions = append(w.conditions, "o.ended_at = 0")
	}
	w.addIf(q.ID != "", "o.id = %s", q.ID)
	w.addIf(q.State != "", "o.state = %s", string(q.State))
	w.addIf(q.Robot != "", "o.id IN (SELECT m.rollout FROM rollout_robots m WHERE m.robot = %s)", q.Robot)
	w.addRobotsOfSites(q.Sites)
	all, err := queryAll(ctx, r, scanRollout, selectRollouts+w.String()+" ORDER BY o.created_at DESC, o.id DESC LIMIT "+w.arg(limitOf(q.Limit)), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list rollouts: %w", err)
	}
	return all, r.addWaves(ctx, all)
}

// addRobotsOfSites adds the condition that all robots of the rollout o have one of these sites, if there are any.
func (w *where) addRobotsOfSites(sites []string) {
	if len(sites) == 0 {
		return
	}
	ours := where{args: w.args}
	ours.addRobotSites("m.robot", sites)
	w.args = ours.args
	w.conditions = append(w.conditions, "NOT EXISTS (SELECT 1 FROM rollout_robots m WHERE m.rollout = o.id AND NOT ("+ours.conditions[0]+"))")
}

// Rollout returns one rollout with its waves, or ErrNotFound.
func (r reads) Rollout(ctx context.Context, id string) (rollout.Rollout, error) {
	o, err := queryOne(ctx, r, scanRollout, selectRollouts+" WHERE o.id = $1", id)
	if err != nil {
		return o, fmt.Errorf("rollout %s: %w", id, err)
	}
	one := []rollout.Rollout{o}
	err = r.addWaves(ctx, one)
	return one[0], err
}

// addWaves reads the waves of rollouts.
func (r reads) addWaves(ctx context.Context, all []rollout.Rollout) error {
	if len(all) == 0 {
		return nil
	}
	at := make(map[string]int, len(all))
	ids := make([]string, len(all))
	for i, o := range all {
		at[o.ID], ids[i] = i, o.ID
	}
	var w where
	w.addNamed("rollout", ids)
	waves, err := queryAll(ctx, r, scanWave, "SELECT rollout, number, name, state, why, gate, total, counts, started_at, soak_from, ended_at FROM rollout_waves"+
		w.String()+" ORDER BY rollout, number", w.args...)
	if err != nil {
		return fmt.Errorf("list the waves of rollouts: %w", err)
	}
	for _, v := range waves {
		o := &all[at[v.rollout]]
		o.Waves = append(o.Waves, v.Wave)
	}
	return nil
}

// waveRow is one wave of one rollout.
type waveRow struct {
	rollout string
	rollout.Wave
	gate, counts []byte
}

func scanWave(scan func(...any) error) (v waveRow, err error) {
	var started, soak, ended int64
	if err := scan(&v.rollout, &v.Number, &v.Name, &v.State, &v.Why, &v.gate, &v.Total, &v.counts, &started, &soak, &ended); err != nil {
		return v, err
	}
	v.StartedAt, v.SoakFrom, v.EndedAt = timeOf(started), timeOf(soak), timeOf(ended)
	if v.Gate, err = decodeColumn[rollout.Gate](v.gate, "gate", "a wave of rollout "+v.rollout); err != nil {
		return v, err
	}
	v.Counts, err = decodeColumn[map[rollout.RobotState]int](v.counts, "counts", "a wave of rollout "+v.rollout)
	return v, err
}

// RolloutVersion is what a cached rollout is compared with.
type RolloutVersion struct {
	ID      string
	Version int64
	State   rollout.State
}

// OpenRollouts lists the versions of the rollouts that have not ended, the oldest first.
func (r reads) OpenRollouts(ctx context.Context) ([]RolloutVersion, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v RolloutVersion, err error) {
		return v, scan(&v.ID, &v.Version, &v.State)
	}, `SELECT id, version, state FROM rollouts WHERE ended_at = 0 ORDER BY created_at, id`)
	if err != nil {
		return nil, fmt.Errorf("list open rollouts: %w", err)
	}
	return all, nil
}

// RolloutVersionOf is the present version of a rollout, or ErrNotFound.
func (r reads) RolloutVersionOf(ctx context.Context, id string) (version int64, err error) {
	err = mapNoRows(r.queryRow(ctx, `SELECT version FROM rollouts WHERE id = $1`, id).Scan(&version))
	if err != nil {
		return 0, fmt.Errorf("rollout %s: %w", id, err)
	}
	return version, nil
}

const selectRolloutRobots = `SELECT m.robot, m.wave, m.place, m.state, m.phase, m.why, m.reason, m.rev, m.had, m.tries,
	m.changed_at, m.offered_at, m.active_at, m.retry_at, m.spent_us, m.spent_at, m.retry_us FROM rollout_robots m`

func scanRolloutRobot(scan func(...any) error) (m rollout.Robot, err error) {
	var had []byte
	var changed, offered, active, retry, spent, spentAt, retryFor int64
	if err := scan(&m.ID, &m.Wave, &m.Place, &m.State, &m.Phase, &m.Why, &m.Group, &m.Rev, &had, &m.Tries,
		&changed, &offered, &active, &retry, &spent, &spentAt, &retryFor); err != nil {
		return m, err
	}
	m.ChangedAt, m.OfferedAt, m.ActiveAt, m.RetryAt, m.SpentAt = timeOf(changed), timeOf(offered), timeOf(active), timeOf(retry), timeOf(spentAt)
	m.Spent, m.RetryFor = time.Duration(spent)*time.Microsecond, time.Duration(retryFor)*time.Microsecond
	if len(had) > 0 {
		c, err := decodeColumn[content.Content](had, "earlier content", "robot "+m.ID)
		if err != nil {
			return m, err
		}
		m.Had = &c
	}
	return m, nil
}

// RolloutRobotQuery selects robots of one rollout.
type RolloutRobotQuery struct {
	Rollout string
	States  []rollout.RobotState // empty = any
	Wave    *int                 // nil = any
	After   string               // the last robot of the page before; empty = the first page
	Limit   int                  // 0 = all
}

// RolloutRobots lists robots of a rollout in the order of waves, and of their places in them.
func (r reads) RolloutRobots(ctx context.Context, q RolloutRobotQuery) ([]rollout.Robot, error) {
	var w where
	w.addIf(true, "m.rollout = %s", q.Rollout)
	if q.States != nil {
		w.addIn("m.state", texts(q.States))
	}
	if q.Wave != nil {
		w.addIf(true, "m.wave = %s", *q.Wave)
	}
	if q.After != "" {
		w.addIf(true, "(m.wave, m.place) > (SELECT a.wave, a.place FROM rollout_robots a WHERE a.rollout = $1 AND a.robot = %s)", q.After)
	}
	query := selectRolloutRobots + w.String() + " ORDER BY m.wave, m.place"
	if q.Limit > 0 {
		query += " LIMIT " + w.arg(q.Limit)
	}
	all, err := queryAll(ctx, r, scanRolloutRobot, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list the robots of rollout %s: %w", q.Rollout, err)
	}
	return all, nil
}

func texts[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = string(v)
	}
	return out
}

// RolloutFailures are the robots of a rollout that failed for one reason.
type RolloutFailures struct {
	Reason string
	State  rollout.RobotState // of the first robot
	Count  int
	Detail string   // the sentence of the first robot
	Robots []string // the first few
}

// failuresShown is how many robots a group of failures names.
const failuresShown = 5

// RolloutFailures groups the robots of a rollout in these states by reason, the largest group first.
func (r reads) RolloutFailures(ctx context.Context, id string, states []rollout.RobotState) (all []RolloutFailures, err error) {
	type row struct {
		RolloutFailures
		robot string
	}
	var w where
	w.addIf(true, "rollout = %s", id)
	w.addIn("state", texts(states))
	rows, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) {
		return v, scan(&v.Reason, &v.State, &v.Count, &v.Detail, &v.robot)
	}, `SELECT reason, state, n, why, robot FROM (SELECT reason, state, why, robot, wave, place, COUNT(*) OVER (PARTITION BY reason) AS n,
			ROW_NUMBER() OVER (PARTITION BY reason ORDER BY wave, place) AS i FROM rollout_robots`+w.String()+`) g
		WHERE i <= `+w.arg(failuresShown)+` ORDER BY n DESC, reason, wave, place`, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list the failures of rollout %s: %w", id, err)
	}
	for _, v := range rows {
		if n := len(all); n == 0 || all[n-1].Reason != v.Reason {
			all = append(all, v.RolloutFailures)
		}
		last := &all[len(all)-1]
		last.Robots = append(last.Robots, v.robot)
	}
	return all, nil
}

// RobotOfRollout is one robot of one rollout.
type RobotOfRollout struct{ Rollout, Robot string }

// RobotsOfOpenRollouts lists which of these robots are in these states in rollouts that have not ended and bring
// documents on topic, by rollout and robot. Rollouts to all at once are left out: they have given all robots the content.
func (r reads) RobotsOfOpenRollouts(
	ctx context.Context, topic schema.TopicKind, robots selector.Selector, states []rollout.RobotState,
) ([]RobotOfRollout, error) {
	open, err := queryAll(ctx, r, func(scan func(...any) error) (id string, err error) {
		var body []byte
		if err := scan(&id, &body); err != nil {
			return "", err
		}
		spec, err := decodeColumn[rollout.Spec](body, "spec", "rollout "+id)
		if err != nil || spec.AllAtOnce {
			return "", err
		}
		return id, nil
	}, "SELECT id, spec FROM rollouts WHERE ended_at = 0 AND topic = $1", string(topic))
	if err != nil {
		return nil, fmt.Errorf("list open rollouts: %w", err)
	}
	if open = slices.DeleteFunc(open, func(id string) bool { return id == "" }); len(open) == 0 {
		return nil, nil
	}
	var w where
	w.addNamed("o.id", open)
	w.addIn("m.state", texts(states))
	w.addSelector(robots)
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v RobotOfRollout, err error) {
		return v, scan(&v.Rollout, &v.Robot)
	}, `SELECT m.rollout, m.robot FROM rollouts o JOIN rollout_robots m ON m.rollout = o.id JOIN robots r ON r.id = m.robot`+
		w.String()+" ORDER BY m.rollout, m.robot", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list robots of open rollouts: %w", err)
	}
	return all, nil
}

// gaveOrWill selects the robots m of rollouts n that were given something, which was not taken back, or will be.
const gaveOrWill = "(m.rev > 0 AND m.state <> 'RESTORED' OR n.ended_at = 0 AND m.state IN ('PLANNED', 'DEFERRED', 'WAITING_OFFLINE'))"

// NewerRollouts lists the robots of a rollout to which a rollout of the same kind that was started later gave something,
// or will, with the newest such rollout.
func (r reads) NewerRollouts(ctx context.Context, o rollout.Rollout) (map[string]string, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v RobotOfRollout, err error) {
		return v, scan(&v.Rollout, &v.Robot)
	}, `SELECT n.id, m.robot FROM rollouts n JOIN rollout_robots m ON m.rollout = n.id JOIN rollout_robots own ON own.rollout = $1 AND own.robot = m.robot
		WHERE n.topic = $2 AND n.started_at > $3 AND `+gaveOrWill+` ORDER BY n.started_at`, o.ID, string(o.Content.Topic()), micros(o.StartedAt))
	if err != nil {
		return nil, fmt.Errorf("list rollouts after %s: %w", o.ID, err)
	}
	newer := map[string]string{}
	for _, v := range all {
		newer[v.Robot] = v.Rollout
	}
	return newer, nil
}

// NewestStarts returns when the newest rollout of each kind was started; kinds without one are left out.
func (r reads) NewestStarts(ctx context.Context) (map[schema.TopicKind]time.Time, error) {
	selects := make([]string, len(assignable))
	for i, topic := range assignable {
		selects[i] = "SELECT '" + topic + "', COALESCE(MAX(started_at), 0) FROM rollouts WHERE topic = '" + topic + "'"
	}
	type row struct {
		topic schema.TopicKind
		at    int64
	}
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) { return v, scan(&v.topic, &v.at) },
		strings.Join(selects, " UNION ALL "))
	if err != nil {
		return nil, fmt.Errorf("read when the newest rollouts were started: %w", err)
	}
	out := map[schema.TopicKind]time.Time{}
	for _, v := range all {
		if v.at > 0 {
			out[v.topic] = timeOf(v.at)
		}
	}
	return out, nil
}

// Offerable is what keeps a rollout from offering its content to a robot of the fleet.
type Offerable struct {
	Robot  string
	Newer  bool // a rollout of the same kind that was started later gave it something, or will
	Pinned bool
}

// Offerable lists which of these robots are in the fleet, and what keeps a rollout from offering each its content.
func (t *Tx) Offerable(ctx context.Context, o rollout.Rollout, robots []string) ([]Offerable, error) {
	topic := string(o.Content.Topic())
	w := where{args: []any{topic, micros(o.StartedAt)}, conditions: []string{"r.archived_at = 0"}}
	w.addNamed("r.id", robots)
	all, err := queryAll(ctx, t.reads, func(scan func(...any) error) (v Offerable, err error) {
		var newer, pins int64
		err = scan(&v.Robot, &newer, &pins)
		v.Newer, v.Pinned = newer > 0, pins > 0
		return v, err
	}, `SELECT r.id, (SELECT COUNT(*) FROM rollout_robots m JOIN rollouts n ON n.id = m.rollout WHERE m.robot = r.id AND n.topic = $1
				AND n.started_at > $2 AND `+gaveOrWill+`),
			(SELECT COUNT(*) FROM pins p WHERE p.robot = r.id AND p.topic = $1)
		FROM robots r`+w.String()+" ORDER BY r.id", w.args...)
	if err != nil {
		return nil, fmt.Errorf("look at robots before an offer: %w", err)
	}
	return all, nil
}

// PauseRollouts pauses rollouts, and aborts those that would start by themselves now. Others stay as they are, and so do assignments to
// all robots at once, which only watch what becomes of them.
func (t *Tx) PauseRollouts(ctx context.Context, ids []string, by audit.Attribution) error {
	for _, id := range ids {
		o, err := t.Rollout(ctx, id)
		if err != nil {
			return err
		}
		on, action := rollout.OnPause, audit.ActionRolloutPause
		if o.State == rollout.Scheduled && !o.NotBefore.After(by.At) {
			on, action = rollout.OnAbort, audit.ActionRolloutAbort
		}
		if o.Spec.AllAtOnce || !slices.Contains(o.Possible(), on) {
			continue
		}
		members, err := t.RolloutRobots(ctx, RolloutRobotQuery{Rollout: id})
		if err != nil {
			return err
		}
		c, found := rollout.Decide(rollout.NewRun(o, members), rollout.Decision{On: on, By: by.Who, Why: by.Why}, by.At)
		if len(found) > 0 {
			return fmt.Errorf("%s rollout %s: %s", on, id, found[0])
		}
		if err := t.SaveRollout(ctx, c); err != nil {
			return err
		}
		n := audit.Note{Who: by.Who, What: action, Target: "rollout " + id, Why: by.Why, Detail: o.Content.String()}
		if err := t.Note(ctx, by.At, n); err != nil {
			return err
		}
	}
	return nil
}

// NewRollout is a rollout to add, with its robots.
type NewRollout struct {
	rollout.Rollout
	Members []rollout.Robot
}

// AddRollouts adds rollouts with their waves and robots. The version of each becomes 1.
func (t *Tx) AddRollouts(ctx context.Context, all ...NewRollout) error {
	var rows []rolloutRow
	var waves []waveRow
	var robots []rolloutRobotRow
	for _, o := range all {
		row := rolloutRow{NewRollout: o}
		var err error
		if row.content, err = schema.Encode(o.Content); err != nil {
			return fmt.Errorf("write the content of rollout %s: %w", o.ID, err)
		}
		if row.spec, err = schema.Encode(o.Spec); err != nil {
			return fmt.Errorf("write the plan of rollout %s: %w", o.ID, err)
		}
		rows = append(rows, row)
		if waves, err = addWaveRows(waves, o.Rollout); err != nil {
			return err
		}
		if robots, err = addRolloutRobotRows(robots, o.ID, o.Members); err != nil {
			return err
		}
	}
	if _, err := writeRows(ctx, t, rows, rolloutColumns, `INSERT INTO rollouts (id, version, name, state, why, cause, cause_id, topic, content, digest, selector, spec, seed, wave, total,
			created_at, created_by, approved_at, approved_by, not_before, started_at, ended_at, next_at)
		SELECT id, 1, name, state, why, cause, cause_id, topic, content, digest, selector, spec, seed, wave, total,
			created_at, created_by, approved_at, approved_by, not_before, started_at, ended_at, next_at FROM given`); err != nil {
		return fmt.Errorf("add %d rollouts: %w", len(rows), err)
	}
	if _, err := writeRows(ctx, t, waves, waveColumns, `INSERT INTO rollout_waves (rollout, number, name, state, why, gate, total, counts, started_at, soak_from, ended_at)
		SELECT rollout, number, name, state, why, gate, total, counts, started_at, soak_from, ended_at FROM given`); err != nil {
		return fmt.Errorf("add %d waves: %w", len(waves), err)
	}
	if _, err := writeRows(ctx, t, robots, rolloutRobotColumns, `INSERT INTO rollout_robots (rollout, robot, wave, place, state, phase, why, reason, rev, had, tries,
			changed_at, offered_at, active_at, retry_at, spent_us, spent_at, retry_us)
		SELECT rollout, robot, wave, place, state, phase, why, reason, rev, had, tries,
			changed_at, offered_at, active_at, retry_at, spent_us, spent_at, retry_us FROM given`); err != nil {
		return fmt.Errorf("add %d robots of rollouts: %w", len(robots), err)
	}
	return nil
}

// rolloutRow is a new rollout, as it is written.
type rolloutRow struct {
	NewRollout
	content, spec []byte
}

var rolloutColumns = []column[rolloutRow]{
	text("id", func(o rolloutRow) string { return o.ID }),
	text("name", func(o rolloutRow) string { return o.Name }),
	text("state", func(o rolloutRow) string { return string(o.State) }),
	text("why", func(o rolloutRow) string { return o.Why }),
	text("cause", func(o rolloutRow) string { return string(o.Cause) }),
	text("cause_id", func(o rolloutRow) string { return o.CauseID }),
	text("topic", func(o rolloutRow) string { return string(o.Content.Topic()) }),
	binary("content", func(o rolloutRow) []byte { return o.content }),
	text("digest", func(o rolloutRow) string { return o.Digest }),
	text("selector", func(o rolloutRow) string { return o.Robots }),
	binary("spec", func(o rolloutRow) []byte { return o.spec }),
	number("seed", func(o rolloutRow) int64 { return int64(o.Seed) }),
	number("wave", func(o rolloutRow) int64 { return int64(o.Wave) }),
	number("total", func(o rolloutRow) int64 { return int64(len(o.Members)) }),
	number("created_at", func(o rolloutRow) int64 { return micros(o.CreatedAt) }),
	text("created_by", func(o rolloutRow) string { return o.CreatedBy }),
	number("approved_at", func(o rolloutRow) int64 { return micros(o.ApprovedAt) }),
	text("approved_by", func(o rolloutRow) string { return o.ApprovedBy }),
	number("not_before", func(o rolloutRow) int64 { return micros(o.NotBefore) }),
	number("started_at", func(o rolloutRow) int64 { return micros(o.StartedAt) }),
	number("ended_at", func(o rolloutRow) int64 { return micros(o.EndedAt) }),
	number("next_at", func(o rolloutRow) int64 { return micros(o.NextAt) }),
}

// SaveRollout saves changes of a rollout, its waves and its robots, and raises its version. If it does not have the
// version of the changes any more, the error is ErrConflict.
func (t *Tx) SaveRollout(ctx context.Context, c rollout.Changes) error {
	o := c.Rollout
	n, err := t.exec(ctx, `UPDATE rollouts SET version = version + 1, state = $3, why = $4, wave = $5, approved_at = $6, approved_by = $7,
			not_before = $8, started_at = $9, ended_at = $10, next_at = $11 WHERE id = $1 AND version = $2`,
		o.ID, o.Version, string(o.State), o.Why, o.Wave, micros(o.ApprovedAt), o.ApprovedBy, micros(o.NotBefore), micros(o.StartedAt), micros(o.EndedAt), micros(o.NextAt))
	if err := expectOne(n, err, "rollout "+o.ID); err != nil {
		return err
	}
	waves, err := addWaveRows(nil, o)
	if err != nil {
		return err
	}
	n, err = writeRows(ctx, t, waves, waveColumns, `UPDATE rollout_waves SET state = given.state, why = given.why, gate = given.gate, counts = given.counts,
			started_at = given.started_at, soak_from = given.soak_from, ended_at = given.ended_at
		FROM given WHERE rollout_waves.rollout = given.rollout AND rollout_waves.number = given.number`)
	if err := expectRows(int64(len(waves)), n, err, "the waves of rollout "+o.ID); err != nil {
		return err
	}
	rows, err := addRolloutRobotRows(nil, o.ID, c.Robots)
	if err != nil {
		return err
	}
	n, err = writeRows(ctx, t, rows, rolloutRobotColumns, `UPDATE rollout_robots SET state = given.state, phase = given.phase, why = given.why,
			reason = given.reason, rev = given.rev, had = given.had, tries = given.tries, changed_at = given.changed_at, offered_at = given.offered_at,
			active_at = given.active_at, retry_at = given.retry_at, spent_us = given.spent_us, spent_at = given.spent_at, retry_us = given.retry_us
		FROM given WHERE rollout_robots.rollout = given.rollout AND rollout_robots.robot = given.robot`)
	return expectRows(int64(len(rows)), n, err, "robots of rollout "+o.ID)
}

func addWaveRows(rows []waveRow, o rollout.Rollout) (_ []waveRow, err error) {
	for _, wave := range o.Waves {
		v := waveRow{rollout: o.ID, Wave: wave}
		if v.gate, err = schema.Encode(v.Gate); err != nil {
			return nil, fmt.Errorf("write the gate of a wave of rollout %s: %w", o.ID, err)
		}
		if v.Counts == nil {
			v.Counts = map[rollout.RobotState]int{}
		}
		if v.counts, err = schema.Encode(v.Counts); err != nil {
			return nil, fmt.Errorf("write the counts of a wave of rollout %s: %w", o.ID, err)
		}
		rows = append(rows, v)
	}
	return rows, nil
}

var waveColumns = []column[waveRow]{
	text("rollout", func(v waveRow) string { return v.rollout }),
	number("number", func(v waveRow) int64 { return int64(v.Number) }),
	text("name", func(v waveRow) string { return v.Name }),
	text("state", func(v waveRow) string { return string(v.State) }),
	text("why", func(v waveRow) string { return v.Why }),
	binary("gate", func(v waveRow) []byte { return v.gate }),
	number("total", func(v waveRow) int64 { return int64(v.Total) }),
	binary("counts", func(v waveRow) []byte { return v.counts }),
	number("started_at", func(v waveRow) int64 { return micros(v.StartedAt) }),
	number("soak_from", func(v waveRow) int64 { return micros(v.SoakFrom) }),
	number("ended_at", func(v waveRow) int64 { return micros(v.EndedAt) }),
}

// rolloutRobotRow is one robot of one rollout, as it is written.
type rolloutRobotRow struct {
	rollout string
	rollout.Robot
	had []byte
}

// addRolloutRobotRows adds the rows of robots, of each the last one, in the order of robots: so two writers lock them in
// the same order.
func addRolloutRobotRows(rows []rolloutRobotRow, id string, robots []rollout.Robot) (_ []rolloutRobotRow, err error) {
	type encoded struct {
		had  *content.Content
		text []byte
	}
	var last encoded // robots that had the same mostly share one value
	sorted := slices.SortedStableFunc(slices.Values(robots), func(a, b rollout.Robot) int { return strings.Compare(a.ID, b.ID) })
	for i, robot := range sorted {
		if i+1 < len(sorted) && sorted[i+1].ID == robot.ID {
			continue
		}
		v := rolloutRobotRow{rollout: id, Robot: robot}
		if v.Had != nil {
			if v.Had != last.had {
				last.had = v.Had
				if last.text, err = schema.Encode(v.Had); err != nil {
					return nil, fmt.Errorf("write what robot %s had: %w", robot.ID, err)
				}
			}
			v.had = last.text
		}
		rows = append(rows, v)
	}
	return rows, nil
}

var rolloutRobotColumns = []column[rolloutRobotRow]{
	text("rollout", func(v rolloutRobotRow) string { return v.rollout }),
	text("robot", func(v rolloutRobotRow) string { return v.ID }),
	number("wave", func(v rolloutRobotRow) int64 { return int64(v.Wave) }),
	number("place", func(v rolloutRobotRow) int64 { return int64(v.Place) }),
	text("state", func(v rolloutRobotRow) string { return string(v.State) }),
	text("phase", func(v rolloutRobotRow) string { return string(v.Phase) }),
	text("why", func(v rolloutRobotRow) string { return v.Why }),
	text("reason", func(v rolloutRobotRow) string { return v.Group }),
	number("rev", func(v rolloutRobotRow) int64 { return v.Rev }),
	binary("had", func(v rolloutRobotRow) []byte { return v.had }),
	number("tries", func(v rolloutRobotRow) int64 { return int64(v.Tries) }),
	number("changed_at", func(v rolloutRobotRow) int64 { return micros(v.ChangedAt) }),
	number("offered_at", func(v rolloutRobotRow) int64 { return micros(v.OfferedAt) }),
	number("active_at", func(v rolloutRobotRow) int64 { return micros(v.ActiveAt) }),
	number("retry_at", func(v rolloutRobotRow) int64 { return micros(v.RetryAt) }),
	number("spent_us", func(v rolloutRobotRow) int64 { return v.Spent.Microseconds() }),
	number("spent_at", func(v rolloutRobotRow) int64 { return micros(v.SpentAt) }),
	number("retry_us", func(v rolloutRobotRow) int64 { return v.RetryFor.Microseconds() }),
}

// Pin says that a person pinned what a robot has of one kind of desired document: policies and rollouts leave it.
type Pin struct {
	Robot string
	Topic schema.TopicKind
	At    time.Time
	By    string
	Why   string
}

// PinQuery selects pins. Zero values select all.
type PinQuery struct {
	Robot string
	Topic schema.TopicKind
	Sites []string // only of robots of these sites
	IDs   []string // only of these robots, any number
}

// Pins lists pins by robot and topic.
func (r reads) Pins(ctx context.Context, q PinQuery) ([]Pin, error) {
	var w where
	w.addIf(q.Robot != "", "robot = %s", q.Robot)
	w.addIf(q.Topic != "", "topic = %s", string(q.Topic))
	w.addSites(q.Sites)
	if q.IDs != nil {
		w.addNamed("robot", q.IDs)
	}
	all, err := queryAll(ctx, r, func(scan func(...any) error) (p Pin, err error) {
		var at int64
		err = scan(&p.Robot, &p.Topic, &at, &p.By, &p.Why)
		p.At = timeOf(at)
		return p, err
	}, "SELECT robot, topic, at, by_who, why FROM pins"+w.String()+" ORDER BY robot, topic", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list pins: %w", err)
	}
	return all, nil
}

// SetPins adds pins, or replaces who set them and why.
func (t *Tx) SetPins(ctx context.Context, pins []Pin) error {
	if _, err := writeRows(ctx, t, pins, pinColumns, `INSERT INTO pins (robot, topic, at, by_who, why) SELECT robot, topic, at, by_who, why FROM given WHERE true
		ON CONFLICT (robot, topic) DO UPDATE SET at = excluded.at, by_who = excluded.by_who, why = excluded.why`); err != nil {
		return fmt.Errorf("write %d pins: %w", len(pins), err)
	}
	return nil
}

var pinColumns = []column[Pin]{
	text("robot", func(p Pin) string { return p.Robot }),
	text("topic", func(p Pin) string { return string(p.Topic) }),
	number("at", func(p Pin) int64 { return micros(p.At) }),
	text("by_who", func(p Pin) string { return p.By }),
	text("why", func(p Pin) string { return p.Why }),
}

// RemovePin removes a pin, or returns ErrNotFound.
func (t *Tx) RemovePin(ctx context.Context, robot string, topic schema.TopicKind) error {
	n, err := t.exec(ctx, `DELETE FROM pins WHERE robot = $1 AND topic = $2`, robot, string(topic))
	if err != nil {
		return fmt.Errorf("remove a pin of %s: %w", robot, err)
	}
	if n == 0 {
		return fmt.Errorf("pin %s of %s: %w", topic, robot, ErrNotFound)
	}
	return nil
}
