package store

import (
	"context"
	"fmt"

	"troupe/fleetd/library"
	"troupe/schema"
)

// activitySets returns the activities of the robots that a query lists. w has the arguments of
// the query.
func (r reads) activitySets(ctx context.Context, robots string, w where) ([]library.ActivitySet, error) {
	sets, err := queryAll(ctx, r, func(scan func(...any) error) (s library.ActivitySet, err error) {
		var changed int64
		err = scan(&s.Robot, &s.DesiredRev, &s.Document, &s.Previous, &changed, &s.ChangedBy)
		s.ChangedAt = timeOf(changed)
		return s, err
	}, "SELECT w.robot, w.rev, w.payload, w.previous, w.changed_at, w.changed_by FROM desired w WHERE w.kind = 'desired_activities' AND "+
		"w.robot IN ("+robots+") ORDER BY w.robot", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list the activities of robots: %w", err)
	}
	place := make(map[string]int, len(sets))
	for i, s := range sets {
		place[s.Robot] = i
	}
	assigned, err := queryAll(ctx, r, scanAssigned, assignedSelect+" WHERE p.robot IN ("+robots+") ORDER BY p.robot, p.place", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list the activities of robots: %w", err)
	}
	for _, a := range assigned {
		if i, ok := place[a.robot]; ok {
			sets[i].Activities = append(sets[i].Activities, a.Pin)
		}
	}
	return sets, nil
}

// assigned is one activity of one robot.
type assigned struct {
	robot string
	library.Pin
	place int64
}

const assignedSelect = `SELECT p.robot, p.activity, p.rev FROM assigned_activities p`

func scanAssigned(scan func(...any) error) (a assigned, err error) {
	return a, scan(&a.robot, &a.ID, &a.Rev)
}

var assignedColumns = []column[assigned]{
	text("robot", func(a assigned) string { return a.robot }),
	text("activity", func(a assigned) string { return a.ID }),
	number("rev", func(a assigned) int64 { return a.Rev }),
	number("place", func(a assigned) int64 { return a.place }),
}

// saveSets writes the activities of robots, and the blobs with them.
func (t *Tx) saveSets(ctx context.Context, c library.Changes) error {
	if len(c.Sets) == 0 {
		return nil
	}
	files := map[string][]string{} // by the digest of the blob
	for _, b := range c.Blobs {
		files[b.SHA256] = b.Files
		at := c.Sets[0].ChangedAt
		if _, err := t.exec(ctx, `INSERT INTO blobs (sha256, size, body, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (sha256) DO NOTHING`,
			b.SHA256, len(b.Body), b.Body, micros(at)); err != nil {
			return fmt.Errorf("save blob %s: %w", b.SHA256, err)
		}
	}
	var rows []desiredRow
	var robots, needed []setFile
	var activities []assigned
	for _, s := range c.Sets {
		rows = append(rows, desiredRow{s.Robot, schema.TopicDesiredActivities, s.DesiredRev, s.Document, s.Previous, s.ChangedAt, s.ChangedBy})
		robots = append(robots, setFile{s.Robot, schema.TopicDesiredActivities, s.SHA256})
		for _, sha := range files[s.SHA256] {
			needed = append(needed, setFile{s.Robot, schema.TopicDesiredActivities, sha})
		}
		for i, p := range s.Activities {
			activities = append(activities, assigned{s.Robot, p, int64(i)})
		}
	}
	if err := t.saveDesired(ctx, rows); err != nil {
		return err
	}
	if err := t.writeSetFiles(ctx, robots, needed); err != nil {
		return err
	}
	if _, err := writeRows(ctx, t, robots, setFileColumns[:1],
		`DELETE FROM assigned_activities WHERE robot IN (SELECT robot FROM given)`); err != nil {
		return fmt.Errorf("remove the activities of %d robots: %w", len(robots), err)
	}
	if _, err := writeRows(ctx, t, activities, assignedColumns, `INSERT INTO assigned_activities (robot, kind, activity, rev, place)
		SELECT robot, 'activity', activity, rev, place FROM given`); err != nil {
		return fmt.Errorf("write the activities of %d robots: %w", len(robots), err)
	}
	return nil
}
