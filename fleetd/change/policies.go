package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
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
}

// PolicyRollout is a rollout that brings what a policy says to robots.
type PolicyRollout struct {
	Policy  string // that decides for these robots now
	Rollout rollout.Rollout
	Plan    rollout.Plan
}

// group is robots for which one policy decides.
type group struct {
	policy  policy.Policy
	robots  []string
	updated []string // those of robots that get something else
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
	by audit.Attribution) (e PolicyEffect, found []schema.Problem, err error) {
	var touched []string
	err = d.transact(ctx, p, func(tx *store.Tx) error {
		all, err := tx.Policies(ctx, "")
		if err != nil {
			return err
		}
		by := by.WithTime(d.Now())
		was, known := named(all, ask.Policy.ID)
		if known {
			if err := may(was.Selector); err != nil {
				return err
			}
		}
		next := ask.Policy
		next.Version, next.Owner, next.ChangedAt, next.ChangedBy, next.Why = was.Version+1, was.Owner, by.At, by.Who, by.Why
		if found, err = d.check(ctx, tx, &next); err != nil {
			return err
		}
		if ask.Version != nil && *ask.Version != was.Version {
			found = append(found, versionChanged(was, *ask.Version))
		}
		if len(found) > 0 {
			return errRefused
		}
		if e, touched, found, err = d.replace(ctx, tx, all, was, next, ask, by); err != nil {
			return err
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
	by audit.Attribution) (e PolicyEffect, found []schema.Problem, err error) {
	var touched []string
	err = d.transact(ctx, p, func(tx *store.Tx) error {
		all, err := tx.Policies(ctx, "")
		if err != nil {
			return err
		}
		was, known := named(all, ask.Policy.ID)
		if !known {
			return fmt.Errorf("policy %s: %w", ask.Policy.ID, ErrNotFound)
		}
		if err := may(was.Selector); err != nil {
			return err
		}
		if ask.Version != nil && *ask.Version != was.Version {
			found = []schema.Problem{versionChanged(was, *ask.Version)}
			return errRefused
		}
		if e, touched, found, err = d.replace(ctx, tx, all, was, policy.Policy{}, ask, by.WithTime(d.Now())); err != nil {
			return err
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
		groups[i].updated = planned.Updated
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
	loses := slices.ContainsFunc(groups, func(g group) bool { return g.policy.ID != next.ID })
	if loses || differs(was, next) { // after the rollouts were created, whose plans counted the robots that they take from this one
		if err := d.abortRollout(ctx, tx, was, by); err != nil {
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

// abortRollout ends the rollout of what a policy said before it changed: else robots whose turn comes later would still get it.
func (d *Policies) abortRollout(ctx context.Context, tx *store.Tx, was policy.Policy, by audit.Attribution) error {
	if was.Rollout == "" {
		return nil
	}
	o, err := tx.Rollout(ctx, was.Rollout)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case !slices.Contains(o.Possible(), rollout.OnAbort):
		return nil
	}
	members, err := tx.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: o.ID})
	if err != nil {
		return err
	}
	c, found := rollout.Decide(rollout.NewRun(o, members), rollout.Decision{On: rollout.OnAbort, By: by.Who, Why: "policy " + was.ID + " changed"}, by.At)
	if len(found) > 0 {
		return fmt.Errorf("abort rollout %s: %s", o.ID, found[0])
	}
	if err := tx.SaveRollout(ctx, c); err != nil {
		return err
	}
	return d.Rollouts.notes(ctx, tx, c, by.At)
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
				if groups[has.ID] == nil {
					groups[has.ID] = &group{policy: *has}
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

// pinsOf returns what people pinned of these robots, of all if ids is nil.
func pinsOf(ctx context.Context, tx *store.Tx, ids []string) (map[string]map[schema.TopicKind]bool, error) {
	all, err := tx.Pins(ctx, store.PinQuery{IDs: ids})
	if err != nil {
		return nil, err
	}
	pins := map[string]map[schema.TopicKind]bool{}
	for _, p := range all {
		if pins[p.Robot] == nil {
			pins[p.Robot] = map[schema.TopicKind]bool{}
		}
		pins[p.Robot][p.Topic] = true
	}
	return pins, nil
}

// planPolicy plans to give robots what a policy says. A mode is not requested again of robots whose desired mode it is: they may have
// left it since, which is up to them.
func (d *Deps) planPolicy(ctx context.Context, tx *store.Tx, g group, by audit.Attribution) (plannedContent, []schema.Problem, error) {
	robots := g.robots
	var same []string
	if g.policy.Content.Mode != nil {
		documents, err := tx.NewestDesired(ctx, schema.TopicDesiredMode, selector.IDs(robots...))
		if err != nil {
			return plannedContent{}, nil, err
		}
		has := func(id string) bool {
			return g.policy.Content.Within(content.Held(schema.TopicDesiredMode, documents[id].Payload, nil))
		}
		for _, id := range robots {
			if has(id) {
				same = append(same, id)
			}
		}
		if robots = slices.DeleteFunc(slices.Clone(robots), has); len(robots) == 0 {
			return plannedContent{Unchanged: same, apply: func(context.Context) error { return nil }}, nil, nil
		}
	}
	planned, found, err := d.planContent(ctx, tx, g.policy.Content, robots, by)
	planned.Unchanged = append(planned.Unchanged, same...)
	return planned, below("/content", g.policy.Content, found), err
}

// give assigns what a policy says to robots. If that cannot be assigned any more, such as a story that was deleted, the robots keep what
// they have, and the audit says why: what made the policy apply does not fail.
func (d *Deps) give(ctx context.Context, tx *store.Tx, g group, by audit.Attribution) error {
	planned, found, err := d.planPolicy(ctx, tx, g, by)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return tx.Note(ctx, by.At, audit.Note{
			Who: by.Who, What: audit.ActionPolicy, Target: "policy " + g.policy.ID, Outcome: audit.Failed, Why: found[0].Detail,
			Detail: "not applied to " + library.RobotsText(g.robots),
		})
	}
	if err := planned.apply(ctx); err != nil {
		return err
	}
	return d.addAssignments(ctx, tx, []assignment{{content: g.policy.Content, given: planned.given, policy: g.policy.ID}}, g.policy.Selector,
		by)
}

// relabelled is a robot that got other labels, or that joined the fleet.
type relabelled struct {
	id            string
	before, after map[string]string
	joined        bool
}

// applyPolicies gives robots that joined the fleet or got other labels what is decided for them now, in the transaction that made it so.
// Robots whose decision stays the same keep what they have: they may be on their turn in a rollout. Without policies it is one query.
func (d *Deps) applyPolicies(ctx context.Context, tx *store.Tx, what string, by audit.Attribution, robots func() ([]relabelled,
	error)) error {
	policies, err := tx.Policies(ctx, "")
	if err != nil || !slices.ContainsFunc(policies, func(p policy.Policy) bool { return p.Enabled }) {
		return err
	}
	all, err := robots()
	if err != nil || len(all) == 0 {
		return err
	}
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.id
	}
	pins, err := pinsOf(ctx, tx, ids)
	if err != nil {
		return err
	}
	set := policy.SetOf(policies)
	for _, topic := range slices.Sorted(maps.Keys(set)) {
		groups := map[string]*group{}
		for _, r := range all {
			is := set.Decide(topic, r.after, pins[r.id][topic]).Policy
			was := set.Decide(topic, r.before, pins[r.id][topic]).Policy
			if is == nil || !r.joined && was != nil && was.ID == is.ID {
				continue
			}
			if groups[is.ID] == nil {
				groups[is.ID] = &group{policy: *is}
			}
			groups[is.ID].robots = append(groups[is.ID].robots, r.id)
		}
		for _, id := range slices.Sorted(maps.Keys(groups)) {
			if waits, err := d.waitForRollout(ctx, tx, *groups[id], by); err != nil {
				return err
			} else if waits {
				continue
			}
			if err := d.give(ctx, tx, *groups[id], by.Because("policy "+id+", since "+what)); err != nil {
				return err
			}
		}
	}
	return nil
}

// waitForRollout reports whether newcomers have to wait: the rollout of what the policy says has not reached its last wave yet, or ended
// before it. Newcomers get the content with the last wave; after an abort or a rollback, only when the policy is put again.
func (d *Deps) waitForRollout(ctx context.Context, tx *store.Tx, g group, by audit.Attribution) (bool, error) {
	if g.policy.Rollout == "" {
		return false, nil
	}
	o, err := tx.Rollout(ctx, g.policy.Rollout)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil || isProven(o) {
		return false, err
	}
	why := fmt.Sprintf("rollout %s is %s, in wave %d of %d", o.ID, o.State, o.Wave+1, len(o.Waves))
	if o.State.Over() {
		why += "; put the policy again"
	}
	return true, tx.Note(ctx, by.At, audit.Note{
		Who: by.Who, What: audit.ActionPolicy, Target: "policy " + g.policy.ID, Outcome: audit.Accepted,
		Why: why, Detail: "not given yet to " + library.RobotsText(g.robots),
	})
}

// isProven reports whether a rollout has passed all gates but the last, or has ended well.
func isProven(o rollout.Rollout) bool {
	return o.State == rollout.Succeeded || o.State == rollout.CompletedWithFailures || o.State == rollout.Running && o.Wave >= len(o.Waves)-1
}

// settle gives what a policy says to robots that joined, or whose pin was removed, while its rollout was in earlier waves, in the
// transaction in which the last wave begins or the rollout ends.
func (d *Deps) settle(ctx context.Context, tx *store.Tx, c rollout.Changes, members []rollout.Robot, now time.Time) error {
	passed := func(n rollout.Note) bool {
		return n.What == rollout.OnWavePassed || n.What == rollout.OnAllDone || n.What == rollout.OnDoneFailed
	}
	ofPolicy := c.Rollout.Cause == rollout.ByPolicy || c.Rollout.Cause == rollout.ByFolder
	if !ofPolicy || !isProven(c.Rollout) || !slices.ContainsFunc(c.Notes, passed) {
		return nil
	}
	policies, err := tx.Policies(ctx, c.Rollout.Content.Topic())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(policies, func(p policy.Policy) bool { return p.Rollout == c.Rollout.ID })
	if i < 0 {
		return nil
	}
	p := policies[i]
	rows, err := tx.Robots(ctx, p.Selector)
	if err != nil {
		return err
	}
	pins, err := pinsOf(ctx, tx, nil)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, m := range members {
		has[m.ID] = m.State != rollout.Pinned && m.State != rollout.Superseded && m.State != rollout.Decommissioned
	}
	set, joined := policy.SetOf(policies), group{policy: p}
	for _, r := range rows {
		if d := set.Decide(p.Topic(), r.Labels, pins[r.ID][p.Topic()]).Policy; d != nil && d.ID == p.ID && !has[r.ID] {
			joined.robots = append(joined.robots, r.ID)
		}
	}
	if len(joined.robots) == 0 {
		return nil
	}
	return d.give(ctx, tx, joined, audit.Attribution{Who: c.Rollout.CreatedBy,
		Why: "policy " + p.ID + ", since its rollout reached its last wave", At: now})
}

// welcome applies policies to a robot that joined the fleet.
func (d *Deps) welcome(ctx context.Context, tx *store.Tx, robot, how string, by audit.Attribution) error {
	return d.applyPolicies(ctx, tx, robot+" was "+how, by, func() ([]relabelled, error) {
		r, err := tx.Robot(ctx, robot)
		return []relabelled{{id: robot, after: r.Labels, joined: true}}, err
	})
}

// pinAgainst pins what a person gives robots, where a policy says otherwise, and returns these robots. With a dry run it only names them.
// Without a policy about this kind of document it is one query.
func (d *Deps) pinAgainst(ctx context.Context, tx *store.Tx, gives []assignment, dryRun bool, by audit.Attribution) (pinned []string,
	err error) {
	gives = slices.DeleteFunc(slices.Clone(gives), func(g assignment) bool { return len(g.given) == 0 })
	if len(gives) == 0 {
		return nil, nil
	}
	topic := gives[0].content.Topic()
	policies, err := tx.Policies(ctx, topic)
	if err != nil || len(policies) == 0 {
		return nil, err
	}
	contents := map[string]content.Content{} // by robot
	for _, g := range gives {
		for id := range g.given {
			contents[id] = g.content
		}
	}
	rows, err := tx.Robots(ctx, selector.IDs(slices.Sorted(maps.Keys(contents))...))
	if err != nil {
		return nil, err
	}
	set := policy.SetOf(policies)
	var pins []store.Pin
	against := map[string][]string{} // robots by the policy
	for _, r := range rows {
		p := set.Decide(topic, r.Labels, false).Policy
		if p == nil || !p.Content.Contradicts(contents[r.ID]) {
			continue
		}
		pinned = append(pinned, r.ID)
		pins = append(pins, store.Pin{Robot: r.ID, Topic: topic, At: by.At, By: by.Who, Why: by.Why})
		against["policy "+p.ID] = append(against["policy "+p.ID], r.ID)
	}
	if dryRun || len(pins) == 0 {
		return pinned, nil
	}
	if err := tx.SetPins(ctx, pins); err != nil {
		return nil, err
	}
	return pinned, tx.Note(ctx, by.At, audit.Note{
		Who: by.Who, Why: by.Why, What: audit.ActionPin, Target: strings.TrimPrefix(string(topic),
			"desired_") + " of " + library.RobotsText(pinned),
		Detail: "they were given something else than a policy says", After: audit.Robots(against),
	})
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

// unpinned gives a robot what policies say about one kind of document, in the transaction that removed its pin. Like a newcomer it
// waits for a rollout that is not proven.
func (d *Deps) unpinned(ctx context.Context, tx *store.Tx, robot string, topic schema.TopicKind, by audit.Attribution) error {
	policies, err := tx.Policies(ctx, topic)
	if err != nil || len(policies) == 0 {
		return err
	}
	r, err := tx.Robot(ctx, robot)
	if err != nil {
		return err
	}
	p := policy.SetOf(policies).Decide(topic, r.Labels, false).Policy
	if p == nil {
		return nil
	}
	g := group{policy: *p, robots: []string{robot}}
	if waits, err := d.waitForRollout(ctx, tx, g, by); err != nil || waits {
		return err
	}
	return d.give(ctx, tx, g, by.Because("policy "+p.ID+", since the pin was removed"))
}
