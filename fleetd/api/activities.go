package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/score"
)

// RobotActivities is the activities that are assigned to a robot, and why each does not start
// now.
type RobotActivities struct {
	view.DesiredActivities
	Life       schema.LifeState `json:"life,omitempty" doc:"state of the robot's autonomous life"`
	At         schema.Time      `json:"at,omitzero" doc:"when the robot evaluated the conditions, by its clock"`
	Activities []RobotActivity  `json:"activities"`
}

// RobotActivity is one activity that is assigned to a robot.
type RobotActivity struct {
	ID      string           `json:"id"`
	Rev     int64            `json:"rev"`
	Nature  score.Nature     `json:"nature"`
	Launch  score.Launch     `json:"launch"`
	Misfits []schema.Problem `json:"fit" doc:"what the robot's body lacks for it"`
	Focused bool             `json:"focused,omitempty" doc:"the robot performs it now"`
	True    bool             `json:"true" doc:"its condition is true"`
	Why     string           `json:"why,omitempty" doc:"why it does not start now: the part of its condition that is not true, with values and their age, or what else keeps it; empty if it may start"`
}

// robotActivities registers the request for the activities of one robot.
func (s *server) robotActivities(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-robot-activities", Method: http.MethodGet, Path: "/robots/{id}/activities", Tag: "activities", Right: auth.View,
		Summary: "List the activities of a robot, and why each does not start now",
		Use:     "activity list ROBOT",
		Example: "activity list r1",
	}, func(ctx context.Context, in *PathID) (*answer[RobotActivities], error) {
		d, err := s.robot(in.ID)
		if err != nil {
			return nil, err
		}
		out := RobotActivities{DesiredActivities: view.DesiredActivities{Assigned: []view.Activity{}}, Activities: []RobotActivity{}}
		if d.Activities != nil {
			out.DesiredActivities = *d.Activities
		}
		if d.State != nil && d.State.Life != nil {
			out.Life, out.At = d.State.Life.State, d.State.TS
		}
		for _, a := range out.Assigned {
			one, err := s.robotActivity(ctx, d, a)
			if err != nil {
				return nil, err
			}
			out.Activities = append(out.Activities, one)
		}
		return &answer[RobotActivities]{out}, nil
	})
}

func (s *server) robotActivity(ctx context.Context, d view.Detail, a view.Activity) (RobotActivity, error) {
	out := RobotActivity{ID: a.ID, Rev: a.Rev, Misfits: []schema.Problem{}}
	v, err := s.Library.Revision(ctx, library.KindActivity, a.ID, a.Rev)
	if err != nil {
		return out, s.fail(err, fmt.Sprintf("revision %d of activity %s", a.Rev, a.ID))
	}
	set, problems := score.ParseActivities(v.Body)
	if len(problems) > 0 || len(set.Activities) != 1 {
		return out, fmt.Errorf("read revision %d of activity %s: %v", a.Rev, a.ID, problems)
	}
	one := set.Activities[0]
	out.Nature, out.Launch = one.Nature, one.Launch
	if d.Caps != nil {
		_, problems := score.FitStory(score.PublishedStory{Story: one.Story(), Acts: set.Acts, Assets: set.Assets}, *d.Caps, nil)
		out.Misfits = nonNil(problems)
	}
	out.Focused, out.True, out.Why = whyNot(d, one)
	return out, nil
}

// whyNot says why a robot does not start an activity now, as the robot reports it.
func whyNot(d view.Detail, a score.Activity) (focused, truth bool, why string) {
	switch {
	case !d.Activities.Converged && d.Activities.Reason != "":
		return false, false, fmt.Sprintf("the robot does not have this revision: %s %s", d.Activities.Phase, d.Activities.Reason)
	case !d.Activities.Converged:
		return false, false, "the robot does not have this revision yet"
	case slices.ContainsFunc(d.Activities.Refused, func(r schema.RefusedPart) bool { return r.ID == a.ID }):
		return false, false, "the robot leaves it out, because its body cannot perform it"
	case d.State == nil || d.State.Life == nil:
		return false, false, "the robot reports no autonomous life; its release may be too old"
	}
	life := d.State.Life
	i := slices.IndexFunc(life.Conditions, func(c schema.LifeCondition) bool { return c.Activity == a.ID })
	if i >= 0 {
		truth, why = life.Conditions[i].True, life.Conditions[i].Why
	}
	switch {
	case life.Focused == a.ID:
		return true, truth, ""
	case life.State == schema.LifeDisabled || life.State == schema.LifeSafeguard:
		text := "life is " + string(life.State)
		if life.Reason != "" {
			text += " (" + string(life.Reason) + ")"
		}
		if why != "" {
			text += "; " + why
		}
		return false, truth, text
	case a.Launch.When == "":
		return false, false, "it has no condition (launch.when), so it starts only on request: life/focus"
	case i < 0 && len(life.Conditions) < schema.MaxLifeConditions:
		return false, false, "the robot has not evaluated its condition yet"
	case i < 0:
		return false, false, fmt.Sprintf("the state of the robot has room for %d conditions, and this one is not among them",
			schema.MaxLifeConditions)
	case !truth && why == "":
		why = "its condition is not true, and the robot's state has no room to say why"
	}
	return false, truth, why
}
