package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/rollout"
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
	o.CreatedAt, o.ApprovedAt, o.NotBefore, o.StartedAt, o.EndedAt, o.NextAt = timeOf(created), timeOf(approved), timeOf(notBefore),
		timeOf(started), timeOf(ended), timeOf(next)
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
	all, err := queryAll(ctx, r, scanRollout, selectRollouts+w.String()+" ORDER BY o.created_at DESC, o.id DESC LIMIT "+
		w.arg(limitOf(q.Limit)), w.args...)
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
	waves, err := queryAll(ctx, r, scanWave,
		"SELECT rollout, number, name, state, why, gate, total, counts, started_at, soak_from, ended_at FROM rollout_waves"+
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
