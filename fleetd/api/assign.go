package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
)

func (s *server) assignments(h huma.API) {
	huma.Register(h, op("assign", http.MethodPost, "/assignments", "stories", "Set the default story of robots",
		"Each robot keeps its present story until it has accepted the new one, and reports its progress. An empty story removes the default story."),
		func(ctx context.Context, in *struct{ Body Assignment }) (*answer[Assigned], error) {
			return s.assign(ctx, in.Body)
		})
}

func (s *server) assign(ctx context.Context, a Assignment) (*answer[Assigned], error) {
	if found := a.Selector.Problems(); len(found) > 0 {
		return nil, refusal(inBody("/selector", found))
	}
	var out Assigned
	err := s.plan(ctx, "story "+a.Story, library.ForAssignment(a.Story, a.Rev), a.Selector, func(tx *store.Tx, rows library.Rows, now time.Time) (library.Changes, error) {
		robots, unknown, err := matching(ctx, tx, a.Selector)
		if err != nil {
			return library.Changes{}, err
		}
		if len(unknown) > 0 {
			return library.Changes{}, refusal(inBody("/selector", unknownRobotProblems(a.Selector, unknown)))
		}
		ask := library.Assignment{Story: a.Story, Rev: a.Rev, Robots: robots, Apply: a.Apply, Expected: a.ExpectedCount}
		if a.DryRun {
			ask.Expected = nil
		}
		done, problems := library.Assign(rows, ask, a.Signed.at(now))
		if len(problems) > 0 {
			return library.Changes{}, refusal(inBody("", problems)).withCount(len(robots))
		}
		out = Assigned{DryRun: a.DryRun, Story: a.Story, Rev: done.Revision.Rev, Total: len(robots), Updated: nonNil(done.Updated), Unchanged: nonNil(done.Unchanged)}
		if a.DryRun {
			return library.Changes{}, nil
		}
		return done.Changes, nil
	})
	if err != nil {
		return nil, err
	}
	return &answer[Assigned]{out}, nil
}

// matching returns the robots that match a selector, and the names in it that are no robots
// of the fleet.
func matching(ctx context.Context, tx *store.Tx, sel selector.Selector) (robots, unknown []string, err error) {
	rows, err := tx.Robots(ctx, sel)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, r := range rows {
		known[r.ID] = true
		robots = append(robots, r.ID)
	}
	for _, id := range sel.IDs {
		if !known[id] {
			unknown = append(unknown, id)
		}
	}
	return robots, unknown, nil
}
