package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Decide carries out a person's decision about a rollout. expected is the number of robots that it is about, or nil; robots
// is that number.
func (o *Rollouts) Decide(
	ctx context.Context, p auth.Principal, id string, d rollout.Decision, expected *int,
) (after rollout.Rollout, robots int, found []schema.Problem, err error) {
	err = o.transact(ctx, p, func(tx *store.Tx) error {
		row, err := tx.Rollout(ctx, id)
		if err != nil {
			return err
		}
		var members []rollout.Robot
		if d.NeedsRobots(row.State) {
			if members, err = tx.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: id}); err != nil {
				return err
			}
		}
		now := o.Now()
		robots = affected(row, d.On)
		run := rollout.NewRun(row, members)
		var c rollout.Changes
		if c, found = rollout.Decide(run, d, now); len(found) == 0 && expected != nil && *expected != robots {
			found = []schema.Problem{schema.NewProblem("/expected_count", desired.CodeCountChanged,
				fmt.Sprintf("it is about %d robots, %d were expected", robots, *expected), "look at the rollout again")}
		}
		if len(found) > 0 {
			after = row
			return errRefused
		}
		if row.StartedAt.IsZero() && !c.Rollout.StartedAt.IsZero() {
			if err := startLast(ctx, tx, &c.Rollout); err != nil {
				return err
			}
		}
		if err := tx.SaveRollout(ctx, c); err != nil {
			return err
		}
		after = c.Rollout
		after.Version++
		return o.notes(ctx, tx, c, now)
	})
	if errors.Is(err, errRefused) {
		return after, robots, found, nil
	}
	if err == nil {
		o.Changed(ctx, nil)
	}
	return after, robots, nil, err
}

// startLast makes a rollout that starts newer than all others of its kind, also if the clock was set back, or differs from
// that of another instance. One that waits for something has not started.
func startLast(ctx context.Context, tx *store.Tx, o *rollout.Rollout) error {
	if o.StartedAt.IsZero() {
		return nil
	}
	starts, err := tx.NewestStarts(ctx)
	if err != nil {
		return err
	}
	if newest := starts[o.Content.Topic()]; !o.StartedAt.After(newest) {
		o.StartedAt = newest.Add(time.Microsecond)
	}
	return nil
}

// affected is how many robots a decision is about: those that failed, those that got the content, or all.
func affected(o rollout.Rollout, on rollout.Event) (n int) {
	switch on {
	case rollout.OnRetry:
		return o.Failures()
	case rollout.OnRollback:
		for _, w := range o.Waves {
			for _, state := range gotContent {
				n += w.Counts[state]
			}
		}
		return n
	}
	for _, w := range o.Waves {
		n += w.Total
	}
	return n
}

// gotContent are the states of robots that were offered the content.
var gotContent = append([]rollout.RobotState{rollout.Offered, rollout.Active, rollout.Confirmed, rollout.NotRestored}, rollout.Failures...)

// Step saves what rollout.Step decided about a rollout, and in the same transaction gives robots the content or what they
// had before. If the rollout was changed meanwhile, the error is ErrConflict. After an error the run has to be made again
// from rows.
func (o *Rollouts) Step(ctx context.Context, run *rollout.Run, c rollout.Changes, now time.Time) error {
	var after *rollout.Run
	var touched []string
	err := o.transact(ctx, auth.Principal{}, func(tx *store.Tx) error {
		if version, err := tx.RolloutVersionOf(ctx, c.Rollout.ID); err != nil || version != c.Rollout.Version {
			return cmp.Or(err, fmt.Errorf("rollout %s: %w", c.Rollout.ID, store.ErrConflict))
		}
		saved := c
		after, touched = run, nil
		if len(c.Offers)+len(c.Restore) > 0 {
			given := map[string]rollout.Given{}
			if err := o.give(ctx, tx, c.Rollout, c.Rollout.Content, c.Offers, now, given); err != nil {
				return err
			}
			for _, back := range c.Restore {
				if err := o.give(ctx, tx, c.Rollout, back.Content, back.Robots, now, given); err != nil {
					return err
				}
			}
			after = rollout.NewRun(run.Rollout, run.Robots()) // the transaction may run again
			saved = rollout.Assigned(after, c, given, now)
			for robot, g := range given {
				if g.Refused == "" && !g.Unchanged {
					touched = append(touched, robot)
				}
			}
		}
		if slices.ContainsFunc(saved.Notes, func(n rollout.Note) bool { return n.What == rollout.OnStart }) {
			if err := startLast(ctx, tx, &saved.Rollout); err != nil {
				return err
			}
			after.Rollout.StartedAt = saved.Rollout.StartedAt
		}
		if err := tx.SaveRollout(ctx, saved); err != nil {
			return err
		}
		if err := o.notes(ctx, tx, saved, now); err != nil {
			return err
		}
		return o.settle(ctx, tx, saved, run.Robots(), now)
	})
	if err != nil {
		return err
	}
	*run = *after
	run.Rollout.Version++
	o.Changed(ctx, touched)
	return nil
}

// give gives robots of a rollout a content, and adds what each got to given. Robots that left the fleet, that a later
// rollout has, or that were pinned meanwhile get nothing: the next step sees that.
func (o *Rollouts) give(
	ctx context.Context, tx *store.Tx, of rollout.Rollout, c content.Content, robots []string, now time.Time, given map[string]rollout.Given,
) error {
	if len(robots) == 0 {
		return nil
	}
	may, err := tx.Offerable(ctx, of, robots)
	if err != nil {
		return err
	}
	pinned := of.State == rollout.Running && of.Spec.Pinned == rollout.PinnedLeave // a rollback gives back what was taken
	var ready []string
	for _, r := range may {
		if !r.Newer && !(r.Pinned && pinned) {
			ready = append(ready, r.Robot)
		}
	}
	if c.Mode != nil {
		if ready, err = withoutAhead(ctx, tx, ready); err != nil {
			return err
		}
	}
	if len(ready) == 0 {
		return nil
	}
	by := audit.Attribution{Who: cmp.Or(of.CreatedBy, o.Name), Why: "rollout " + of.ID, At: now}
	planned, found, err := o.planContent(ctx, tx, c, ready, by)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		for _, robot := range ready {
			given[robot] = rollout.Given{Refused: found[0].Detail, Reason: schema.Reason(found[0].Code)}
		}
		return nil
	}
	if err := planned.apply(ctx); err != nil {
		return err
	}
	for robot, g := range planned.given {
		given[robot] = g
	}
	return nil
}

// withoutAhead leaves out robots that have a newer desired mode than the database, as after it was restored from a copy: the rollout may
// have given them the mode already, and a person may have chosen another one since. Fleetd numbers their documents again, and pauses
// the rollout then.
func withoutAhead(ctx context.Context, tx *store.Tx, robots []string) ([]string, error) {
	rows, err := tx.DesiredRows(ctx, schema.TopicDesiredMode, selector.IDs(robots...))
	if err != nil {
		return nil, err
	}
	ahead := map[string]bool{}
	for _, r := range rows.Robots {
		ahead[r.ID] = r.Reported.MustRenumber(r.Current.Rev)
	}
	return slices.DeleteFunc(robots, func(id string) bool { return ahead[id] }), nil
}

// actions are what the audit says of the events of a rollout.
var actions = map[rollout.Event]audit.Action{
	rollout.OnApprove: audit.ActionRolloutApprove, rollout.OnSchedule: audit.ActionRollout, rollout.OnStart: audit.ActionRolloutStart,
	rollout.OnPause: audit.ActionRolloutPause, rollout.OnThreshold: audit.ActionRolloutPause, rollout.OnResume: audit.ActionRolloutResume,
	rollout.OnRetry: audit.ActionRolloutRetry, rollout.OnAbort: audit.ActionRolloutAbort, rollout.OnRollback: audit.ActionRolloutRollback,
	rollout.OnWavePassed: audit.ActionRolloutAdvance,
	rollout.OnAllDone:    audit.ActionRolloutEnd, rollout.OnDoneFailed: audit.ActionRolloutEnd,
	rollout.OnRestored: audit.ActionRolloutEnd, rollout.OnIncomplete: audit.ActionRolloutEnd,
}

// notes writes what was decided into the audit.
func (o *Rollouts) notes(ctx context.Context, tx *store.Tx, c rollout.Changes, now time.Time) error {
	for _, n := range c.Notes {
		note := rolloutNote(c.Rollout, cmp.Or(actions[n.What], audit.ActionRollout), cmp.Or(n.By, o.Name), n.Why)
		if n.Wave < len(c.Rollout.Waves) {
			note.Detail += ", wave " + c.Rollout.Waves[n.Wave].Name
		}
		if err := tx.Note(ctx, now, note); err != nil {
			return err
		}
	}
	return nil
}

func rolloutNote(r rollout.Rollout, what audit.Action, who, why string) audit.Note {
	return audit.Note{Who: who, What: what, Target: "rollout " + r.ID, Why: why, Detail: r.Content.String()}
}
