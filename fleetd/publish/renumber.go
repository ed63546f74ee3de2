package publish

import (
	"context"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// renumberOvertaken gives desired documents a higher revision if robots report a higher one
// than the database has: the database was restored from an older copy, or somebody published
// a desired document manually. Robots ignore revisions that are not higher than the last, so
// the document has to be published under a new one. Two databases with one fleet id would
// renumber for ever, so each time waits longer for that document of that robot.
func (d *driftChecker) renumberOvertaken(ctx context.Context, db Store, revs map[string]map[schema.TopicKind]int64, now time.Time) {
	for topic, robots := range d.deps.Robots.Overtaken(revs) {
		var due []string
		for _, id := range robots {
			if d.renumbered.allows(string(topic)+" "+id, now) {
				due = append(due, id)
			}
		}
		if len(due) == 0 {
			continue
		}
		changed, err := renumber(ctx, db, topic, due, d.deps.Name, now)
		if err != nil {
			d.deps.Failed("desired documents not renumbered", err)
			return
		}
		if len(changed) > 0 {
			d.deps.Log.Warn("robots report higher revisions of desired documents than the database has; it was restored from a copy, or somebody "+
				"published documents manually; renumbered", "topic", topic, "robots", changed)
			d.deps.Changed(ctx, changed)
		}
	}
}

func renumber(ctx context.Context, db Store, topic schema.TopicKind, robots []string, who string,
	now time.Time) (changed []string, err error) {
	const why = "the robots' numbers were ahead of the database's"
	err = db.Tx(ctx, func(tx *store.Tx) error {
		if topic == schema.TopicDesiredStory {
			by := audit.Attribution{Who: who, Why: why, At: now}
			rows, err := tx.LibraryFor(ctx, library.ForRenumber(), selector.IDs(robots...))
			if err != nil {
				return err
			}
			names, changes, problems := library.Renumber(rows, robots, by)
			if len(problems) > 0 {
				return fmt.Errorf("renumber default stories: %v", problems[0])
			}
			changed = names
			if err := tx.Apply(ctx, changes, now); err != nil {
				return err
			}
			return pauseRollouts(ctx, tx, topic, changed, by)
		}
		by := audit.Attribution{Who: who, Why: why, At: now}
		rows, err := tx.DesiredRows(ctx, topic, selector.IDs(robots...))
		if err != nil {
			return err
		}
		changes, problems := desired.Renumber(topic, rows, by)
		if len(problems) > 0 {
			return fmt.Errorf("renumber desired documents: %v", problems[0])
		}
		changed = changes.Updated
		if err := tx.ApplyDesired(ctx, changes, by); err != nil {
			return err
		}
		return pauseRollouts(ctx, tx, topic, changed, by)
	})
	return changed, err
}

// pauseRollouts pauses the rollouts that have not decided some of these robots: in the database from before a restore their turn may be
// yet to come, although they got the content long ago, and a person may have given them something else since.
func pauseRollouts(ctx context.Context, tx *store.Tx, topic schema.TopicKind, robots []string, by audit.Attribution) error {
	open := slices.DeleteFunc(slices.Clone(rollout.RobotStates), func(s rollout.RobotState) bool { return !s.Open() })
	members, err := tx.RobotsOfOpenRollouts(ctx, topic, selector.IDs(robots...), open)
	if err != nil {
		return err
	}
	var ids []string
	for _, m := range members {
		ids = append(ids, m.Rollout)
	}
	slices.Sort(ids)
	by.Why += ", as after a restore: look at what robots have before it goes on"
	return tx.PauseRollouts(ctx, slices.Compact(ids), by)
}

// backoff spaces what is done repeatedly for the same robot or document, by a key: each pause is
// twice the one before, and after a quiet time there is none.
type backoff map[string]nextAttempt

func (o backoff) allows(key string, now time.Time) bool {
	was, known := o[key]
	if known && now.Before(was.at) {
		return false
	}
	wait := driftGrace
	if known && now.Sub(was.at) < driftLimit {
		wait = min(2*was.pause, driftLimit)
	}
	o[key] = nextAttempt{at: now.Add(wait), pause: wait}
	return true
}
