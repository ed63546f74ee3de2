package change

import (
	"context"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/store"
)

// Adoptions adds robots to the fleet.
type Adoptions struct{ Deps }

// Adopt adds a robot to the fleet, and reports whether it was not in it.
func (a *Adoptions) Adopt(ctx context.Context, p auth.Principal, robot string, by audit.Attribution) (added bool, err error) {
	now := a.Now()
	err = a.transact(ctx, p, func(tx *store.Tx) (err error) {
		if added, err = tx.AddRobot(ctx, robot, now); err != nil || !added {
			return err
		}
		if err := tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionAdopt, Target: "robot " + robot, Why: by.Why}); err != nil {
			return err
		}
		return a.welcome(ctx, tx, robot, "adopted", by.WithTime(now))
	})
	if err == nil {
		a.Changed(ctx, []string{robot})
	}
	return added, err
}
