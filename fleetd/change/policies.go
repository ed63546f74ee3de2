package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/content"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Policies changes which content robots have by their labels.
type Policies struct {
	Deps
	Rollouts *Rollouts // bring what changes to robots
}

// PolicyPut is a new or changed policy.
type PolicyPut struct {
	Policy   policy.Policy // its content need not be resolved
	Version  *int64        // that the caller read; 0 = it must be new; nil = any
	Expected *int          // number of robots that get something else; nil = any
	DryRun   bool

	Now       bool         // its robots get at once what it says, and not by a rollout
	Spec      rollout.Spec // of the rollout; zero = the defaults
	Supersede *int         // number of robots that it takes from open rollouts; without it, it may take none
}

// PolicyEffect is what a change of a policy means for robots.
type PolicyEffect struct {
	Policy    policy.Policy // as it is afterwards, or as it was before it was deleted
	Total     int           // robots that it selects
	Decides   []string      // robots for which it decides, or for which it decided until it was deleted
	Updated   []string      // robots that get something else
	Unchanged []string      // robots that have what is decided for them
	Pinned    []string      // robots that keep what a person pinned, though the policy selects them
	Left      []string      // robots for which no policy decides any more: they keep what they have
	Overlaps  []policy.Overlap
	Warnings  []schema.Problem
	Misfits   []library.Misfit
	Rollouts  []PolicyRollout // that bring it to the robots
	Ends      []RolloutEnd    // open rollouts that give robots nothing any more
}

// PolicyRollout is a rollout that brings what a policy says to robots.
type PolicyRollout struct {
	Policy  string // that decides for these robots now
	Rollout rollout.Rollout
	Plan    rollout.Plan
}

// List lists all policies in the order in which they decide.
func (d *Policies) List(ctx context.Context) ([]policy.Policy, error) {
	return read(&d.Deps, func(db *store.Store) ([]policy.Policy, error) { return db.Policies(ctx, "") })
}

// Get returns one policy, or ErrNotFound.
func (d *Policies) Get(ctx context.Context, id string) (policy.Policy, error) {
	return read(&d.Deps, func(db *store.Store) (policy.Policy, error) { return db.Policy(ctx, id) })
}

// Put makes or changes a policy, and gives robots what is decided for them then. may says why a principal may not change
// robots that a policy selects; nil = it may.
func (d *Policies) Put(ctx context.Context, p auth.Principal, ask PolicyPut, may func(selector.Selector) error,
	by audit.Attribution) (PolicyEffect, []schema.Problem, error) {
	by = by.WithTime(d.Now())
	return d.put(ctx, p, ask, by, func(tx *store.Tx, was policy.Policy) (next policy.Policy, found []schema.Problem, err error) {
		if was.Version > 0 {
			if err := may(was.Selector); err != nil {
				return next, nil, err
			}
		}
		next = ask.Policy
		next.Version, next.Owner, next.ChangedAt, next.ChangedBy, next.Why = was.Version+1, was.Owner, by.At, by.Who, by.Why
		found, err = d.check(ctx, tx, &next)
		return next, found, err
	})
}

// put replaces a policy by what next returns of the one that is there, whose version is 0 if there is none.
func (d *Policies) put(ctx context.Context, p auth.Principal, ask PolicyPut, by audit.Attribution,
	next func(tx *store.Tx, was policy.Policy) (policy.Policy, []schema.Problem, error)) (e PolicyEffect, found []schema.Problem, err error) {
	var touched []string
	err = d.transact(ctx, p, func(tx *store.Tx) error {
		all, err := tx.Policies(ctx, "")
		if err != nil {
			return err
		}
		was, _ := named(all, ask.Policy.ID)
		to, wrong, err := next(tx, was)
		if err != nil {
			return err
		}
		if found = wrong; ask.Version != nil && *ask.Version != was.Version {
			found = append(found, versionChanged(was, *ask.Version))
		}
		if len(found) == 0 {
			if e, touched, found, err = d.replace(ctx, tx, all, was, to, ask, by); err != nil {
				return err
			}
		}
		if len(found) > 0 {
			return errRefused
		}
		return nil
	})
	if errors.Is(err, errRefused) {
		return e, found, nil
	}
	if err == nil && !ask.DryRun {
		d.Changed(ctx, touched)
	}
	return e, nil, err
}

// check resolves the content of a policy, and returns everything that is wrong with it.
func (d *Policies) check(ctx context.Context, tx *store.Tx, p *policy.Policy) (found []schema.Problem, err error) {
	found = p.Problems()
	if p.Topic() == "" {
		return found, nil
	}
	resolved, wrong, err := d.resolveContent(ctx, tx, p.Content, "/content")
	p.Content = resolved
	return append(found, wrong...), err
}

// Delete deletes a policy. Its robots get what the next policy says, or keep what they have if there is none.
func (d *Policies) Delete(ctx context.Context, p auth.Principal, ask PolicyPut, may func(selector.Selector) error,
	by audit.Attribution) (PolicyEffect, []schema.Problem, error) {
	return d.put(ctx, p, ask, by.WithTime(d.Now()), func(_ *store.Tx, was policy.Policy) (none policy.Policy, _ []schema.Problem, err error) {
		if was.Version == 0 {
			return none, nil, fmt.Errorf("policy %s: %w", ask.Policy.ID, ErrNotFound)
		}
		return none, nil, may(was.Selector)
	})
}

func versionChanged(was policy.Policy, expected int64) schema.Problem {
	if was.Version == 0 {
		return schema.NewProblem("/version", policy.CodeVersion, fmt.Sprintf("there is no such policy, version %d was expected", expected),
			"read the policies again: fleetd policy list")
	}
	return schema.NewProblem("/version", policy.CodeVersion, fmt.Sprintf("%s changed the policy meanwhile: it has version %d, not %d",
		cmp.Or(was.ChangedBy, "somebody"), was.Version, expected),
		"read it again: fleetd policy get "+was.ID)
}

func named(all []policy.Policy, id string) (policy.Policy, bool) {
	i := slices.IndexFunc(all, func(p policy.Policy) bool { return p.ID == id })
	if i < 0 {
		return policy.Policy{}, false
	}
	return all[i], true
}

func (d *Policies) save(ctx context.Context, tx *store.Tx, was, next policy.Policy, by audit.Attribution) error {
	n := audit.Note{Who: by.Who, Why: by.Why, What: audit.ActionPolicy, Target: "policy " + next.ID, Detail: describePolicy(next)}
	if was.ID != "" {
		n.Before = audit.JSON(policyValue(was))
	}
	if next.ID == "" {
		n.What, n.Target, n.Detail = audit.ActionPolicyDelete, "policy "+was.ID, describePolicy(was)
		if err := tx.DeletePolicy(ctx, was); err != nil {
			return err
		}
		return tx.Note(ctx, by.At, n)
	}
	n.After = audit.JSON(policyValue(next))
	if err := tx.SavePolicy(ctx, next); err != nil {
		return err
	}
	return tx.Note(ctx, by.At, n)
}

func describePolicy(p policy.Policy) string {
	text := fmt.Sprintf("%s for %s, place %d", p.Content, p.Selector, p.Place)
	if !p.Enabled {
		text += ", disabled"
	}
	return text
}

func policyValue(p policy.Policy) any {
	return map[string]any{"place": p.Place, "selector": p.Selector, "content": p.Content, "enabled": p.Enabled}
}

// Why says why a robot has what it has, for each kind of document, and what a person pinned.
func (d *Policies) Why(ctx context.Context, robot string) (all []policy.Explanation, pins []store.Pin, err error) {
	err = d.query(ctx, func(tx *store.Tx) error {
		r, err := tx.Robot(ctx, robot)
		if err != nil {
			return err
		}
		documents, err := tx.DesiredOf(ctx, robot)
		if err != nil {
			return err
		}
		policies, err := tx.Policies(ctx, "")
		if err != nil {
			return err
		}
		if pins, err = tx.Pins(ctx, store.PinQuery{Robot: robot}); err != nil {
			return err
		}
		set := policy.SetOf(policies)
		all = nil
		for _, topic := range content.Topics {
			pinned := slices.ContainsFunc(pins, func(p store.Pin) bool { return p.Topic == topic })
			all = append(all, set.Explain(topic, r.Labels, pinned, content.Held(topic, documents[topic], r.Activities)))
		}
		return nil
	})
	return all, pins, err
}
