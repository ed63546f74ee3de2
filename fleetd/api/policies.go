package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Policy says which robots have a content, by their labels.
type Policy struct {
	ID        string            `json:"id"`
	Version   int64             `json:"version" doc:"rises with every change"`
	Place     int               `json:"place" doc:"of several policies that select a robot, the one with the lowest place decides"`
	Robots    string            `json:"robots" doc:"the selector in words"`
	Selector  selector.Selector `json:"selector"`
	Kind      string            `json:"kind" enum:"story,activities,config,mode,places"`
	Text      string            `json:"text" doc:"the content in a few words"`
	Content   content.Content   `json:"content" doc:"with the revisions that are assigned"`
	Enabled   bool              `json:"enabled"`
	Owner     string            `json:"owner,omitempty" doc:"the folder that it was applied from; left out if a person wrote it"`
	ChangedAt schema.Time       `json:"changed_at"`
	ChangedBy string            `json:"changed_by,omitempty"`
	Why       string            `json:"why,omitempty"`
	Rollout   string            `json:"rollout,omitempty" doc:"the rollout that brings it to its robots; robots that join before its last wave wait for that; left out if they got it at once"`
	Selects   int               `json:"selects" doc:"robots that it selects"`
	Decides   int               `json:"decides" doc:"robots for which it decides, but for those on which a person pinned what they have"`
}

// State says in a word whether the policy is in force.
func (p *Policy) State() string {
	if p.Enabled {
		return "enabled"
	}
	return "disabled"
}

// Policies are all policies, in the order in which they decide.
type Policies struct {
	Policies []Policy `json:"policies"`
}

// PolicyRequest is a new policy, or another form of one.
type PolicyRequest struct {
	Place         int               `json:"place,omitempty" minimum:"0" maximum:"1000000" doc:"of several policies that select a robot, the one with the lowest place decides"`
	Selector      selector.Selector `json:"selector" doc:"labels, or all; robots that join the fleet later are selected, too"`
	Content       content.Content   `json:"content" cli:"-"`
	Enabled       *bool             `json:"enabled,omitempty" doc:"false = it decides nothing; default true"`
	Version       *int64            `json:"version,omitempty" minimum:"0" doc:"refused unless this is the version of the policy; 0 = refused if there is such a policy"`
	DryRun        bool              `json:"dry_run,omitempty" doc:"only show what it means for robots"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots would get something else"`
	Now           bool              `json:"now,omitempty" doc:"robots get at once what it says, all of them; else a rollout brings it to them in waves"`
	Spec          rollout.Spec      `json:"spec,omitzero" doc:"waves, gates and limits of the rollout; default: a canary, then 10, 50 and 100 %" cli:"-"`
	Supersede     *int              `json:"supersede,omitempty" minimum:"0" doc:"how many robots it takes from open rollouts of the same kind; refused if others than these would be taken"`
	audit.Attribution
}

// PolicyResult is what a change of a policy means for robots.
type PolicyResult struct {
	Policy    Policy           `json:"policy"`
	DryRun    bool             `json:"dry_run,omitempty"`
	Deleted   bool             `json:"deleted,omitempty"`
	Total     int              `json:"total" doc:"robots that it selects"`
	Decides   int              `json:"decides" doc:"robots for which it decides, or for which it decided until it was deleted"`
	Updated   []string         `json:"updated" doc:"robots that get something else"`
	Unchanged []string         `json:"unchanged" doc:"robots that have already what is decided for them"`
	Pinned    []string         `json:"pinned" doc:"robots that keep what a person pinned"`
	Left      []string         `json:"left" doc:"robots for which no policy decides any more: they keep what they have"`
	Overlaps  []policy.Overlap `json:"overlaps" doc:"other policies of this kind that select some of its robots"`
	Warnings  []schema.Problem `json:"warnings"`
	Misfits   []library.Misfit `json:"misfits" doc:"warnings: what bodies of updated robots lack"`
	Rollouts  []PolicyRollout  `json:"rollouts" doc:"that bring it to the robots; empty if they get it at once"`
	Ends      []PolicyEnd      `json:"ends" doc:"open rollouts that give robots nothing any more"`
}

// PolicyEnd is an open rollout that gives robots nothing any more, because a policy decides something else for them.
type PolicyEnd struct {
	Rollout string `json:"rollout"`
	Name    string `json:"name,omitempty"`
	Content string `json:"content" doc:"in a few words"`
	Robots  int    `json:"robots" doc:"that it has not decided"`
	Whole   bool   `json:"whole" doc:"it is aborted; else its other robots go on"`
}

// PolicyRollout is a rollout that brings what a policy says to robots.
type PolicyRollout struct {
	ID            string        `json:"id,omitempty" doc:"left out of a dry run"`
	Policy        string        `json:"policy" doc:"that decides for these robots now"`
	State         rollout.State `json:"state,omitempty" doc:"left out of a dry run"`
	Content       string        `json:"content" doc:"in a few words"`
	Robots        int           `json:"robots"`
	Waves         int           `json:"waves"`
	Refused       int           `json:"refused" doc:"robots that would refuse the content"`
	Superseding   int           `json:"superseding" doc:"robots that it takes from open rollouts of the same kind"`
	NeedsApproval bool          `json:"needs_approval" doc:"a second person has to approve it"`
}

// RobotWhy says why a robot has what it has.
type RobotWhy struct {
	Robot string    `json:"robot"`
	Kinds []KindWhy `json:"kinds" doc:"story, activities, config, mode and places"`
}

// KindWhy says why a robot has what it has of one kind.
type KindWhy struct {
	Kind      string         `json:"kind" enum:"story,activities,config,mode,places"`
	Has       string         `json:"has,omitempty" doc:"in a few words; left out if it has nothing of this kind"`
	DecidedBy policy.Decider `json:"decided_by" enum:"policy,pin,person,nobody" doc:"pin: a person pinned it; person: it was assigned, and no policy selects the robot"`
	Policy    string         `json:"policy,omitempty" doc:"the policy that decides, or that would without the pin"`
	Says      string         `json:"says,omitempty" doc:"what this policy says, in a few words"`
	Differs   bool           `json:"differs,omitempty" doc:"the robot does not have what the policy says: it is pinned, waits for its turn in a rollout, or got something else since"`
	Losers    []policy.Loser `json:"losers" doc:"policies that select the robot and do not decide"`
	Pin       *ContentPin    `json:"pin,omitempty"`
}

func (s *server) policies(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-policies", Method: http.MethodGet, Path: "/policies", Tag: "policies", Right: auth.View,
		Summary: "List the policies in the order in which they decide",
		Description: "A policy says which robots have a story, activities, settings, a mode or places, by their labels. Robots that join the " +
			"fleet or get other labels have it, too. At most one policy decides each kind for a robot.",
		Use: "policy list",
		Columns: "KIND kind | PLACE place | POLICY id | ROBOTS robots | CONTENT text | STATE State() | SELECTS selects | DECIDES decides | " +
			"BY changed_by",
		None: "no policies",
	}, func(ctx context.Context, in *struct{ caller }) (*answer[Policies], error) {
		return s.listPolicies(ctx, in.principal)
	})
	operation.Register(t, operation.Row{
		ID: "get-policy", Method: http.MethodGet, Path: "/policies/{id}", Tag: "policies", Right: auth.View,
		Summary: "Get one policy",
		Use:     "policy get POLICY",
		Example: "policy get lobby",
	}, func(ctx context.Context, in *PathID) (*answer[Policy], error) {
		return s.getPolicy(ctx, in.principal, in.ID)
	})
	operation.Register(t, operation.Row{
		ID: "put-policy", Method: http.MethodPut, Path: "/policies/{id}", Tag: "policies", Right: auth.Assign,
		Summary: "Make or change a policy",
		Description: "Its robots get what it says, but for those on which a person pinned what they have. With dry_run the answer says " +
			"which robots these are, and which other policies select them.",
		Audit: audit.ActionPolicy,
		Example: "policy put lobby --story museum -l site=lobby --place 10 --dry-run\n" +
			"policy put lobby --story museum -l site=lobby --place 10 --expect 3\npolicy put night --mode mnl --all\npolicy put lobby.yaml",
	}, func(ctx context.Context, in *idAndBody[PolicyRequest]) (*answer[PolicyResult], error) {
		return s.putPolicy(ctx, in.principal, in.ID, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "delete-policy", Method: http.MethodDelete, Path: "/policies/{id}", Tag: "policies", Right: auth.Assign,
		Summary: "Delete a policy",
		Description: "Its robots get what the next policy says that selects them. Those that no policy selects keep what they have; to take it " +
			"away, assign something else.",
		Audit:   audit.ActionPolicyDelete,
		Use:     "policy delete POLICY",
		Example: "policy delete lobby --dry-run\npolicy delete lobby --expect 0",
	}, func(ctx context.Context, in *struct {
		PathID
		Version       int64 `query:"version" minimum:"0" doc:"refused unless this is the version of the policy"`
		DryRun        bool  `query:"dry_run" doc:"only show what it means for robots"`
		ExpectedCount int   `query:"expected_count" minimum:"-1" default:"-1" doc:"refused unless exactly this many robots would get something else; -1 = any number"`
		Now           bool  `query:"now" doc:"robots get at once what the next policy says, all of them; else a rollout brings it to them in waves"`
		Supersede     int   `query:"supersede" minimum:"-1" default:"-1" doc:"how many robots it takes from open rollouts of the same kind; -1 = none"`
		AttributionQuery
	}) (*answer[PolicyResult], error) {
		ask := change.PolicyPut{Policy: policy.Policy{ID: in.ID}, DryRun: in.DryRun, Now: in.Now}
		if in.Version > 0 {
			ask.Version = &in.Version
		}
		if in.ExpectedCount >= 0 {
			ask.Expected = &in.ExpectedCount
		}
		if in.Supersede >= 0 {
			ask.Supersede = &in.Supersede
		}
		return s.deletePolicy(ctx, in.principal, ask, in.attribution(in.principal))
	})
	operation.Register(t, operation.Row{
		ID: "explain-robot", Method: http.MethodGet, Path: "/robots/{id}/why", Tag: "policies", Right: auth.View,
		Summary: "Say why a robot has what it has",
		Description: "For its story, activities, settings, mode and places: what it has, who decided that (a policy, a person who pinned or " +
			"assigned it, or nobody), and which other policies select the robot and do not decide, and why.",
		Use:     "robot why ROBOT",
		Example: "robot why r1",
	}, func(ctx context.Context, in *PathID) (*answer[RobotWhy], error) { return s.explainRobot(ctx, in.ID) })
}

// kindOf is how people name a kind of desired document.
func kindOf(topic schema.TopicKind) string { return strings.TrimPrefix(string(topic), "desired_") }

// seesPolicy reports whether a principal sees a policy: its robots are all of one of their sites.
func seesPolicy(p auth.Principal, sel selector.Selector) bool {
	return p.SeesAll() || slices.ContainsFunc(sel.Labels, func(l selector.Label) bool {
		return l.Key == auth.SiteLabel && slices.Contains(p.Sites, l.Value)
	})
}

// mayChangePolicy says why a principal may not change a policy for these robots; nil = it may.
func mayChangePolicy(p auth.Principal) func(selector.Selector) error {
	return func(sel selector.Selector) error {
		if seesPolicy(p, sel) {
			return nil
		}
		return KindNotAllowed.Problem("the policy may be about robots of other sites, and "+p.ID+" has "+strings.Join(p.Sites, ", "),
			"select one of your sites, such as -l site="+p.Sites[0])
	}
}

// policyViews makes policies as people see them.
func (s *server) policyViews(p auth.Principal, all []policy.Policy) []Policy {
	set := policy.SetOf(all)
	selects, decides := map[string]int{}, map[string]int{}
	for _, r := range s.View.Robots() {
		if !r.Adopted {
			continue
		}
		for topic, of := range set {
			if d := set.Decide(topic, r.Labels, false).Policy; d != nil {
				decides[d.ID]++
			}
			for _, one := range of {
				if one.Selector.Match(selector.Robot{Labels: r.Labels}) {
					selects[one.ID]++
				}
			}
		}
	}
	out := []Policy{}
	for _, topic := range content.Topics {
		for _, one := range set[topic] {
			if seesPolicy(p, one.Selector) {
				v := policyView(one)
				v.Selects, v.Decides = selects[one.ID], decides[one.ID]
				out = append(out, v)
			}
		}
	}
	return out
}

func policyView(p policy.Policy) Policy {
	return Policy{ID: p.ID, Version: p.Version, Place: p.Place, Robots: p.Selector.String(), Selector: p.Selector, Kind: kindOf(p.Topic()),
		Text:    p.Content.String(),
		Content: p.Content, Enabled: p.Enabled, Owner: p.Owner, ChangedAt: schema.TimeOf(p.ChangedAt), ChangedBy: p.ChangedBy, Why: p.Why,
		Rollout: p.Rollout}
}

func (s *server) listPolicies(ctx context.Context, p auth.Principal) (*answer[Policies], error) {
	all, err := s.Policies.List(ctx)
	if err != nil {
		return nil, s.fail(err, "policies")
	}
	return &answer[Policies]{Policies{s.policyViews(p, all)}}, nil
}

func (s *server) getPolicy(ctx context.Context, p auth.Principal, id string) (*answer[Policy], error) {
	all, err := s.Policies.List(ctx) // the number of robots for which it decides depends on the others
	if err != nil {
		return nil, s.fail(err, "policy "+id)
	}
	views := s.policyViews(p, all)
	i := slices.IndexFunc(views, func(v Policy) bool { return v.ID == id })
	if i < 0 {
		return nil, KindNotFound.Problem("there is no policy "+id, "fleetd policy list lists them")
	}
	return &answer[Policy]{views[i]}, nil
}

func (s *server) putPolicy(ctx context.Context, p auth.Principal, id string, b PolicyRequest) (*answer[PolicyResult], error) {
	if !p.SeesAll() && len(b.Selector.Problems()) == 0 {
		if err := mayChangePolicy(p)(b.Selector); err != nil {
			return nil, err
		}
	}
	ask := change.PolicyPut{
		Policy:  policy.Policy{ID: id, Place: b.Place, Selector: b.Selector, Content: b.Content, Enabled: b.Enabled == nil || *b.Enabled},
		Version: b.Version, Expected: b.ExpectedCount, DryRun: b.DryRun, Now: b.Now, Spec: b.Spec, Supersede: b.Supersede,
	}
	e, found, err := s.Policies.Put(ctx, p, ask, mayChangePolicy(p), attribute(p, b.Attribution))
	return s.policyResult(e, found, err, ask, false)
}

func (s *server) deletePolicy(ctx context.Context, p auth.Principal, ask change.PolicyPut, by audit.Attribution) (*answer[PolicyResult],
	error) {
	e, found, err := s.Policies.Delete(ctx, p, ask, mayChangePolicy(p), by)
	return s.policyResult(e, found, err, ask, true)
}

func (s *server) policyResult(e change.PolicyEffect, found []schema.Problem, err error, ask change.PolicyPut,
	deleted bool) (*answer[PolicyResult], error) {
	var no *Problem
	switch {
	case errors.As(err, &no):
		return nil, no
	case errors.Is(err, change.ErrNotFound):
		return nil, KindNotFound.Problem("there is no policy "+ask.Policy.ID, "fleetd policy list lists them")
	case err != nil:
		return nil, s.fail(err, "policy "+ask.Policy.ID)
	case len(found) > 0:
		return nil, refusal(inBody("", found)).withCount(len(e.Updated))
	}
	view, rollouts := policyView(e.Policy), []PolicyRollout{}
	for _, r := range e.Rollouts {
		one := PolicyRollout{ID: r.Rollout.ID, Policy: r.Policy, State: r.Rollout.State, Content: r.Plan.Content.String(), Robots: r.Plan.Total,
			Waves:   len(r.Plan.Waves),
			Refused: len(r.Plan.Refused), NeedsApproval: r.Plan.NeedsApproval}
		for _, s := range r.Plan.Superseding {
			one.Superseding += len(s.Robots)
		}
		rollouts = append(rollouts, one)
	}
	ends := []PolicyEnd{}
	for _, end := range e.Ends {
		o := end.Rollout
		ends = append(ends, PolicyEnd{Rollout: o.ID, Name: o.Name, Content: o.Content.String(), Robots: len(end.Robots), Whole: end.Whole})
	}
	view.Selects, view.Decides = e.Total, len(e.Decides)
	return &answer[PolicyResult]{PolicyResult{
		Policy: view, DryRun: ask.DryRun, Deleted: deleted && !ask.DryRun, Total: e.Total, Decides: len(e.Decides),
		Updated: nonNil(e.Updated), Unchanged: nonNil(e.Unchanged),
		Pinned: nonNil(e.Pinned), Left: nonNil(e.Left), Overlaps: nonNil(e.Overlaps), Warnings: nonNil(e.Warnings), Misfits: nonNil(e.Misfits),
		Rollouts: rollouts, Ends: ends,
	}}, nil
}

func (s *server) explainRobot(ctx context.Context, robot string) (*answer[RobotWhy], error) {
	all, pins, err := s.Policies.Why(ctx, robot)
	if err != nil {
		return nil, s.fail(err, "robot "+robot)
	}
	out := RobotWhy{Robot: robot, Kinds: []KindWhy{}}
	for _, e := range all {
		k := KindWhy{Kind: kindOf(e.Topic), DecidedBy: e.By, Differs: e.Differ, Losers: nonNil(e.Losers)}
		if e.Has.Topic() != "" {
			k.Has = e.Has.String()
		}
		if e.Policy != nil {
			k.Policy, k.Says = e.Policy.ID, e.Policy.Content.String()
		}
		if i := slices.IndexFunc(pins, func(pin change.Pin) bool { return pin.Topic == e.Topic }); i >= 0 {
			k.Pin = &ContentPin{Robot: robot, Kind: k.Kind, At: schema.TimeOf(pins[i].At), By: pins[i].By, Why: pins[i].Why}
		}
		out.Kinds = append(out.Kinds, k)
	}
	return &answer[RobotWhy]{out}, nil
}
