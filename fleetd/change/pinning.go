package change

import (
	"context"
	"maps"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/content"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

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
