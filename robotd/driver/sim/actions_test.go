package sim_test

import (
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/score"
)

func TestChoiceEndsScreen(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		ask := score.Action{TimeoutMS: number(int64(30_000)), Do: score.Screen{Text: score.Text{"en": "Once more?"},
			Choices: []score.Choice{{ID: "again", Text: score.Text{"en": "Again"}}, {ID: "enough", Text: score.Text{"en": "Enough"}}}}}
		r.Start(driver.Command{Key: 1, Unit: "screen", Do: &ask, Text: "Once more?", Choices: []string{"Again", "Enough"}, Holds: true})
		r.pass(time.Second)
		if got := r.Snapshot().Screen; got != "Once more? [Again | Enough]" {
			t.Errorf("the screen shows %q", got)
		}
		r.Press("service") // no choice of this screen
		r.Press("enough")
		r.Press("again") // the screen offers nothing any more
		r.pass(100 * time.Millisecond)
		var done []driver.Event
		presses := 0
		for _, e := range r.seen {
			switch {
			case e.Key == 1:
				done = append(done, e)
			case e.Kind == driver.Sensed && e.Signal == driver.Press:
				presses++
			}
		}
		if len(done) != 1 || done[0].Kind != driver.Done || done[0].Name != "enough" || presses != 2 {
			t.Errorf("the choice was answered with %+v, and there were %d presses", done, presses)
		}
		if got := r.Snapshot().Screen; got != "home" {
			t.Errorf("after the choice the screen shows %q", got)
		}
	})
}

func TestStopEndsMotionPoseAndVelocity(t *testing.T) {
	limit := number(int64(9000))
	for name, c := range map[string]driver.Command{
		"motion":   {Unit: "head", Do: &score.Action{TimeoutMS: limit, Do: score.Motion{Motion: "look-around"}}},
		"pose":     {Unit: "drive", Do: &score.Action{TimeoutMS: limit, Do: score.Pose{Axes: score.Axes{HeightM: number(0.9)}}}},
		"velocity": {Unit: "drive", Do: &score.Action{EndMS: limit, Do: score.Drive{VXMPS: number(0.5)}}},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, sim.Config{}, func(r *robot) {
				c.Key, c.Holds = 1, true
				r.Start(c)
				r.pass(300 * time.Millisecond)
				begun := r.Snapshot()
				r.Order(driver.ToStop)
				r.pass(time.Second)
				at := r.Snapshot()
				r.pass(time.Second)
				now := r.Snapshot()
				if begun.V == 0 && begun.Yaw == 0 && begun.Lean[3] == 1 {
					t.Error("nothing moved before the stop")
				}
				if now.V != 0 || now.X != at.X || now.Yaw != at.Yaw || now.Lean != at.Lean || now.Drive != driver.Idle || now.Head != driver.Idle {
					t.Errorf("after the stop it was at %+v and then at %+v", at, now)
				}
				if !r.has(func(e driver.Event) bool {
					return e.Key == 1 && e.Kind == driver.Failed && e.Reason == schema.ReasonStopped
				}) {
					t.Errorf("the command was not answered: %+v", r.seen)
				}
			})
		})
	}
}
