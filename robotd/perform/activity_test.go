package perform

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/auto"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// newActivityWorld returns a world in which the story talks, with the activity greet: the head turns,
// then the face smiles.
func newActivityWorld(t *testing.T, repeat score.Repeat, on score.ActError) *world {
	w := newWorld(t)
	w.facts.Activities = &score.Activities{
		Activities: []score.Activity{
			{ID: "greet", Acts: []score.Step{{Act: "turn"}, {Act: "smile"}}, Repeat: repeat, OnActError: on},
			{ID: "joke", Acts: []score.Step{{Act: "smile"}}, Repeat: score.Repeat{Times: 1}},
		},
		Acts: map[string]score.Act{"turn": turn,
			"smile": {ID: "smile", Actions: []score.Action{{EndMS: ms(1000), Do: score.Face{Face: "smile"}}}}},
	}
	w.accept(talk)
	w.started, w.statuses = nil, nil
	return w
}

func (w *world) focus(activity, run string) {
	w.part().Focus(effect.FocusActivity{Activity: activity, Run: run})
	w.settle()
	w.pass(100 * time.Millisecond)
}

func (w *world) stopFocus(run string) {
	w.part().EndFocus(effect.EndActivity{Run: run, Reason: schema.ReasonStopped})
	w.settle()
}

func (w *world) tokens() (names []string) {
	for _, p := range w.state.Auto().Held() {
		names = append(names, p.Name())
	}
	return names
}

func TestActivityIsPerformedWhileTheStoryWaits(t *testing.T) {
	w := newActivityWorld(t, score.Repeat{Times: 1}, score.ActError{})
	w.focus("greet", "greet-1")
	if got := w.tokens(); w.state.Auto().Status != schema.AutoPaused || !slices.Equal(got, []string{"activity:greet-1"}) {
		t.Fatalf("ato is %s, held by %v", w.state.Auto().Status, got)
	}
	if !slices.Equal(w.started, []string{"head"}) || len(w.keys) != 1 {
		t.Errorf("units %v were started, at work %v; want the head alone", w.started, w.keys)
	}
	w.done("head")
	w.pass(time.Second)
	if want := []effect.ActivityEnded{{Run: "greet-1", Outcome: effect.Finished}}; !slices.Equal(w.ended, want) {
		t.Errorf("it ended with %+v, want %+v", w.ended, want)
	}
	if !slices.Equal(w.started, []string{"head", "face", "speaker"}) || len(w.tokens()) > 0 || w.state.Auto().Status != schema.AutoPerforming {
		t.Errorf("units %v were started, held by %v, want the story again", w.started, w.tokens())
	}
	w.stopFocus("greet-1")
	if w.pass(time.Second); len(w.ended) != 1 {
		t.Errorf("it ended %d times", len(w.ended))
	}
}

func TestActivityIsRepeatedAndAnsweredByItsFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		repeat score.Repeat
		on     score.ActError
		fails  int // how often the head fails
		want   []string
		ended  effect.ActivityEnded
	}{
		{"twice", score.Repeat{Times: 2}, score.ActError{}, 0, []string{"head", "face", "head", "face"},
			effect.ActivityEnded{Outcome: effect.Finished}},
		{"a failed act is left out", score.Repeat{Times: 1}, score.ActError{}, 1, []string{"head", "face"},
			effect.ActivityEnded{Outcome: effect.Finished}},
		{"a failed act ends it", score.Repeat{Times: 1}, score.ActError{Stop: true}, 1, []string{"head"},
			effect.ActivityEnded{Outcome: effect.Failed, Reason: schema.ReasonObstructed}},
		{"a failed act is tried again", score.Repeat{Times: 1}, score.ActError{Retries: 2}, 2, []string{"head", "head", "head", "face"},
			effect.ActivityEnded{Outcome: effect.Finished}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newActivityWorld(t, c.repeat, c.on)
			w.focus("greet", "run")
			for i := 0; len(w.ended) == 0 && i < 20; i++ {
				if key, works := w.keys["head"]; works {
					delete(w.keys, "head")
					why := schema.Reason("")
					if c.fails > 0 {
						c.fails, why = c.fails-1, schema.ReasonObstructed
					}
					w.lanes.Reported(key, why, "", w.now)
				}
				w.pass(500 * time.Millisecond)
			}
			c.ended.Run = "run"
			if started := slices.DeleteFunc(w.started, func(u string) bool { return u == "speaker" }); !slices.Equal(started, c.want) ||
				!slices.Equal(w.ended, []effect.ActivityEnded{c.ended}) {
				t.Errorf("units %v were started, it ended with %+v; want %v and %+v", started, w.ended, c.want, c.ended)
			}
		})
	}
}

// An activity whose acts all fail does not keep the story waiting for ever.
func TestActivityThatFailsWholeEnds(t *testing.T) {
	w := newActivityWorld(t, score.Repeat{Loop: true}, score.ActError{})
	w.facts.Activities.Activities[0].Acts = w.facts.Activities.Activities[0].Acts[:1]
	w.lanes.Executor.SetUnitDisabled("head", "it is broken", nil)
	w.focus("greet", "run")
	w.pass(time.Minute)
	if len(w.ended) != 1 || w.ended[0].Outcome != effect.Failed || w.ended[0].Reason == "" || w.state.Auto().Status != schema.AutoPerforming {
		t.Errorf("it ended with %+v, the story is %s", w.ended, w.state.Auto().Status)
	}
}

func TestStoryStaysPausedBetweenTwoActivities(t *testing.T) {
	w := newActivityWorld(t, score.Repeat{Loop: true}, score.ActError{})
	w.focus("greet", "greet-1")
	w.stopFocus("greet-1")
	w.part().Activity() // life gives the focus to the next one a step later
	w.part().StepAuto()
	w.focus("joke", "joke-2")
	if want := []schema.AutoStatus{schema.AutoPaused}; !slices.Equal(w.statuses, want) ||
		!slices.Equal(w.tokens(), []string{"activity:joke-2"}) {
		t.Errorf("ato was %v, and is held by %v", w.statuses, w.tokens())
	}
	w.pass(2 * time.Second)
	if want := []effect.ActivityEnded{{Run: "greet-1", Outcome: effect.Stopped, Reason: schema.ReasonStopped},
		{Run: "joke-2", Outcome: effect.Finished}}; !slices.Equal(w.ended, want) {
		t.Errorf("they ended with %+v, want %+v", w.ended, want)
	}
	if want := []schema.AutoStatus{schema.AutoPaused, schema.AutoPerforming}; !slices.Equal(w.statuses, want) {
		t.Errorf("ato was %v, want %v", w.statuses, want)
	}
	w.focus("greet", "greet-3")
	w.focus("joke", "joke-4")
	if want := (effect.ActivityEnded{Run: "greet-3", Outcome: effect.Stopped, Reason: schema.ReasonSuperseded}); len(w.ended) != 3 ||
		w.ended[2] != want {
		t.Errorf("they ended with %+v, want at last %+v", w.ended, want)
	}
}

func TestActivityIsFrozenWithEverythingElse(t *testing.T) {
	for _, c := range []struct {
		name          string
		freeze, leave func(*world)
	}{
		{"by a person", func(w *world) {
			w.state.AskAuto(w.order("auto", "pause", verb.PauseStory{}), auto.Input{What: auto.Pause})
		}, func(w *world) {
			w.state.AskAuto(w.order("auto", "continue", verb.ContinueStory{}), auto.Input{What: auto.Continue})
		}},
		{"by a safeguard", func(w *world) { w.facts.Pause = schema.ReasonSafeguard }, func(w *world) { w.facts.Pause = "" }},
		{"by a lost link", func(w *world) {
			w.facts.LinkLostForAto = true
			w.state.cfg.ContinueOnReturn = true
		}, func(w *world) { w.facts.LinkLostForAto = false }},
		{"by a handler", func(w *world) { w.state.Request("attend", "operator") }, func(w *world) {
			w.state.AskInterrupts(w.order("interrupt", "cancel", verb.CancelInterrupt{}), interrupt.Input{What: interrupt.Cancel,
				ID: w.state.InterruptState().Running()[0].ID})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newActivityWorld(t, score.Repeat{Times: 1}, score.ActError{})
			w.focus("greet", "run")
			own := w.keys["head"]
			c.freeze(w)
			if w.pass(time.Second); own == 0 || w.keys["head"] == own || !w.lanes.View(activityLane).Paused {
				t.Fatalf("at work %v, want the head at rest", w.keys)
			}
			c.leave(w)
			w.pass(time.Second)
			w.done("head")
			w.pass(2 * time.Second)
			if len(w.ended) != 1 || w.ended[0].Outcome != effect.Finished || len(w.tokens()) > 0 {
				t.Errorf("it ended with %+v, ato is held by %v", w.ended, w.tokens())
			}
		})
	}
}

func TestActivityThatCannotBeginEndsAtOnce(t *testing.T) {
	w := newActivityWorld(t, score.Repeat{Times: 1}, score.ActError{})
	w.focus("bow", "run-1")
	w.focus("greet", "run-2")
	w.state.Leave()
	w.pass(time.Second)
	w.focus("greet", "run-3")
	w.pass(time.Second)
	for i, want := range []effect.ActivityEnded{
		{Run: "run-1", Outcome: effect.Failed, Reason: schema.ReasonUnknownActivity, Detail: "the robot has no activity bow"},
		{Run: "run-2", Outcome: effect.Stopped, Reason: schema.ReasonNotInAto},
		{Run: "run-3", Outcome: effect.Failed, Reason: schema.ReasonNotInAto},
	} {
		if i >= len(w.ended) || w.ended[i] != want {
			t.Errorf("end %d of %+v, want %+v", i, w.ended, want)
		}
	}
	if len(w.tokens()) > 0 || len(w.keys) > 0 {
		t.Errorf("held by %v, at work %v", w.tokens(), w.keys)
	}
}

// While the robot may not move, an activity does the rest.
func TestActivityDoesNotMoveARobotThatMayNot(t *testing.T) {
	w := newActivityWorld(t, score.Repeat{Times: 1}, score.ActError{})
	w.facts.Safety = schema.SafetyDisabled
	w.focus("greet", "run")
	w.pass(3 * time.Second)
	if want := []string{"face", "speaker"}; !slices.Equal(w.started, want) || len(w.ended) != 1 {
		t.Errorf("units %v were started, it ended with %+v", w.started, w.ended)
	}
}
