package api

import (
	"testing"

	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/score"
)

func TestWhyAnActivityDoesNotStart(t *testing.T) {
	greet := score.Activity{ID: "greet", Launch: score.Launch{When: "people > 0"}}
	has := &view.DesiredActivities{Converged: true}
	life := func(s schema.LifeState, conditions ...schema.LifeCondition) *schema.State {
		return &schema.State{Life: &schema.StateLife{State: s, Conditions: conditions}}
	}
	nobody := schema.LifeCondition{Activity: "greet", Why: "people > 0 is not true: people is 0 for 12s"}
	resting := schema.LifeCondition{Activity: "greet", True: true, Why: "it rests for 40s"}
	focused := life(schema.LifeInteractive, nobody)
	focused.Life.Focused = "greet"
	held := life(schema.LifeSafeguard, nobody)
	held.Life.Reason = schema.ReasonSafetyDisabled
	for _, c := range []struct {
		name           string
		desired        *view.DesiredActivities
		state          *schema.State
		activity       score.Activity
		focused, truth bool
		why            string
	}{
		{"the set is on its way", &view.DesiredActivities{}, life(schema.LifeSolitary), greet, false, false,
			"the robot does not have this revision yet"},
		{"the set was refused", &view.DesiredActivities{Phase: schema.DeployRejected, Reason: schema.ReasonWrongFleet}, life(schema.LifeSolitary),
			greet, false, false, "the robot does not have this revision: rejected wrong_fleet"},
		{"an old release", has, &schema.State{}, greet, false, false, "the robot reports no autonomous life; its release may be too old"},
		{"no state", has, nil, greet, false, false, "the robot reports no autonomous life; its release may be too old"},
		{"a part is not true", has, life(schema.LifeSolitary, nobody), greet, false, false, "people > 0 is not true: people is 0 for 12s"},
		{"something else keeps it", has, life(schema.LifeSolitary, resting), greet, false, true, "it rests for 40s"},
		{"nothing keeps it", has, life(schema.LifeSolitary, schema.LifeCondition{Activity: "greet", True: true}), greet, false, true, ""},
		{"it runs", has, focused, greet, true, false, ""},
		{"life is disabled", has, life(schema.LifeDisabled), greet, false, false, "life is disabled"},
		{"the robot protects itself", has, held, greet, false, false,
			"life is safeguard (safety_disabled); people > 0 is not true: people is 0 for 12s"},
		{"no condition", has, life(schema.LifeSolitary), score.Activity{ID: "greet"}, false, false,
			"it has no condition (launch.when), so it starts only on request: life/focus"},
		{"not evaluated", has, life(schema.LifeSolitary), greet, false, false, "the robot has not evaluated its condition yet"},
		{"no room for the condition", has, life(schema.LifeSolitary, make([]schema.LifeCondition, schema.MaxLifeConditions)...), greet, false,
			false, "the state of the robot has room for 24 conditions, and this one is not among them"},
		{"no room for the reason", has, life(schema.LifeSolitary, schema.LifeCondition{Activity: "greet"}), greet, false, false,
			"its condition is not true, and the robot's state has no room to say why"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := view.Detail{Robot: view.Robot{Activities: c.desired}, State: c.state}
			if focused, truth, why := whyNot(d, c.activity); focused != c.focused || truth != c.truth || why != c.why {
				t.Errorf("got %v %v %q, want %v %v %q", focused, truth, why, c.focused, c.truth, c.why)
			}
		})
	}
}
