package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/score"
)

// Desired changes the desired documents of robots.
type Desired struct{ Deps }

// robotsPlan plans changes of the library for robots, which are assignments.
type robotsPlan func(rows library.Rows, by audit.Attribution, robots []string) (library.Changes, []assignment, []schema.Problem)

// Assign sets the default story of the robots that match a selector; total is their number.
func (d *Desired) Assign(
	ctx context.Context, p auth.Principal, sel selector.Selector, a library.Assignment, dryRun bool, by audit.Attribution,
) (done library.Assigned, total int, found []schema.Problem, err error) {
	a.Caps = d.Caps
	if dryRun {
		a.Expected = nil
	}
	plan := func(rows library.Rows, by audit.Attribution, robots []string) (_ library.Changes, _ []assignment, found []schema.Problem) {
		a.Robots = robots
		done, found = library.Assign(rows, a, by)
		story := content.Story{ID: a.Story, Rev: done.Revision.Rev, Apply: cmp.Or(a.Apply, schema.ApplyNextAct)}
		return done.Changes, []assignment{assignedStory(rows, done.Changes, story, done.Updated, done.Unchanged)}, found
	}
	total, pinned, found, err := d.planForRobots(ctx, p, library.ForAssignment(a.Story, a.Rev), sel, dryRun, by, plan)
	done.Pinned = pinned
	return done, total, found, err
}

// Revert gives the robots that match a selector the default story that they had before; total is their number.
func (d *Desired) Revert(
	ctx context.Context, p auth.Principal, sel selector.Selector, r library.Reversion, dryRun bool, by audit.Attribution,
) (done library.Reverted, total int, found []schema.Problem, err error) {
	if dryRun {
		r.Expected = nil
	}
	plan := func(rows library.Rows, by audit.Attribution, robots []string) (_ library.Changes, all []assignment, found []schema.Problem) {
		r.Robots = robots
		done, found = library.Revert(rows, r, by)
		for _, to := range done.To {
			all = append(all, assignedStory(rows, done.Changes, content.Story{ID: to.Story.ID, Rev: to.Story.Rev, Apply: r.Apply}, to.Robots, nil))
		}
		return done.Changes, all, found
	}
	total, pinned, found, err := d.planForRobots(ctx, p, library.ForReversion(), sel, dryRun, by, plan)
	done.Pinned = pinned
	return done, total, found, err
}

// AssignActivities sets the activities of the robots that match a selector; total is their number.
func (d *Desired) AssignActivities(
	ctx context.Context, p auth.Principal, sel selector.Selector, a library.ActivitiesAssignment, dryRun bool, by audit.Attribution,
) (done library.ActivitiesAssigned, total int, found []schema.Problem, err error) {
	a.Caps = d.Caps
	if dryRun {
		a.Expected = nil
	}
	plan := func(rows library.Rows, by audit.Attribution, robots []string) (_ library.Changes, _ []assignment, found []schema.Problem) {
		a.Robots = robots
		done, found = library.AssignActivities(rows, a, by)
		c := content.Content{Activities: &content.Activities{Pins: done.Activities}}
		return done.Changes, []assignment{{content: c, given: givenActivities(rows, done)}}, found
	}
	total, pinned, found, err := d.planForRobots(ctx, p, library.ForActivities(a.Activities), sel, dryRun, by, plan)
	done.Pinned = pinned
	return done, total, found, err
}

// planForRobots is applyPlan for the robots that match a selector; total is their number. It writes nothing if the
// plan finds problems, and nothing with dryRun. pinned are the robots for which a policy says otherwise.
func (d *Desired) planForRobots(
	ctx context.Context, p auth.Principal, read library.Reading, sel selector.Selector, dryRun bool, by audit.Attribution, plan robotsPlan,
) (total int, pinned []string, found []schema.Problem, err error) {
	err = d.applyPlan(ctx, p, read, sel, func(tx *store.Tx, rows library.Rows, now time.Time) (changes library.Changes, err error) {
		robots, err := matching(ctx, tx, sel)
		if err != nil {
			return changes, err
		}
		total = len(robots)
		by := by.WithTime(now)
		changes, all, problems := plan(rows, by, robots)
		if found = problems; len(found) > 0 {
			return changes, errRefused
		}
		if pinned, err = d.pinAgainst(ctx, tx, all, dryRun, by); err != nil {
			return changes, err
		}
		if dryRun || changes.Empty() {
			return library.Changes{}, nil
		}
		return changes, d.addAssignments(ctx, tx, all, sel, by)
	})
	return total, pinned, found, err
}

// Set changes the desired settings, mode or places of robots. total is the number
// of robots that match.
func (d *Desired) Set(ctx context.Context, p auth.Principal, robots selector.Selector, ask desired.Request, dryRun bool,
	by audit.Attribution) (c desired.Changes, total int, found []schema.Problem, err error) {
	err = d.transact(ctx, p, func(tx *store.Tx) error {
		if _, err := matching(ctx, tx, robots); err != nil {
			return err
		}
		rows, err := tx.DesiredRows(ctx, ask.Topic(), robots)
		if err != nil {
			return err
		}
		total = len(rows.Robots)
		by := by.WithTime(d.Now())
		ask := ask // the transaction may run again, and must begin with what was requested
		if ask.Places != nil && ask.Places.SHA256 != "" {
			if ask.Places, found, err = publishedPlaces(ctx, tx, *ask.Places); err != nil {
				return err
			}
			if len(found) > 0 {
				return errRefused
			}
		}
		parts := []desired.SubRequest{{Rows: rows, Request: ask}}
		if ask.Points != nil {
			sets, err := publishedSets(ctx, tx, rows)
			if err != nil {
				return err
			}
			if parts, found = desired.PointRequests(rows, ask, sets); len(found) > 0 {
				return errRefused
			}
		}
		c = desired.Changes{Topic: ask.Topic(), Counter: rows.Signer.Counter}
		if ask.Revert != "" {
			sets, err := previousSets(ctx, tx, rows)
			if err != nil {
				return err
			}
			if parts, c.NotReverted, found = desired.RevertRequests(rows, ask, sets); len(found) > 0 {
				return errRefused
			}
		}
		var all, asked []assignment // asked has what stays as it is, too
		for _, part := range parts {
			part.Rows.Signer.Counter = c.Counter
			var done desired.Changes
			if done, found = desired.Plan(part.Rows, part.Request, by); len(found) > 0 {
				return errRefused
			}
			c.Updated, c.Unchanged, c.Counter = append(c.Updated, done.Updated...), append(c.Unchanged, done.Unchanged...), done.Counter
			c.ValuesBefore = append(c.ValuesBefore, done.ValuesBefore...)
			if ask.Revert != "" {
				c.ValuesAfter = append(c.ValuesAfter, done.ValuesAfter...)
			}
			a := assignedDocuments(part.Rows, part.Request, done)
			asked = append(asked, assignment{content: content.Content{Config: part.Request.Config, Mode: part.Request.Mode,
				Places: part.Request.Places}, given: a.given})
			if dryRun || len(done.Updated) == 0 {
				continue
			}
			if err := tx.ApplyDesired(ctx, done, by); err != nil {
				return err
			}
			all = append(all, a)
		}
		if err := d.addAssignments(ctx, tx, all, robots, by); err != nil {
			return err
		}
		slices.Sort(c.Updated)
		slices.Sort(c.Unchanged)
		c.Pinned, err = d.pinAgainst(ctx, tx, asked, dryRun, by)
		return err
	})
	if errors.Is(err, errRefused) {
		return c, total, found, nil
	}
	if err == nil && !dryRun && len(c.Updated) > 0 {
		d.Changed(ctx, c.Updated)
	}
	return c, total, nil, err
}

// publishedPlaces are places with the body that was published under their digest before.
func publishedPlaces(ctx context.Context, tx *store.Tx, set desired.Set) (*desired.Set, []schema.Problem, error) {
	body, err := tx.Blob(ctx, set.SHA256)
	switch {
	case errors.Is(err, store.ErrNotFound):
		why := fmt.Sprintf("no places with the digest %q were published", set.SHA256)
		return nil, []schema.Problem{schema.NewProblem("/places/sha256", library.CodeNotFound, why, "send their body, which publishes them")}, nil
	case err != nil:
		return nil, nil, err
	}
	set.Body = body
	return &set, nil, nil
}

// Newest returns the newest desired document of one kind of each of these robots that has one.
func (d *Desired) Newest(ctx context.Context, topic schema.TopicKind,
	robots selector.Selector) (documents map[string]desired.Document, fleetID string, err error) {
	db, err := d.Store()
	if err != nil {
		return nil, "", err
	}
	documents, err = db.NewestDesired(ctx, topic, robots)
	return documents, db.FleetID(), err
}

// Last lists the newest assignments that robots still have, the newest first.
func (d *Desired) Last(ctx context.Context, robots selector.Selector, q desired.LastQuery) ([]desired.LastAssignment, string, error) {
	db, err := d.Store()
	if err != nil {
		return nil, "", err
	}
	changes, err := db.NewestChanges(ctx, robots, q)
	if err != nil {
		return nil, "", err
	}
	all := desired.LastAssignments(changes)
	notes, err := db.AssignmentNotes(ctx, desired.Times(all))
	desired.AddReasons(all, notes)
	return all, db.FleetID(), err
}

// publishedSets returns the published sets that robots have now, by digest.
func publishedSets(ctx context.Context, tx *store.Tx, rows desired.Rows) (map[string][]byte, error) {
	sets := map[string][]byte{}
	for _, r := range rows.Robots {
		sum := desired.PlacesDigest(r.Current.Payload)
		if _, known := sets[sum]; known || sum == "" {
			continue
		}
		body, err := tx.Blob(ctx, sum)
		if err != nil {
			return nil, err
		}
		sets[sum] = body
	}
	return sets, nil
}

// previousSets returns the published sets that robots had before, by digest.
func previousSets(ctx context.Context, tx *store.Tx, rows desired.Rows) (map[string][]byte, error) {
	sets := map[string][]byte{}
	for _, sum := range desired.PreviousPlaces(rows) {
		body, err := tx.Blob(ctx, sum)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		sets[sum] = body
	}
	return sets, nil
}

// Places returns the desired places of a robot, without points if it has none.
func (d *Desired) Places(ctx context.Context, robot string) (score.Places, error) {
	documents, _, err := d.Of(ctx, robot)
	if err != nil {
		return score.Places{}, err
	}
	var body []byte
	if sum := desired.PlacesDigest(documents[schema.TopicDesiredPlaces]); sum != "" {
		db, err := d.Store()
		if err != nil {
			return score.Places{}, err
		}
		if body, err = db.Blob(ctx, sum); err != nil {
			return score.Places{}, err
		}
	}
	places, found := desired.PlacesOf(body)
	if len(found) > 0 {
		return score.Places{}, fmt.Errorf("read the places of %s: %s", robot, found[0])
	}
	return places, nil
}

// Of returns the desired documents of a robot by kind, and the fleet that its reports must
// name.
func (d *Desired) Of(ctx context.Context, robot string) (documents map[schema.TopicKind][]byte, fleetID string, err error) {
	db, err := d.Store()
	if err != nil {
		return nil, "", err
	}
	if _, err := db.Robot(ctx, robot); err != nil {
		return nil, "", err
	}
	documents, err = db.DesiredOf(ctx, robot)
	return documents, db.FleetID(), err
}
