package change

import (
	"context"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// resolveContent returns a content as robots would get it now, with revisions, defaults and bodies, or why no robot can get it. The
// pointers of the problems begin with pointer, which is where the request has the content.
func (d *Deps) resolveContent(ctx context.Context, tx *store.Tx, c content.Content, pointer string) (content.Content, []schema.Problem,
	error) {
	if found := c.Problems(pointer); len(found) > 0 {
		return c, found, nil
	}
	switch {
	case c.Story != nil:
		rows, err := tx.LibraryFor(ctx, library.ForAssignment(c.Story.ID, c.Story.Rev), selector.Selector{})
		if err != nil {
			return c, nil, err
		}
		a, found := library.ResolveStory(rows, library.Assignment{Story: c.Story.ID, Rev: c.Story.Rev, Apply: c.Story.Apply})
		c.Story = &content.Story{ID: a.Story, Rev: a.Rev, Apply: a.Apply}
		return c, below(pointer, c, found), nil
	case c.Activities != nil:
		rows, err := tx.LibraryFor(ctx, library.ForActivities(c.Activities.Pins), selector.Selector{})
		if err != nil {
			return c, nil, err
		}
		pins, found := library.ResolveActivities(rows, c.Activities.Pins)
		c.Activities = &content.Activities{Pins: pins}
		return c, below(pointer, c, found), nil
	}
	ask := requestFor(c)
	if ask.Mode != nil && ask.Mode.Apply == "" {
		ask.Mode = &desired.Mode{Mode: ask.Mode.Mode, Apply: schema.ApplyModeBoot}
	}
	if p := ask.Places; p != nil && p.SHA256 != "" {
		if len(p.Body) > 0 {
			return c, below(pointer, c, []schema.Problem{schema.NewProblem("/places/sha256", "bad_value",
				"the places have both a body and a digest", "send one of them")}), nil
		}
		set, found, err := publishedPlaces(ctx, tx, *p)
		if err != nil || len(found) > 0 {
			return c, below(pointer, c, found), err
		}
		set.SHA256 = ""
		ask.Places = set
	}
	rows, err := tx.DesiredRows(ctx, ask.Topic(), selector.Selector{})
	if err != nil {
		return c, nil, err
	}
	c.Mode, c.Places = ask.Mode, ask.Places
	return c, below(pointer, c, desired.Check(rows, ask)), nil
}

// requestFor is the request that gives robots a content of settings, a mode or places.
func requestFor(c content.Content) desired.Request {
	return desired.Request{Config: c.Config, Mode: c.Mode, Places: c.Places}
}

// below makes pointers to a request for one content those of a request that has the content at pointer.
func below(pointer string, c content.Content, found []schema.Problem) []schema.Problem {
	for i, p := range found {
		at := p.Pointer
		switch {
		case c.Story != nil && (at == "" || at == "/story"):
			at = "/story/id"
		case c.Story != nil:
			at = "/story" + at
		case c.Activities != nil:
			at = "/activities/pins" + strings.TrimPrefix(at, "/activities")
		}
		found[i].Pointer = pointer + at
	}
	return found
}

// plannedContent is what it means for robots to get a resolved content; nothing is written before apply.
type plannedContent struct {
	Updated, Unchanged []string // robots
	Misfits            []library.Misfit
	given              map[string]rollout.Given // of all of them
	apply              func(ctx context.Context) error
}

// planContent plans to give robots a resolved content, in a transaction which the caller ends.
func (d *Deps) planContent(ctx context.Context, tx *store.Tx, c content.Content, robots []string, by audit.Attribution) (plannedContent,
	[]schema.Problem, error) {
	sel := selector.IDs(robots...)
	var changes library.Changes
	planned := plannedContent{apply: func(ctx context.Context) error {
		if changes.Empty() {
			return nil
		}
		return tx.Apply(ctx, changes, by.At)
	}}
	switch {
	case c.Story != nil:
		rows, err := tx.LibraryFor(ctx, library.ForAssignment(c.Story.ID, c.Story.Rev), sel)
		if err != nil {
			return planned, nil, err
		}
		done, found := library.Assign(rows, library.Assignment{Story: c.Story.ID, Rev: c.Story.Rev, Apply: c.Story.Apply, Robots: robots,
			Caps: d.Caps}, by)
		planned.Updated, planned.Unchanged, planned.Misfits, changes = done.Updated, done.Unchanged, done.Misfits, done.Changes
		planned.given = givenStories(rows, done.Changes, done.Updated, done.Unchanged)
		return planned, found, nil
	case c.Activities != nil:
		rows, err := tx.LibraryFor(ctx, library.ForActivities(c.Activities.Pins), sel)
		if err != nil {
			return planned, nil, err
		}
		done, found := library.AssignActivities(rows, library.ActivitiesAssignment{Activities: c.Activities.Pins, Robots: robots, Caps: d.Caps},
			by)
		planned.Updated, planned.Unchanged, planned.Misfits, changes = done.Updated, done.Unchanged, done.Misfits, done.Changes
		planned.given = givenActivities(rows, done)
		return planned, found, nil
	}
	ask := requestFor(c)
	if p := ask.Places; p != nil && p.SHA256 != "" && len(p.Body) == 0 { // what a robot had
		set, found, err := publishedPlaces(ctx, tx, *p)
		if err != nil || len(found) > 0 {
			return planned, found, err
		}
		ask.Places = set
	}
	rows, err := tx.DesiredRows(ctx, ask.Topic(), sel)
	if err != nil {
		return planned, nil, err
	}
	done, found := desired.Plan(rows, ask, by)
	planned.Updated, planned.Unchanged = done.Updated, done.Unchanged
	planned.given = givenDocuments(rows, ask, done)
	planned.apply = func(ctx context.Context) error { return tx.ApplyDesired(ctx, done, by) }
	return planned, found, nil
}
