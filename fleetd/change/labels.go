package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/desired"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Labels changes the labels of robots.
type Labels struct{ Deps }

// Set replaces the labels of a robot.
func (l *Labels) Set(ctx context.Context, p auth.Principal, robot string, labels map[string]string, by audit.Attribution) error {
	err := l.transact(ctx, p, func(tx *store.Tx) error {
		was, err := tx.Robot(ctx, robot)
		if err != nil {
			return err
		}
		if err := tx.SetLabels(ctx, robot, labels); err != nil {
			return err
		}
		if err := publishLabels(ctx, tx, selector.IDs(robot), audit.Attribution{Who: by.Who, At: l.Now()}); err != nil {
			return err
		}
		text := make([]string, 0, len(labels))
		for k, v := range labels {
			text = append(text, k+"="+v)
		}
		slices.Sort(text)
		if err := tx.Note(ctx, l.Now(), audit.Note{Who: by.Who, What: audit.ActionLabel, Target: "robot " + robot, Why: by.Why,
			Detail: strings.Join(text, " "), Before: audit.JSON(was.Labels), After: audit.JSON(labels)}); err != nil {
			return err
		}
		return l.applyPolicies(ctx, tx, labelsChanged, by.WithTime(l.Now()), func() ([]relabelled, error) {
			return []relabelled{{id: robot, before: was.Labels, after: labels}}, nil
		})
	})
	if err != nil {
		return err
	}
	l.Changed(ctx, []string{robot})
	return nil
}

// LabelEdit changes some labels of the robots that match a selector, and leaves the others.
type LabelEdit struct {
	Robots   selector.Selector
	Set      map[string]string
	Unset    []string
	Expected *int // number of robots; nil = any
	DryRun   bool
}

// Edit changes labels of robots, and returns the robots whose labels differ from before. total
// is the number of robots that match.
func (l *Labels) Edit(ctx context.Context, p auth.Principal, e LabelEdit,
	by audit.Attribution) (changed []string, total int, found []schema.Problem, err error) {
	err = l.transact(ctx, p, func(tx *store.Tx) error {
		if _, err := matching(ctx, tx, e.Robots); err != nil {
			return err
		}
		rows, err := tx.Robots(ctx, e.Robots)
		if err != nil {
			return err
		}
		changed, found, total = nil, nil, len(rows)
		var all []relabelled
		if e.Expected != nil && !e.DryRun && total != *e.Expected {
			found = []schema.Problem{schema.NewProblem("/expected_count", desired.CodeCountChanged, fmt.Sprintf("%d robots match, not %d", total,
				*e.Expected), "check which robots match, then try again")}
			return errRefused
		}
		for _, r := range rows {
			next := maps.Clone(r.Labels)
			maps.Copy(next, e.Set)
			for _, key := range e.Unset {
				delete(next, key)
			}
			if maps.Equal(next, r.Labels) {
				continue
			}
			changed = append(changed, r.ID)
			all = append(all, relabelled{id: r.ID, before: r.Labels, after: next})
		}
		if e.DryRun || len(changed) == 0 {
			return nil
		}
		if err := setLabels(ctx, tx, all); err != nil {
			return err
		}
		if err := publishLabels(ctx, tx, selector.IDs(changed...), by.WithTime(l.Now())); err != nil {
			return err
		}
		if err := tx.Note(ctx, l.Now(), audit.Note{Who: by.Who, What: audit.ActionLabel, Why: by.Why,
			After: audit.JSON(map[string]any{"set": e.Set, "unset": e.Unset}), Target: fmt.Sprintf("%d robots: %s", len(changed),
				e.Robots), Detail: e.text()}); err != nil {
			return err
		}
		return l.applyPolicies(ctx, tx, labelsChanged, by.WithTime(l.Now()), func() ([]relabelled, error) { return all, nil })
	})
	if errors.Is(err, errRefused) {
		return nil, total, found, nil
	}
	if err == nil && !e.DryRun && len(changed) > 0 {
		l.Changed(ctx, changed)
	}
	return changed, total, nil, err
}

// labelsChanged is why policies apply to robots that have other labels.
const labelsChanged = "labels changed"

func setLabels(ctx context.Context, tx *store.Tx, robots []relabelled) error {
	labels := make(map[string]map[string]string, len(robots))
	for _, r := range robots {
		labels[r.id] = r.after
	}
	return tx.SetLabelsOf(ctx, labels)
}

func (e LabelEdit) text() string {
	var words []string
	for k, v := range e.Set {
		words = append(words, k+"="+v)
	}
	for _, k := range e.Unset {
		words = append(words, k+"-")
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// publishLabels writes robots' labels into their desired settings; robots need
// them to decide whether a stop selects them.
func publishLabels(ctx context.Context, tx *store.Tx, robots selector.Selector, by audit.Attribution) error {
	rows, err := tx.DesiredRows(ctx, schema.TopicDesiredConfig, robots)
	if err != nil {
		return err
	}
	c, found := desired.Labels(rows, by)
	if len(found) > 0 {
		return fmt.Errorf("publish labels to %s: %v", robots, found[0])
	}
	return tx.ApplyDesired(ctx, c, by)
}
