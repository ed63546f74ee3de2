package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/content"
	"troupe/fleetd/rollout"
	"troupe/schema"
)

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
		o.ID, o.Version, string(o.State), o.Why, o.Wave, micros(o.ApprovedAt), o.ApprovedBy, micros(o.NotBefore), micros(o.StartedAt),
		micros(o.EndedAt), micros(o.NextAt))
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
