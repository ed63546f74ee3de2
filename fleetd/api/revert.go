package api

import (
	"context"
	"net/http"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Reversion reverts robots to the default story that they had before the present one.
type Reversion struct {
	Selector      selector.Selector `json:"selector"`
	Apply         schema.Apply      `json:"apply,omitempty" enum:"next_act,now,next_start" doc:"when it takes over; default: as the present story was assigned"`
	DryRun        bool              `json:"dry_run,omitempty" doc:"only show which robots would be updated"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are selected"`
	audit.Attribution
}

// Reverted is the result of a reversion.
type Reverted struct {
	DryRun  bool           `json:"dry_run,omitempty"`
	Total   int            `json:"total" doc:"robots selected"`
	To      []RevertedTo   `json:"to" doc:"stories, with the robots that go back to each"`
	Skipped []SkippedRobot `json:"skipped" doc:"robots that keep what they have"`
	Pinned  []string       `json:"pinned,omitempty" doc:"robots for which a policy says otherwise: they are pinned, so no policy changes them until the pin is removed"`
}

// RevertedTo is a story, and the robots that go back to it.
type RevertedTo struct {
	Story  string   `json:"story,omitempty" doc:"left out = no default story"`
	Rev    int64    `json:"rev,omitempty"`
	Robots []string `json:"robots"`
}

// SkippedRobot is a robot that keeps what it has, and why.
type SkippedRobot struct {
	Robot  string `json:"robot"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

func (s *server) reversion(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "revert-assignment", Method: http.MethodPost, Path: "/assignments/revert", Tag: "stories", Right: auth.Assign,
		Summary: "Give robots the default story that they had before",
		Description: "Each robot gets the revision that was assigned to it before the present one; a second request undoes that. A " +
			"robot whose story was never changed, or whose earlier story cannot be assigned any more, is skipped.",
		Audit:   audit.ActionRevert,
		Use:     "story revert ROBOT...",
		Example: "story revert r1\nstory revert -l site=museum --dry-run\nstory revert r1 r2 --wait",
	}, func(ctx context.Context, in *bodyOf[Reversion]) (*answer[Reverted], error) {
		return s.revert(ctx, in.principal, in.Body)
	})
}

func (s *server) revert(ctx context.Context, p auth.Principal, r Reversion) (*answer[Reverted], error) {
	robots, err := s.robotsFor(p, r.Selector)
	if err != nil {
		return nil, err
	}
	ask := library.Reversion{Apply: r.Apply, Expected: r.ExpectedCount}
	done, total, problems, err := s.Desired.Revert(ctx, p, robots, ask, r.DryRun, attribute(p, r.Attribution))
	if err := s.failedSelected(err, "previous stories", r.Selector, problems, total); err != nil {
		return nil, err
	}
	out := Reverted{DryRun: r.DryRun, Total: total, To: []RevertedTo{}, Skipped: []SkippedRobot{}, Pinned: done.Pinned}
	for _, to := range done.To {
		out.To = append(out.To, RevertedTo{to.Story.ID, to.Story.Rev, to.Robots})
	}
	for _, k := range done.Skipped {
		out.Skipped = append(out.Skipped, SkippedRobot{k.Robot, k.Why.Detail, k.Why.Hint})
	}
	return &answer[Reverted]{out}, nil
}
