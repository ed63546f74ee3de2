package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// assignable are the kinds of desired documents that people assign.
var assignable = []string{
	string(schema.TopicDesiredStory), string(schema.TopicDesiredActivities), string(schema.TopicDesiredConfig),
	string(schema.TopicDesiredMode), string(schema.TopicDesiredPlaces),
}

// NewestChanges lists the newest changes of desired documents that robots still have, of the newest
// q.Limit requests. Only the selected robots are named.
func (r reads) NewestChanges(ctx context.Context, robots selector.Selector, q desired.LastQuery) ([]desired.NewestChange, error) {
	const from = ` FROM desired w JOIN robots r ON r.id = w.robot`
	var w where
	w.conditions = []string{"w.assigned_at > 0", "r.archived_at = 0"}
	w.addIn("w.kind", assignable)
	w.addSelector(robots)
	shown := w
	shown.args, shown.conditions = slices.Clone(w.args), slices.Clone(w.conditions)
	w.addIf(q.Robot != "", "w.robot = %s", q.Robot)
	w.addIf(!q.At.IsZero(), "w.assigned_at = %s", micros(q.At))
	type request struct {
		kind string
		at   int64
		by   string
	}
	requests, err := queryAll(ctx, r, func(scan func(...any) error) (v request, err error) {
		return v, scan(&v.kind, &v.at, &v.by)
	}, `SELECT w.kind, w.assigned_at, w.assigned_by`+from+w.String()+` GROUP BY w.kind, w.assigned_at, w.assigned_by ORDER BY w.assigned_at DESC, w.kind LIMIT `+w.arg(limitOf(q.Limit)), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list the last assignments: %w", err)
	}
	if len(requests) == 0 {
		return nil, nil
	}
	shown.addIf(true, "w.assigned_at >= %s", requests[len(requests)-1].at)
	shown.addIf(true, "w.assigned_at <= %s", requests[0].at)
	all, err := queryAll(ctx, r, func(scan func(...any) error) (g desired.NewestChange, err error) {
		var at, replaced int64
		err = scan(&g.Robot, &g.Topic, &g.Rev, &g.Payload, &g.Previous, &at, &g.By, &replaced)
		g.At, g.PreviousAssignedAt = timeOf(at), timeOf(replaced)
		return g, err
	}, `SELECT w.robot, w.kind, w.rev, w.payload, w.previous, w.assigned_at, w.assigned_by, w.replaced_at`+from+shown.String()+` ORDER BY w.assigned_at DESC, w.robot`, shown.args...)
	if err != nil {
		return nil, fmt.Errorf("list the last assignments: %w", err)
	}
	all = slices.DeleteFunc(all, func(g desired.NewestChange) bool {
		return !slices.Contains(requests, request{string(g.Topic), micros(g.At), g.By})
	})
	return all, r.addActivities(ctx, all, shown)
}

// maxTimes bounds the times of one query.
const maxTimes = 1000

// AssignmentNotes lists what the audit says about the assignments of these times, at most a thousand.
func (r reads) AssignmentNotes(ctx context.Context, times []time.Time) ([]audit.Entry, error) {
	if len(times) == 0 {
		return nil, nil
	}
	var w where
	at := make([]string, min(len(times), maxTimes))
	for i := range at {
		at[i] = w.arg(micros(times[i]))
	}
	w.conditions = []string{"at IN (" + strings.Join(at, ", ") + ")"}
	w.addIn("what", audit.Assignments)
	all, err := queryAll(ctx, r, scanEntryOfAudit, selectAudit+w.String()+" ORDER BY at, seq", w.args...)
	if err != nil {
		return nil, fmt.Errorf("read the reasons of the last assignments: %w", err)
	}
	return all, nil
}

// addActivities adds the activities that robots were given.
func (r reads) addActivities(ctx context.Context, all []desired.NewestChange, w where) error {
	if !slices.ContainsFunc(all, func(g desired.NewestChange) bool { return g.Topic == schema.TopicDesiredActivities }) {
		return nil
	}
	sets, err := r.activitySets(ctx, `SELECT w.robot FROM desired w JOIN robots r ON r.id = w.robot`+w.String(), w)
	if err != nil {
		return err
	}
	has := map[string][]library.Pin{}
	for _, s := range sets {
		has[s.Robot] = s.Activities
	}
	for i, g := range all {
		if g.Topic != schema.TopicDesiredActivities {
			continue
		}
		if all[i].Activities, err = schema.Encode(append([]library.Pin{}, has[g.Robot]...)); err != nil {
			return err
		}
	}
	return nil
}
