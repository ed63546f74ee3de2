package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"troupe/fleetd/auth"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/operation"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/verb"
)

// ConditionKey is a fact that a condition may name.
type ConditionKey struct {
	Name string `json:"name" example:"people"`
	Type string `json:"type" example:"int"`
	Doc  string `json:"doc"`
}

type conditionKeys struct {
	Keys []ConditionKey `json:"keys"`
}

// Explanation is what a robot says of a condition.
type Explanation struct {
	True bool   `json:"true" doc:"the condition is true on the robot now"`
	Why  string `json:"why,omitempty" doc:"each part that is not true, with the values that it names and their age; or what else keeps the activity"`
}

// conditions registers the requests for what conditions may name, and whether one is true on a
// robot.
func (s *server) conditions(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-condition-keys", Method: http.MethodGet, Path: "/conditions/keys", Tag: "activities", Right: auth.View,
		Summary: "List what the condition of an activity may name",
		Example: "condition keys", Without: "without fleetd",
	}, func(context.Context, *noInput) (*answer[conditionKeys], error) {
		out := conditionKeys{Keys: []ConditionKey{}}
		for _, k := range cond.Keys {
			out.Keys = append(out.Keys, ConditionKey{k.Name, string(k.Type), k.Doc})
		}
		return &answer[conditionKeys]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "explain-condition", Method: http.MethodGet, Path: "/robots/{id}/explain", Tag: "activities", Right: auth.View,
		Summary: "Ask a robot whether a condition is true on it now, and why not",
		Description: "The robot answers (life/explain), within a few seconds. This changes nothing, so neither the list of " +
			"commands nor the audit has it.",
		Use:     "condition explain ROBOT CONDITION",
		Example: "condition explain r1 greet\ncondition explain r1 'people > 0 && battery > 0.3'",
		Long: "Ask a robot whether a condition is true on it now, and of each part that is not, why. The\n" +
			"name of an activity that the robot has stands for the condition of that activity.",
	}, func(ctx context.Context, in *struct {
		PathID
		Condition string `query:"condition" required:"true" minLength:"1" maxLength:"1000" doc:"as in launch.when, or the activity of the robot whose condition is meant"`
	}) (*answer[Explanation], error) {
		return s.explainCondition(ctx, in.ID, in.Condition)
	})
}

func (s *server) explainCondition(ctx context.Context, robot, condition string) (*answer[Explanation], error) {
	d, err := s.robot(robot)
	switch {
	case err != nil:
		return nil, err
	case !s.Status().Broker.OK:
		return nil, KindBroker.Problem("robot "+robot+" cannot be asked: fleetd is not connected to the broker",
			"try again when the connection is back")
	case !connected(d.Robot):
		return nil, KindNoAnswer.Problem("robot "+robot+" cannot be asked: it is "+d.Presence.Status, "choose a robot that is online")
	}
	v, _ := verb.Of("life", "explain")
	a, err := s.Questions.Ask(ctx, robot, v, verb.ExplainCondition{Condition: verb.Text(condition)})
	switch {
	case errors.Is(err, dispatch.ErrNoAnswer):
		return nil, KindNoAnswer.Problem("robot "+robot+" did not say whether the condition is true: "+err.Error(),
			"try again; if it never answers, look at the robot")
	case errors.Is(err, dispatch.ErrNotSent) && ctx.Err() == nil:
		return nil, KindBroker.Problem("robot "+robot+" was not asked: "+err.Error(),
			"try again; fleetd version shows the connection to the broker")
	case err != nil:
		return nil, s.fail(err, "robot "+robot)
	case a.Status != schema.StatusSucceeded && (a.Reason == schema.ReasonBadRequest || a.Reason == schema.ReasonUnknownActivity):
		return nil, refusal(findings("query", []schema.Problem{schema.NewProblem("/condition", string(a.Reason), a.Detail,
			"fleetd condition keys lists what conditions may name")}))
	case a.Status != schema.StatusSucceeded:
		return nil, KindNoAnswer.Problem(strings.TrimSuffix("robot "+robot+" refuses to say whether the condition is true: "+string(a.Reason)+
			": "+a.Detail, ": "), "its release may be too old")
	}
	why, isTrue := strings.CutPrefix(a.Detail, "true")
	return &answer[Explanation]{Explanation{True: isTrue, Why: strings.TrimPrefix(why, "; ")}}, nil
}
