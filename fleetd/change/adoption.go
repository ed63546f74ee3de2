package change

import (
	"context"
	"slices"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/store"
)

// Adoptions adds robots to the fleet.
type Adoptions struct{ Deps }

// Adopt adds a robot to the fleet, and reports whether it was not in it.
func (a *Adoptions) Adopt(ctx context.Context, p auth.Principal, robot string, by audit.Attribution) (added bool, err error) {
	all, err := a.AdoptAll(ctx, p, []string{robot}, by)
	return len(all) > 0, err
}

// adoptAtOnce bounds the robots of one transaction: other changes wait for it.
const adoptAtOnce = 500

// AdoptAll adds robots to the fleet, each named once, and returns those that were not in it. After an error these are some of them:
// the robots are added some hundreds at once.
func (a *Adoptions) AdoptAll(ctx context.Context, p auth.Principal, robots []string, by audit.Attribution) (added []string, err error) {
	for some := range slices.Chunk(robots, adoptAtOnce) {
		joined, err := a.adopt(ctx, p, some, by)
		if err != nil {
			return added, err
		}
		added = append(added, joined...)
		a.Changed(ctx, some)
	}
	return added, nil
}

// adopt adds robots to the fleet in one transaction, and returns those that were not in it.
func (a *Adoptions) adopt(ctx context.Context, p auth.Principal, robots []string, by audit.Attribution) (added []string, err error) {
	now := a.Now()
	err = a.transact(ctx, p, func(tx *store.Tx) (err error) {
		if added, err = tx.AddRobots(ctx, robots, now); err != nil || len(added) == 0 {
			return err
		}
		slices.Sort(added)
		for _, robot := range added {
			if err := tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionAdopt, Target: "robot " + robot, Why: by.Why}); err != nil {
				return err
			}
		}
		return a.welcome(ctx, tx, added, "adopted", by.WithTime(now))
	})
	return added, err
}
