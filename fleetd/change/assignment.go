package change

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// assignment is one content that robots are assigned at once, and what each of them got.
type assignment struct {
	content content.Content
	given   map[string]rollout.Given
	policy  string // that gives it; empty = a person, or a schedule

	schedule string // that gives it
}

// addAssignments adds a rollout of one wave for each assignment, in the transaction that carries it out: so all that
// robots were given is in one list, and can be taken back in one way. Such a rollout only watches what becomes of it.
func (d *Deps) addAssignments(ctx context.Context, tx *store.Tx, all []assignment, sel selector.Selector, by audit.Attribution) error {
	var rows []store.NewRollout
	for _, a := range all {
		if len(a.given) == 0 {
			continue // all of them had it already
		}
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make an id for a rollout: %w", err)
		}
		at := rollout.Ask{Content: a.content, Spec: rollout.Spec{AllAtOnce: true}, Now: by.At}
		if a.policy == "" && a.schedule == "" { // what a person assigns is pinned, and may be offered again
			at.Spec.Pinned = rollout.PinnedReplace
		}
		for _, robot := range slices.Sorted(maps.Keys(a.given)) {
			at.Robots = append(at.Robots, rollout.Candidate{Robot: selector.Robot{ID: robot}})
		}
		plan, found := rollout.NewPlan(at)
		if len(found) > 0 {
			return fmt.Errorf("plan the rollout of an assignment: %s", found[0])
		}
		ask := rollout.New{ID: id.String(), Selector: selectorText(sel), Cause: rollout.ByAssignment, By: by.Who, Why: by.Why, At: by.At,
			Start: true}
		if a.policy != "" {
			ask.Cause, ask.CauseID = rollout.ByPolicy, a.policy
		}
		if a.schedule != "" {
			ask.Cause, ask.CauseID = rollout.BySchedule, a.schedule
		}
		row, robots := plan.Rollout(ask)
		run := rollout.NewRun(row, robots)
		c := rollout.Assigned(run, rollout.Step(run, by.At, rollout.Facts{}), a.given, by.At)
		if err := startLast(ctx, tx, &c.Rollout); err != nil {
			return err
		}
		rows = append(rows, store.NewRollout{Rollout: c.Rollout, Members: run.Robots()})
	}
	return tx.AddRollouts(ctx, rows...)
}

// selectorText is a selector for people, which names at most 20 robots.
func selectorText(sel selector.Selector) string {
	const most = 20
	if n := len(sel.IDs); n > most {
		sel.IDs = sel.IDs[:most:most]
		return fmt.Sprintf("%s and %d more", sel, n-most)
	}
	return sel.String()
}

// assignedStory is an assignment of a story.
func assignedStory(rows library.Rows, c library.Changes, story content.Story, updated, unchanged []string) assignment {
	return assignment{content: content.Content{Story: &story}, given: givenStories(rows, c, updated, unchanged)}
}

// assignedDocuments is an assignment of settings, a mode or places. The places are published with it, so their digest
// names them.
func assignedDocuments(rows desired.Rows, ask desired.Request, done desired.Changes) assignment {
	c := content.Content{Config: ask.Config}
	if ask.Mode != nil {
		c.Mode = &desired.Mode{Mode: ask.Mode.Mode, Apply: cmp.Or(ask.Mode.Apply, schema.ApplyModeBoot)}
	}
	if ask.Places != nil {
		c.Places = &desired.Set{ID: ask.Places.ID, Rev: ask.Places.Rev, SHA256: done.SHA256}
	}
	return assignment{content: c, given: givenDocuments(rows, ask, done)}
}
