package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"troupe/fleetd/audit"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
)

// RolloutEnd is an open rollout that gives robots nothing any more, because a policy decides something else for them.
type RolloutEnd struct {
	Rollout rollout.Rollout
	Robots  []string // that it has not decided; they keep what they have, or are given what the policy says
	Whole   bool     // it is aborted
	why     string
}

// endings lists what a change of a policy does to open rollouts: that of what the policy said before is aborted, since robots whose
// turn comes later would still get it, and no other one gives robots something else that have what is decided for them now. The
// robots that get something else are taken by their own rollout.
func (d *Deps) endings(ctx context.Context, tx *store.Tx, groups []group, was policy.Policy, aborts bool) (all []RolloutEnd, err error) {
	if aborts && was.Rollout != "" {
		ends, open, err := d.wholeEnd(ctx, tx, was)
		if err != nil {
			return nil, err
		}
		if open {
			all = append(all, ends)
		}
	}
	for _, g := range groups {
		more, err := d.partEnds(ctx, tx, g)
		if err != nil {
			return nil, err
		}
		for _, ends := range more {
			if len(all) == 0 || all[0].Rollout.ID != ends.Rollout.ID {
				all = append(all, ends)
			}
		}
	}
	return all, nil
}

// wholeEnd is the end of the rollout of what a policy said; false if it is over.
func (d *Deps) wholeEnd(ctx context.Context, tx *store.Tx, was policy.Policy) (ends RolloutEnd, open bool, err error) {
	o, err := tx.Rollout(ctx, was.Rollout)
	if errors.Is(err, store.ErrNotFound) {
		return ends, false, nil
	}
	if err != nil || !slices.Contains(o.Possible(), rollout.OnAbort) {
		return ends, false, err
	}
	members, err := tx.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: o.ID, States: openStates})
	return RolloutEnd{Rollout: o, Robots: robotIDs(members), Whole: true, why: "policy " + was.ID + " changed"}, true, err
}

// partEnds are the open rollouts that would give other contents to robots that have what their policy says.
func (d *Deps) partEnds(ctx context.Context, tx *store.Tx, g group) (all []RolloutEnd, err error) {
	if len(g.unchanged) == 0 {
		return nil, nil
	}
	members, err := tx.RobotsOfOpenRollouts(ctx, g.policy.Topic(), selector.IDs(g.unchanged...), openStates)
	if err != nil {
		return nil, err
	}
	of := map[string][]string{}
	for _, m := range members {
		of[m.Rollout] = append(of[m.Rollout], m.Robot)
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		o, err := tx.Rollout(ctx, id)
		if err != nil {
			return nil, err
		}
		if g.policy.Content.Contradicts(o.Content) {
			all = append(all, RolloutEnd{Rollout: o, Robots: of[id], why: "policy " + g.policy.ID + " says that it keeps what it has"})
		}
	}
	return all, nil
}

// end makes a rollout give its robots nothing any more.
func (o *Rollouts) end(ctx context.Context, tx *store.Tx, ends RolloutEnd, by audit.Attribution) error {
	row, err := tx.Rollout(ctx, ends.Rollout.ID) // which another rollout may have changed in this transaction
	if err != nil {
		return err
	}
	members, err := tx.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: row.ID})
	if err != nil {
		return err
	}
	run := rollout.NewRun(row, members)
	if !ends.Whole {
		c := rollout.Supersede(run, ends.Robots, ends.why, by.At)
		return tx.SaveRollout(ctx, c)
	}
	c, found := rollout.Decide(run, rollout.Decision{On: rollout.OnAbort, By: by.Who, Why: ends.why}, by.At)
	if len(found) > 0 {
		return fmt.Errorf("abort rollout %s: %s", row.ID, found[0])
	}
	if err := tx.SaveRollout(ctx, c); err != nil {
		return err
	}
	return o.notes(ctx, tx, c, by.At)
}
