package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/content"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

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
				groups[is.ID] = atNextStart(*is)
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
	set, joined := policy.SetOf(policies), atNextStart(p)
	for _, r := range rows {
		if d := set.Decide(p.Topic(), r.Labels, pins[r.ID][p.Topic()]).Policy; d != nil && d.ID == p.ID && !has[r.ID] {
			joined.robots = append(joined.robots, r.ID)
		}
	}
	if len(joined.robots) == 0 {
		return nil
	}
	return d.give(ctx, tx, *joined, audit.Attribution{Who: c.Rollout.CreatedBy,
		Why: "policy " + p.ID + ", since its rollout reached its last wave", At: now})
}

// welcome applies policies to robots that joined the fleet, at most selector.MaxIDs.
func (d *Deps) welcome(ctx context.Context, tx *store.Tx, robots []string, how string, by audit.Attribution) error {
	what := library.RobotsText(robots) + " were " + how
	if len(robots) == 1 {
		what = robots[0] + " was " + how
	}
	return d.applyPolicies(ctx, tx, what, by, func() ([]relabelled, error) {
		rows, err := tx.Robots(ctx, selector.IDs(robots...))
		joined := make([]relabelled, len(rows))
		for i, r := range rows {
			joined[i] = relabelled{id: r.ID, after: r.Labels, joined: true}
		}
		return joined, err
	})
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
	g := atNextStart(*p)
	g.robots = []string{robot}
	if waits, err := d.waitForRollout(ctx, tx, *g, by); err != nil || waits {
		return err
	}
	return d.give(ctx, tx, *g, by.Because("policy "+p.ID+", since the pin was removed"))
}
