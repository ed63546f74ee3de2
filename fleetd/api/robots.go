package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/fleetd/view"
	"troupe/schema"
)

// NameQuery is the query parameters that select robots by name or labels; without any, all are
// selected.
type NameQuery struct {
	caller
	ID    []string `query:"id,explode" doc:"robots by name" cli:"robot"`
	Label []string `query:"label,explode" doc:"key=value; if given several times, a robot must match all"`
}

// RobotQuery is the query parameters that select robots; without any, all are selected.
type RobotQuery struct {
	NameQuery
	Text       string                `query:"text" maxLength:"64" doc:"part of the name or of the value of a label, in upper or lower case"`
	Doing      []selector.Doing      `query:"doing,explode" enum:"not_connected,asleep,not_adopted,waiting_for_release,stop_input,needs_reset,braking,resetting,disabled,not_reported,switching,manual,undriven,start_up,safe_mode,other_mode,performing,failing,interrupt,activity,paused_by_safety,paused,no_story,story_ended" doc:"what they do now; if given several times, one of these"`
	Mode       []schema.ModeID       `query:"mode,explode" doc:"the reported mode, one of these"`
	Presence   []string              `query:"presence,explode" enum:"unknown,online,degraded,lost,offline,sleeping" doc:"one of these"`
	Story      string                `query:"story" maxLength:"64" doc:"the story that they perform or that is assigned to them"`
	StoryState []selector.StoryState `query:"story_state,explode" enum:"none,current,pending,refused" doc:"how far they are with the assigned story, one of these"`
}

func (c NameQuery) selector() (selector.Selector, error) {
	return c.with(selector.StateTerms{})
}

func (c RobotQuery) selector() (selector.Selector, error) {
	return c.with(selector.StateTerms{Text: c.Text, Doing: c.Doing, Modes: c.Mode, Presence: c.Presence, Story: c.Story,
		StoryState: c.StoryState})
}

// with is the selector of the parameters and of terms about the state of robots.
func (c NameQuery) with(state selector.StateTerms) (selector.Selector, error) {
	s := selector.Selector{IDs: c.ID, StateTerms: state}
	for _, l := range c.Label {
		key, value, ok := strings.Cut(l, "=")
		if !ok {
			return s, refusal(findings("query", []schema.Problem{schema.NewProblem("/label", "bad_value", fmt.Sprintf("%q is not a label", l),
				"write label=key=value")}))
		}
		s.Labels = append(s.Labels, selector.Label{Key: key, Value: value})
	}
	if len(s.IDs)+len(s.Labels) == 0 && !s.NeedsView() {
		return selector.All(), nil
	}
	if problems := s.Problems(); len(problems) > 0 {
		return s, refusal(findings("query", problems))
	}
	return s, nil
}

type robotList struct {
	TS       schema.Time `json:"ts"`
	Robots   []*view.Row `json:"robots"`
	Disputed string      `json:"disputed,omitempty" doc:"set if another client seems to use this instance's name; this list may then be incomplete"`
}

type labels struct {
	Labels map[string]string `json:"labels"`
	audit.Attribution
}

func (s *server) robots(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-robots", Method: http.MethodGet, Path: "/robots", Tag: "robots", Right: auth.View,
		Summary: "List robots",
		Example: "robot list",
	}, func(_ context.Context, in *RobotQuery) (*answer[robotList], error) {
		sel, err := in.selector()
		if err != nil {
			return nil, err
		}
		return &answer[robotList]{robotList{schema.TimeOf(s.Now()), visible(in.principal, selected(s.View.Robots(), sel)), s.Status().Disputed}},
			nil
	})
	operation.Register(t, operation.Row{
		ID: "get-robot", Method: http.MethodGet, Path: "/robots/{id}", Tag: "robots", Right: auth.View,
		Summary: "Get one robot and its documents",
		Use:     "robot get ROBOT",
		Short:   "show everything about one robot",
		Long: "Show everything about one robot. Its last event is the newest one but those that come with every act or\n" +
			"round of the story, or with an input of its simulated body: fleetd event list has them.",
		Example: "robot get r1",
	}, func(_ context.Context, in *PathID) (*answer[view.Detail], error) {
		d, err := s.robot(in.ID)
		if err != nil {
			return nil, err
		}
		return &answer[view.Detail]{d}, nil
	})
	operation.Register(t, operation.Row{
		ID: "set-labels", Method: http.MethodPut, Path: "/robots/{id}/labels", Tag: "robots", Right: auth.Administer,
		Summary: "Replace a robot's labels",
		Audit:   audit.ActionLabel,
		Example: "robot label r1 site=museum",
	}, func(ctx context.Context, in *idAndBody[labels]) (*answer[view.Robot], error) {
		if found := selector.LabelProblems(in.Body.Labels); len(found) > 0 {
			return nil, refusal(inBody("", found))
		}
		if err := s.Labels.Set(ctx, in.principal, in.ID, in.Body.Labels, attribute(in.principal, in.Body.Attribution)); err != nil {
			return nil, s.fail(err, "robot "+in.ID)
		}
		d, err := s.robot(in.ID)
		if err != nil {
			return nil, err
		}
		return &answer[view.Robot]{d.Robot}, nil
	})
	s.bulkLabels(t)
	s.export(t)
	operation.Register(t, operation.Row{
		ID: "adopt-robot", Method: http.MethodPost, Path: "/robots/{id}/adopt", Tag: "robots", Right: auth.Administer,
		Summary: "Add a robot to this fleet",
		Description: "The robot is added to the database, and sys/adopt makes it obey the desired documents of this fleet from now " +
			"on." +
			" Waits as long as Prefer: wait=N says.",
		Audit:   audit.ActionAdopt,
		Use:     "adopt ROBOT...",
		Example: "adopt r1",
		Long: "Add robots to this fleet. Each robot obeys the desired documents of this fleet from now on, whichever fleet it\n" +
			"obeyed before.",
	}, func(ctx context.Context, in *struct {
		PathID
		Prefer string `header:"Prefer"`
		Body   audit.Attribution
	}) (*batchAnswer, error) {
		return s.adopt(ctx, in.principal, in.ID, in.Prefer, in.Body)
	})
}

// robot returns what fleetd knows of a robot, or the answer that it knows no such robot.
func (s *server) robot(id string) (view.Detail, error) {
	loaded := s.View.Loaded() // before the look-up: robots that are read in between must not count as unknown
	d, known := s.View.Robot(id)
	switch {
	case known:
		return d, nil
	case !loaded:
		return d, s.loading("whether there is a robot " + id)
	}
	return d, robotNotFound(id)
}

// loading is the answer before the robots were read from the database. unknown is what fleetd
// does not know therefore.
func (s *server) loading(unknown string) *Problem {
	p := KindLoading.Problem("fleetd has not read its robots from the database yet, so it does not know "+unknown, "try again in a second")
	if database := s.Status().Database; !database.OK {
		p = KindDatabase.Problem("the database does not answer, so fleetd does not know "+unknown,
			"robots continue, and you can still stop them; try again when the database answers; fleetd's log has details")
	}
	p.retryAfter = 1
	return p
}

func robotNotFound(id string) *Problem {
	return KindNotFound.Problem("no robot "+id+" was ever seen", addingHint(id))
}

func addingHint(id string) string {
	return "fleetd robot list lists the robots, fleetd adopt " + id + " adds one to the fleet, and fleetd robot enrol " + id +
		" one that was decommissioned"
}

func selected(robots []*view.Row, sel selector.Selector) []*view.Row {
	return slices.DeleteFunc(robots, func(r *view.Row) bool { return !sel.Match(r.Selectable()) })
}

func (s *server) adopt(ctx context.Context, p auth.Principal, id, prefer string, by audit.Attribution) (*batchAnswer, error) {
	if err := s.Identities.RestoreName(ctx, p, id, attribute(p, by)); err != nil {
		return nil, s.fail(err, "robot "+id)
	}
	added, err := s.Adoptions.Adopt(ctx, p, id, attribute(p, by))
	if err != nil {
		return nil, s.fail(err, "robot "+id)
	}
	if added {
		s.Log.InfoContext(ctx, "robot adopted", "robot", id, "by", attribute(p, by).Who)
	}
	args, err := schema.Encode(map[string]string{"fleet_id": s.Status().FleetID})
	if err != nil {
		return nil, fmt.Errorf("adopt %s: %w", id, err)
	}
	return s.issue(ctx, p, CommandRequest{Verb: "sys/adopt", Args: args, Selector: selector.IDs(id), By: by.Who, Why: by.Why}, prefer, "")
}

// Resolve refuses an invalid selector before the answer begins.
func (c *NameQuery) Resolve(ctx huma.Context) []error {
	c.caller.Resolve(ctx)
	_, err := c.selector()
	return details(err)
}

// Resolve refuses an invalid selector before the answer begins.
func (c *RobotQuery) Resolve(ctx huma.Context) []error {
	if found := c.NameQuery.Resolve(ctx); len(found) > 0 {
		return found
	}
	_, err := c.selector()
	return details(err)
}

func details(err error) []error {
	var p *Problem
	if !errors.As(err, &p) {
		return nil
	}
	var out []error
	for _, f := range p.Errors {
		out = append(out, &huma.ErrorDetail{Location: "query", Message: f.Detail + "; " + f.Hint})
	}
	return out
}
