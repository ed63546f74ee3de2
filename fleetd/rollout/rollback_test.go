package rollout

import (
	"slices"
	"testing"
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/presence"
	"troupe/schema"
)

// A rollback of many robots has several transactions, with the failed robots in the first ones.
func TestRollbackOfManyRobotsBeginsWithFailedOnes(t *testing.T) {
	w := newWorld(1200)
	half := 60.0
	spec := Spec{Waves: []WaveSpec{{Percent: 100, MaxFailurePercent: &half, SuccessPercent: &half}}, OffersPerMin: 100_000,
		MaxOffersPerMin: 100_000}
	w.begin(w.ask(spec), New{Start: true})
	w.step()
	for i, b := range w.bots {
		b.report = Report{Rev: b.rev, Phase: "active", Active: true}
		if i%2 == 0 {
			b.report = Report{Rev: b.rev, Phase: "rejected", Reason: "story_invalid"}
		}
	}
	w.now = w.now.Add(time.Second)
	w.beat()
	w.step()
	if found := w.decide(Decision{On: OnRollback, By: "bob"}); len(found) > 0 {
		t.Fatal(found)
	}
	var sizes, failed []int
	w.check = func(_ Rollout, c Changes) {
		n, bad := 0, 0
		for _, back := range c.Restore {
			for _, id := range back.Robots {
				if n++; w.rows[id].State.HasFailed() {
					bad++
				}
			}
		}
		if n > 0 {
			sizes, failed = append(sizes, n), append(failed, bad)
		}
	}
	for range 5 {
		w.step()
		w.now = w.saved.NextAt
	}
	if !slices.Equal(sizes, []int{500, 500, 200}) || !slices.Equal(failed, []int{500, 100, 0}) {
		t.Errorf("transactions of %v robots, of which %v had failed", sizes, failed)
	}
}

func TestStoryIsGivenBackWhenTheOneOfTheRolloutTookOver(t *testing.T) {
	w := newWorld(1)
	w.bots[0].desired.Story.Apply = schema.ApplyNextStart
	w.begin(w.ask(Spec{Waves: []WaveSpec{{Percent: 100}}}), New{Start: true})
	w.step()
	w.decide(Decision{On: OnRollback, By: "bob"})
	if c := w.step(); len(c.Restore) != 1 || c.Restore[0].Content.Story.Apply != schema.ApplyNextAct || c.Restore[0].Content.Story.Rev != 1 {
		t.Errorf("restored is %+v", c.Restore)
	}
	if had := w.rows["r1"].Had.Story.Apply; had != schema.ApplyNextStart {
		t.Errorf("what it had says %s", had)
	}
}

// An assignment has no facts about robots, and gives all of them the content in its own transaction.
func TestAssignmentGivesTheContentWithoutFacts(t *testing.T) {
	w := newWorld(3)
	p, found := NewPlan(w.ask(Spec{AllAtOnce: true}))
	if len(found) > 0 {
		t.Fatal(found)
	}
	r := NewRun(p.Rollout(New{ID: "ro-1", At: start, By: "ann", Cause: ByAssignment, Start: true}))
	had := story(1)
	given := map[string]Given{"r1": {Rev: 2, Had: &had}, "r2": {Rev: 5, Unchanged: true}, "r3": {Refused: "it has another fleet",
		Reason: "wrong_fleet"}}
	c := Assigned(r, Step(r, start, Facts{}), given, start)
	if len(c.Robots) != 3 || c.Rollout.State != Running || c.Rollout.Waves[0].State != WaveRunning {
		t.Fatalf("got %+v", c)
	}
	for id, want := range map[string]RobotState{"r1": Offered, "r2": Unchanged, "r3": Rejected} {
		if b, ok := r.Robot(id); !ok || b.State != want || want == Offered && (b.Rev != 2 || *b.Had != had) {
			t.Errorf("%s is %+v", id, b)
		}
		if r.Updated(id) {
			t.Errorf("%s counts as updated before it reports anything", id)
		}
	}
	if _, ok := r.Robot("r9"); ok || r.Updated("r9") {
		t.Error("a robot of another rollout is known")
	}
}

// A mode with apply now moves the robot each time that it is sent.
func TestModeIsNotOfferedAgainWithoutAPerson(t *testing.T) {
	mode := content.Content{Mode: &desired.Mode{Mode: "ato", Apply: schema.ApplyModeNow}}
	p, found := NewPlan(Ask{Content: mode, Robots: []Candidate{{Online: true}}, Now: start})
	if len(found) > 0 {
		t.Fatal(found)
	}
	o, rows := p.Rollout(New{ID: "ro-1", At: start, Start: true})
	rows[0].State, rows[0].Rev, rows[0].Tries, rows[0].SpentAt = Offered, 2, 1, start
	run := NewRun(o, rows)
	Step(run, start, Facts{
		Fleetd: presence.Fleetd{Connected: true, Since: start.Add(-time.Hour)},
		Robot: func(string) (RobotFacts, bool) {
			report := Report{Rev: 2, Phase: schema.DeployFailed, Reason: schema.ReasonBusy}
			return RobotFacts{Online: true, SeenAt: start, InWindow: true, DesiredRev: 2, Report: report}, true
		},
	})
	if got := run.robots[0].State; got != Failed {
		t.Errorf("a robot that was too busy for a mode is %s", got)
	}
}

// After the clock was set back, offers that lie in the future must not hold the next ones until their time comes again.
func TestOffersGoOnAfterTheClockWasSetBack(t *testing.T) {
	w := newWorld(4)
	w.begin(w.ask(Spec{Waves: []WaveSpec{{Percent: 100}}}), New{Start: true})
	w.step()
	w.now = w.now.Add(-time.Minute)
	w.beat()
	if c := w.step(); len(c.Offers) == 0 {
		t.Error("nothing is offered")
	}
}
