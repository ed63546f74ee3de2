package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"troupe/fleetd/auth"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Labels changes the labels of robots.
type Labels struct{ Deps }

// Set replaces the labels of a robot.
func (l *Labels) Set(ctx context.Context, p auth.Principal, robot string, labels map[string]string, by Person) error {
	err := l.transact(ctx, p, func(tx *store.Tx) error {
		if _, err := tx.Robot(ctx, robot); err != nil {
			return err
		}
		if err := tx.SetLabels(ctx, robot, labels); err != nil {
			return err
		}
		if err := publishLabels(ctx, tx, robot, desired.By{Who: by.Name, At: l.Now()}); err != nil {
			return err
		}
		text := make([]string, 0, len(labels))
		for k, v := range labels {
			text = append(text, k+"="+v)
		}
		slices.Sort(text)
		return tx.Note(ctx, l.Now(), library.Note{Who: by.Name, What: "label", Target: "robot " + robot, Detail: strings.Join(text, " ")})
	})
	if err != nil {
		return err
	}
	l.Changed(ctx, []string{robot})
	return nil
}

// publishLabels writes a robot's labels into its desired configuration; the robot needs
// them to decide whether a stop selects it.
func publishLabels(ctx context.Context, tx *store.Tx, robot string, by desired.By) error {
	rows, err := tx.DesiredRows(ctx, schema.TopicDesiredConfig, selector.IDs(robot))
	if err != nil {
		return err
	}
	c, found := desired.Labels(rows, by)
	if len(found) > 0 {
		return fmt.Errorf("publish labels to %s: %v", robot, found[0])
	}
	return tx.ApplyDesired(ctx, c, by)
}
