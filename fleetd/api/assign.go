package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/fleetd/view"
	"troupe/schema"
)

// Assignment sets the default story of robots.
type Assignment struct {
	Story         string            `json:"story,omitempty" doc:"empty = remove the default story"`
	Rev           int64             `json:"rev,omitempty" minimum:"0" doc:"0 = the newest"`
	Selector      selector.Selector `json:"selector"`
	Apply         schema.Apply      `json:"apply,omitempty" enum:"next_act,now,next_start" doc:"when it takes over; default next_act; now ends the running act; next_start waits until the present story has ended or is stopped" cli:"apply,choice"`
	DryRun        bool              `json:"dry_run,omitempty" doc:"only show which robots would be updated"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are selected"`
	audit.Attribution
}

// Assigned is the result of an assignment.
type Assigned struct {
	DryRun    bool             `json:"dry_run,omitempty"`
	Story     string           `json:"story,omitempty"`
	Rev       int64            `json:"rev,omitempty"`
	Total     int              `json:"total" doc:"robots selected"`
	Updated   []string         `json:"updated" doc:"robots that get a new desired story"`
	Unchanged []string         `json:"unchanged" doc:"robots that had this desired story already"`
	Misfits   []library.Misfit `json:"misfits" doc:"warnings: what bodies of updated robots lack for the story"`
	Pinned    []string         `json:"pinned,omitempty" doc:"robots for which a policy says otherwise: they are pinned, so no policy changes them until the pin is removed"`
}

// ActivitiesAssignment sets the activities of robots, instead of those that they have.
type ActivitiesAssignment struct {
	Activities    []string          `json:"activities" maxItems:"64" doc:"the whole set; empty = none"`
	Selector      selector.Selector `json:"selector"`
	DryRun        bool              `json:"dry_run,omitempty" doc:"only show which robots would be updated"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are selected"`
	audit.Attribution
}

// ActivitiesAssigned is the result of an ActivitiesAssignment.
type ActivitiesAssigned struct {
	DryRun     bool             `json:"dry_run,omitempty"`
	Activities []view.Activity  `json:"activities" doc:"with the revisions that are assigned"`
	Total      int              `json:"total" doc:"robots selected"`
	Updated    []string         `json:"updated" doc:"robots that get these activities"`
	Unchanged  []string         `json:"unchanged" doc:"robots that had them already"`
	Misfits    []library.Misfit `json:"misfits" doc:"warnings: what bodies of updated robots lack for an activity, which these robots leave out"`
	Pinned     []string         `json:"pinned,omitempty" doc:"robots for which a policy says otherwise: they are pinned, so no policy changes them until the pin is removed"`
}

func (s *server) assignments(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "assign", Method: http.MethodPost, Path: "/assignments", Tag: "stories", Right: auth.Assign,
		Summary: "Set the default story of robots",
		Description: "Each robot keeps its present story until it has accepted the new one, and reports its progress. An empty " +
			"story removes the default story.",
		Audit:   audit.ActionAssign,
		Use:     "story assign STORY ROBOT...",
		Example: "story assign museum r1\nstory assign museum-welcome r1 r2 --wait\nstory assign museum-welcome -l site=museum --rev 3",
		Long: "Set the newest revision of a story, or --rev, as the default story of robots. Each robot keeps its present story\n" +
			"until it has accepted the new one. A robot in ato whose story was stopped, withdrawn or has ended does not begin\n" +
			"by itself: it waits for fleetd auto start.",
	}, func(ctx context.Context, in *bodyOf[Assignment]) (*answer[Assigned], error) {
		return s.assign(ctx, in.principal, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "assign-activities", Method: http.MethodPost, Path: "/activities/assignments", Tag: "activities", Right: auth.Assign,
		Summary: "Set the activities of robots",
		Description: "The newest revision of each is assigned, and robots keep it when another one is published, until these " +
			"activities are assigned again. The activities that a robot has now are replaced; an empty list removes them.",
		Audit: audit.ActionAssign,
		Use:   "activity assign ACTIVITY[,ACTIVITY...] ROBOT...",
		Example: "activity assign greet r1\nactivity assign greet,look-around r1 r2\n" +
			"activity assign greet look-around -l site=museum",
		Long: "Set the activities of robots: the newest revision of each. They replace the activities that the\n" +
			"robots have. Names of several activities are joined by commas; with --all, -l or\n" +
			"another flag that selects robots, all arguments are activities. Robots keep these revisions until\n" +
			"activities are assigned again.",
	}, func(ctx context.Context, in *bodyOf[ActivitiesAssignment]) (*answer[ActivitiesAssigned], error) {
		return s.assignActivities(ctx, in.principal, in.Body)
	})
}

func (s *server) assignActivities(ctx context.Context, p auth.Principal, a ActivitiesAssignment) (*answer[ActivitiesAssigned], error) {
	robots, err := s.robotsFor(p, a.Selector)
	if err != nil {
		return nil, err
	}
	ask := library.ActivitiesAssignment{Expected: a.ExpectedCount}
	for _, id := range a.Activities {
		ask.Activities = append(ask.Activities, library.Pin{ID: id})
	}
	done, total, problems, err := s.Desired.AssignActivities(ctx, p, robots, ask, a.DryRun, attribute(p, a.Attribution))
	if err := s.failedSelected(err, "activities", a.Selector, problems, total); err != nil {
		return nil, err
	}
	out := ActivitiesAssigned{DryRun: a.DryRun, Activities: []view.Activity{}, Total: total,
		Updated: nonNil(done.Updated), Unchanged: nonNil(done.Unchanged), Misfits: nonNil(done.Misfits), Pinned: done.Pinned}
	for _, pin := range done.Activities {
		out.Activities = append(out.Activities, view.Activity(pin))
	}
	return &answer[ActivitiesAssigned]{out}, nil
}

func (s *server) assign(ctx context.Context, p auth.Principal, a Assignment) (*answer[Assigned], error) {
	robots, err := s.robotsFor(p, a.Selector)
	if err != nil {
		return nil, err
	}
	ask := library.Assignment{Story: a.Story, Rev: a.Rev, Apply: a.Apply, Expected: a.ExpectedCount}
	done, total, problems, err := s.Desired.Assign(ctx, p, robots, ask, a.DryRun, attribute(p, a.Attribution))
	if err := s.failedSelected(err, "story "+a.Story, a.Selector, problems, total); err != nil {
		return nil, err
	}
	return &answer[Assigned]{Assigned{
		DryRun: a.DryRun, Story: a.Story, Rev: done.Revision.Rev, Total: total,
		Updated: nonNil(done.Updated), Unchanged: nonNil(done.Unchanged), Misfits: nonNil(done.Misfits), Pinned: done.Pinned,
	}}, nil
}

// failedSelected is failed for a request with a selector in its body, which selects total robots.
func (s *server) failedSelected(err error, what string, sel selector.Selector, found []schema.Problem, total int) error {
	var unknown *change.UnknownRobots
	switch {
	case errors.As(err, &unknown) && sel.NeedsView():
		return KindConflict.Problem(strings.Join(unknown.IDs, ", ")+" left the fleet at the same time", "try again")
	case errors.As(err, &unknown):
		return refusal(inBody("/selector", unknownRobotProblems(sel, unknown.IDs)))
	case err == nil && len(found) > 0:
		return refusal(inBody("", found)).withCount(total)
	}
	return s.failed(err, what, nil)
}
