package change

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// group is robots for which one policy decides.
type group struct {
	policy  policy.Policy
	robots  []string
	updated []string // those of robots that get something else

	unchanged []string // those of robots that have it already
}

// atNextStart is a group of robots, none yet, that get what a policy says because something else changed than the policy: a mode
// takes effect at their next start.
func atNextStart(p policy.Policy) *group {
	p.Content = p.Content.AtNextStart()
	return &group{policy: p}
}

// replace puts a policy in the place of another one; one without an id stands for none. With a dry run it only says what that
// means.
func (d *Policies) replace(
	ctx context.Context, tx *store.Tx, all []policy.Policy, was, next policy.Policy, ask PolicyPut, by audit.Attribution,
) (e PolicyEffect, touched []string, found []schema.Problem, err error) {
	after := slices.DeleteFunc(slices.Clone(all), func(p policy.Policy) bool { return p.ID == was.ID })
	if next.ID != "" {
		after = append(after, next)
	}
	e.Policy = next
	if next.ID == "" {
		e.Policy = was
	}
	groups, err := d.compare(ctx, tx, policy.SetOf(all), policy.SetOf(after), was, next, &e)
	if err != nil {
		return e, nil, nil, err
	}
	for i, g := range groups {
		planned, problems, err := d.planPolicy(ctx, tx, g, by)
		if err != nil {
			return e, nil, nil, err
		}
		groups[i].updated, groups[i].unchanged = planned.Updated, planned.Unchanged
		for _, p := range problems {
			if g.policy.ID == next.ID {
				found = append(found, p)
			} else { // another policy, which would decide now: its robots keep what they have
				e.Warnings = append(e.Warnings, policy.NotApplied(g.policy, len(g.robots), p))
			}
		}
		e.Updated, e.Unchanged = append(e.Updated, planned.Updated...), append(e.Unchanged, planned.Unchanged...)
		e.Misfits = append(e.Misfits, planned.Misfits...)
	}
	for _, ids := range []*[]string{&e.Updated, &e.Unchanged, &e.Decides, &e.Pinned, &e.Left} {
		slices.Sort(*ids) // a robot is named twice if the policy is about another kind of document now
		*ids = slices.Compact(*ids)
	}
	loses := slices.ContainsFunc(groups, func(g group) bool { return g.policy.ID != next.ID })
	if e.Ends, err = d.endings(ctx, tx, groups, was, loses || differs(was, next)); err != nil {
		return e, nil, nil, err
	}
	if !ask.Now && len(found) == 0 {
		problems, err := d.planRollouts(ctx, tx, groups, &e, ask)
		if err != nil {
			return e, nil, nil, err
		}
		found = append(found, problems...)
	}
	if ask.Expected != nil && !ask.DryRun && *ask.Expected != len(e.Updated) {
		found = append(found, schema.NewProblem("/expected_count", desired.CodeCountChanged,
			fmt.Sprintf("%d robots would get something else, %d were expected", len(e.Updated), *ask.Expected), "check with a dry run"))
	}
	if len(found) > 0 || ask.DryRun {
		return e, nil, found, nil
	}
	for i, r := range e.Rollouts {
		created, _, found, err := d.Rollouts.create(ctx, tx, d.rolloutOf(groups, r.Policy, ask, r.Plan), by.Because("policy "+r.Policy))
		if err != nil || len(found) > 0 {
			return e, nil, found, err
		}
		e.Rollouts[i].Rollout = created
		if r.Policy == next.ID {
			next.Rollout, e.Policy.Rollout = created.ID, created.ID
		}
	}
	for _, ends := range e.Ends { // after the rollouts were created, whose plans counted the robots that they take from these
		if err := d.Rollouts.end(ctx, tx, ends, by); err != nil {
			return e, nil, nil, err
		}
	}
	if err := d.save(ctx, tx, was, next, by); err != nil {
		return e, nil, nil, err
	}
	for _, g := range groups {
		what := "policy " + g.policy.ID
		if g.policy.ID != next.ID {
			what += ", since " + was.ID + " changed"
		}
		if !ask.Now {
			continue
		}
		if err := d.give(ctx, tx, g, by.Because(what)); err != nil {
			return e, nil, nil, err
		}
	}
	return e, e.Updated, nil, nil
}

// differs reports whether a policy says something else than before, or says it for other robots.
func differs(was, next policy.Policy) bool {
	next.Place = was.Place
	return next.ID == "" || audit.JSON(policyValue(was)) != audit.JSON(policyValue(next))
}

// planRollouts plans one rollout for each policy that gives robots something else now, and says what has to be confirmed.
func (d *Policies) planRollouts(ctx context.Context, tx *store.Tx, groups []group, e *PolicyEffect, ask PolicyPut) (found []schema.Problem,
	err error) {
	taken := 0
	for _, g := range groups {
		if len(g.updated) == 0 {
			continue
		}
		plan, _, problems, err := d.Rollouts.plan(ctx, tx, d.rolloutOf(groups, g.policy.ID, ask, rollout.Plan{}))
		if err != nil {
			return nil, err
		}
		if len(problems) > 0 {
			return problems, nil
		}
		for _, s := range plan.Superseding {
			taken += len(s.Robots)
		}
		e.Rollouts = append(e.Rollouts, PolicyRollout{Policy: g.policy.ID, Plan: plan})
	}
	switch {
	case ask.DryRun:
	case ask.Supersede == nil && taken > 0:
		found = append(found, schema.NewProblem("/supersede", library.CodeConfirm,
			fmt.Sprintf("it would take %d robots from open rollouts of the same kind", taken),
			fmt.Sprintf("confirm the number with supersede: %d, or wait until these rollouts have ended", taken)))
	case ask.Supersede != nil && *ask.Supersede != taken:
		found = append(found, schema.NewProblem("/supersede", desired.CodeCountChanged,
			fmt.Sprintf("it would take %d robots from open rollouts of the same kind, %d were expected", taken,
				*ask.Supersede), "check with a dry run"))
	}
	return found, nil
}

// rolloutOf is the rollout to the robots for which a policy decides anew. It may take the robots that its plan takes from others: the
// number was confirmed.
func (d *Policies) rolloutOf(groups []group, id string, ask PolicyPut, plan rollout.Plan) RolloutRequest {
	i := slices.IndexFunc(groups, func(g group) bool { return g.policy.ID == id })
	taken := 0
	for _, s := range plan.Superseding {
		taken += len(s.Robots)
	}
	p := groups[i].policy
	return RolloutRequest{Name: "policy " + id, Content: p.Content, Robots: selector.IDs(groups[i].updated...), Selected: p.Selector.String(),
		Spec:  ask.Spec,
		Start: true, Cause: rollout.ByPolicy, CauseID: id, Supersede: &taken}
}

// compare fills in for which robots a policy decides before and after a change of it, and returns those for which somebody decides
// anew, by who decides.
func (d *Policies) compare(ctx context.Context, tx *store.Tx, before, after policy.Set, was, next policy.Policy, e *PolicyEffect) ([]group,
	error) {
	robots, err := selectedBy(ctx, tx, was, next)
	if err != nil {
		return nil, err
	}
	pins, err := pinsOf(ctx, tx, nil)
	if err != nil {
		return nil, err
	}
	topics := slices.Compact(slices.Sorted(slices.Values([]schema.TopicKind{was.Topic(), next.Topic()})))
	groups := map[string]*group{}
	var labels []map[string]string
	for _, r := range robots {
		if e.Policy.Selector.Match(selector.Robot{Labels: r.Labels}) {
			e.Total++
			labels = append(labels, r.Labels)
		}
		for _, topic := range topics {
			had, has := before.Decide(topic, r.Labels, false).Policy, after.Decide(topic, r.Labels, false).Policy
			of := func(p *policy.Policy) bool { return p != nil && p.ID == e.Policy.ID }
			if !of(had) && !of(has) {
				continue
			}
			if of(has) || next.ID == "" {
				e.Decides = append(e.Decides, r.ID)
			}
			switch {
			case pins[r.ID][topic]:
				e.Pinned = append(e.Pinned, r.ID)
			case has == nil:
				e.Left = append(e.Left, r.ID)
			default:
				switch {
				case groups[has.ID] != nil:
				case has.ID == next.ID:
					groups[has.ID] = &group{policy: *has}
				default:
					groups[has.ID] = atNextStart(*has)
				}
				groups[has.ID].robots = append(groups[has.ID].robots, r.ID)
			}
		}
	}
	if next.ID != "" && next.Enabled {
		e.Overlaps = after.Overlaps(next, labels)
		e.Warnings = policy.Warnings(next, e.Overlaps, e.Total, len(e.Decides))
	}
	var out []group
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, *groups[id])
	}
	return out, nil
}

// selectedBy returns the robots that one of two policies selects.
func selectedBy(ctx context.Context, tx *store.Tx, a, b policy.Policy) (robots []store.Robot, err error) {
	for _, p := range []policy.Policy{a, b} {
		if p.ID == "" {
			continue
		}
		more, err := tx.Robots(ctx, p.Selector)
		if err != nil {
			return nil, err
		}
		robots = append(robots, more...)
	}
	slices.SortFunc(robots, func(a, b store.Robot) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(robots, func(a, b store.Robot) bool { return a.ID == b.ID }), nil
}
