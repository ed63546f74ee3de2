package api

import (
	"context"
	"net/http"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
)

// LabelsRequest changes some labels of robots; their other labels stay.
type LabelsRequest struct {
	Selector      selector.Selector `json:"selector"`
	Set           map[string]string `json:"set,omitempty" doc:"values by key"`
	Unset         []string          `json:"unset,omitempty" maxItems:"16" doc:"keys to remove"`
	DryRun        bool              `json:"dry_run,omitempty"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are selected"`
	audit.Attribution
}

// LabelsResult is the result of a LabelsRequest.
type LabelsResult struct {
	DryRun  bool     `json:"dry_run,omitempty"`
	Total   int      `json:"total" doc:"robots selected"`
	Updated []string `json:"updated" doc:"robots whose labels differ from before"`
}

func (s *server) bulkLabels(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "label-robots", Method: http.MethodPost, Path: "/labels", Tag: "robots", Right: auth.Administer,
		Summary:     "Change some labels of many robots",
		Description: "Sets and removes the named labels of each robot that matches the selector, and keeps the others.",
		Audit:       audit.ActionLabel,
		Example:     "robot label -l site=museum floor=2",
	}, func(ctx context.Context, in *bodyOf[LabelsRequest]) (*answer[LabelsResult], error) {
		return s.editLabels(ctx, in.principal, in.Body)
	})
}

func (s *server) editLabels(ctx context.Context, p auth.Principal, b LabelsRequest) (*answer[LabelsResult], error) {
	if found := b.Selector.Problems(); len(found) > 0 {
		return nil, refusal(inBody("/selector", found))
	}
	if found := selector.LabelProblems(b.Set); len(found) > 0 {
		return nil, refusal(inBody("/set", found))
	}
	if len(b.Set)+len(b.Unset) == 0 {
		return nil, KindInvalid.Problem("the request changes no label", "name a label in set or unset")
	}
	e := change.LabelEdit{Robots: s.View.Resolve(b.Selector), Set: b.Set, Unset: b.Unset, Expected: b.ExpectedCount, DryRun: b.DryRun}
	changed, total, found, err := s.Labels.Edit(ctx, p, e, attribute(p, b.Attribution))
	if err := s.failedSelected(err, "labels", b.Selector, found, total); err != nil {
		return nil, err
	}
	return &answer[LabelsResult]{LabelsResult{DryRun: b.DryRun, Total: total, Updated: nonNil(changed)}}, nil
}
