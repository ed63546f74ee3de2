package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/schema"
)

const selectRolloutRobots = `SELECT m.robot, m.wave, m.place, m.state, m.phase, m.why, m.reason, m.rev, m.had, m.tries,
	m.changed_at, m.offered_at, m.active_at, m.retry_at, m.spent_us, m.spent_at, m.retry_us FROM rollout_robots m`

func scanRolloutRobot(scan func(...any) error) (m rollout.Robot, err error) {
	var had []byte
	var changed, offered, active, retry, spent, spentAt, retryFor int64
	if err := scan(&m.ID, &m.Wave, &m.Place, &m.State, &m.Phase, &m.Why, &m.Group, &m.Rev, &had, &m.Tries,
		&changed, &offered, &active, &retry, &spent, &spentAt, &retryFor); err != nil {
		return m, err
	}
	m.ChangedAt, m.OfferedAt, m.ActiveAt, m.RetryAt, m.SpentAt = timeOf(changed), timeOf(offered), timeOf(active), timeOf(retry),
		timeOf(spentAt)
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
