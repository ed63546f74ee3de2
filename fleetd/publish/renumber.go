package publish

import (
	"context"
	"fmt"
	"time"

	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// What robots say of the numbers of their desired documents. The database's own may lie behind
// them: it was set back to an older copy, or somebody put a desired state manually. Robots
// heed no number twice and none that is lower, so a desired state that was overtaken is told
// again under a higher one.

// again tells desired documents once more that were overtaken. The robots' reports are what
// decides, so whichever fleetd looks first does it; two databases that claim to be
// one fleet would outdo each other for ever, so each time it is later.
func (d *driftChecker) again(ctx context.Context, db Store, revs map[string]map[schema.TopicKind]int64, now time.Time) {
	for topic, robots := range d.deps.Robots.Overtaken(revs) {
		var due []string
		for _, id := range robots {
			if d.outdone.mayNow(id, now) {
				due = append(due, id)
			}
		}
		if len(due) == 0 {
			continue
		}
		told, err := tellAgain(ctx, db, topic, due, d.deps.Name, now)
		if err != nil {
			d.deps.Failed("desired documents not told again", err)
			return
		}
		if len(told) > 0 {
			d.deps.Log.Warn("desired documents were overtaken by numbers that are not in this database: it was set back, or somebody desired documents manually; told again", "topic", topic, "robots", told)
			d.deps.Changed(ctx)
		}
	}
}

func tellAgain(ctx context.Context, db Store, topic schema.TopicKind, robots []string, who string, now time.Time) (told []string, err error) {
	const why = "the robots' numbers were ahead of the database's"
	err = db.Tx(ctx, func(tx *store.Tx) error {
		if topic == schema.TopicDesiredStory {
			by := library.By{Who: who, Why: why, At: now}
			rows, err := tx.LibraryFor(ctx, library.ForAgain(), selector.IDs(robots...))
			if err != nil {
				return err
			}
			names, changes, problems := library.Again(rows, robots, by)
			if len(problems) > 0 {
				return fmt.Errorf("tell default stories again: %v", problems[0])
			}
			told = names
			return tx.Apply(ctx, changes, now)
		}
		by := desired.By{Who: who, Why: why, At: now}
		rows, err := tx.DesiredRows(ctx, topic, selector.IDs(robots...))
		if err != nil {
			return err
		}
		changes, problems := desired.Again(topic, rows, by)
		if len(problems) > 0 {
			return fmt.Errorf("tell desired documents again: %v", problems[0])
		}
		told = changes.Told
		return tx.ApplyDesired(ctx, changes, by)
	})
	return told, err
}

// renumberBackoff spaces what is done again and again for the same robot. Each time it is
// twice as late, and after a quiet time it is at once again.
type renumberBackoff map[string]drift

func (o renumberBackoff) mayNow(robot string, now time.Time) bool {
	was, known := o[robot]
	if known && now.Before(was.next) {
		return false
	}
	wait := doubtPatience
	if known && now.Sub(was.next) < doubtLimit {
		wait = min(2*was.wait, doubtLimit)
	}
	o[robot] = drift{next: now.Add(wait), wait: wait}
	return true
}
