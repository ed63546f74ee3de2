package perform

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

var every = []schema.Ability{schema.AbilityAwareness, schema.AbilityBreathing, schema.AbilityBlinking, schema.AbilityBackgroundMovement}

// alive returns a world with every ability, on LEDs, a face that can blink and a head, and
// with a story that talks.
func alive(t *testing.T, story score.Act) *world {
	w := newWorld(t)
	w.body.units = append(w.body.units, schema.Unit{ID: "led", Kind: schema.UnitLED})
	w.body.units[1].Faces = []string{"smile", "sleepy"}
	w.body.units[2].YawRad = &schema.Range{Min: -0.5, Max: 0.5}
	w.lanes.Executor = act.New(act.Config{Units: w.body.units, Lanes: Lanes(w.state.cfg), Limits: act.Defaults()})
	w.lanes.Gate(act.Gate{})
	w.state.SetAbilities(every)
	w.accept(story)
	return w
}

func (w *world) running() (names []schema.Ability) {
	for _, a := range every {
		if w.state.Performs(a) {
			names = append(names, a)
		}
	}
	return names
}

func TestAbilitiesUseWhatNothingElseUses(t *testing.T) {
	light := score.Act{ID: "light", Actions: []score.Action{
		{TimeoutMS: ms(60000), Do: score.Say{Text: score.Text{"en": "hello"}}},
		{StartMS: 30_000, Do: score.LED{Colour: "#20c0ff"}},
	}}
	pause := func(w *world) {
		w.state.AskAuto(w.order("auto", "pause", verb.PauseStory{}), auto.Input{What: auto.Pause})
	}
	still := []schema.Ability{schema.AbilityBreathing, schema.AbilityBlinking}
	for _, c := range []struct {
		name   string
		story  score.Act
		change func(*world)
		want   []schema.Ability
		units  []string // at work, beside the speaker
	}{
		{"a story that talks", talk, func(*world) {}, every, []string{"head", "led"}},
		{"a story that turns the head", turn, func(*world) {}, still, []string{"head", "led"}},
		{"a story that uses the LEDs later", light, func(*world) {}, []schema.Ability{schema.AbilityAwareness, schema.AbilityBlinking,
			schema.AbilityBackgroundMovement}, []string{"head"}},
		{"disabled by the safety core", talk, func(w *world) { w.facts.Safety = schema.SafetyDisabled }, still, []string{"led"}},
		{"paused by a person", talk, pause, nil, nil},
		{"paused by a safeguard", talk, func(w *world) { w.facts.Pause = schema.ReasonSafeguard }, nil, nil},
		{"ato is left", talk, func(w *world) { w.state.Leave() }, nil, nil},
		{"life takes them away", talk, func(w *world) { w.state.SetAbilities(nil) }, nil, nil},
		{"a paused story that uses the LEDs", light, func(w *world) {
			w.facts.Activities = &score.Activities{Activities: []score.Activity{{ID: "chat", Acts: []score.Step{{Act: "talk"}},
				Repeat: score.Repeat{Times: 1}}}, Acts: map[string]score.Act{"talk": talk}}
			w.focus("chat", "chat-1")
		}, every, []string{"head", "led"}},
		{"a unit that is switched off", talk, func(w *world) { w.lanes.SetUnitDisabled("led", "it is broken") },
			[]schema.Ability{schema.AbilityAwareness, schema.AbilityBlinking, schema.AbilityBackgroundMovement}, []string{"head"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := alive(t, c.story)
			c.change(w)
			w.pass(2 * time.Second)
			var units []string
			for u := range w.keys {
				if u != "speaker" && u != "face" {
					units = append(units, u)
				}
			}
			slices.Sort(units)
			if got := w.running(); !slices.Equal(got, c.want) || !slices.Equal(units, c.units) {
				t.Errorf("%v run and %v are at work, want %v and %v", got, units, c.want, c.units)
			}
		})
	}
}

// An ability gives its unit away in the step in which an act wants it, and takes it back.
func TestAbilityYieldsToAnAct(t *testing.T) {
	w := alive(t, talk)
	own := w.keys["led"]
	lights := score.Act{ID: "lights", Actions: []score.Action{{Do: score.LED{Colour: "#20c0ff"}}, {EndMS: ms(2000), Do: score.Wait{}}}}
	w.facts.Activities = &score.Activities{Activities: []score.Activity{{ID: "shine", Acts: []score.Step{{Act: "lights"}},
		Repeat: score.Repeat{Times: 1}}}, Acts: map[string]score.Act{"lights": lights}}
	w.started = nil
	w.focus("shine", "shine-1")
	if n := count(w.started, "led"); n != 1 || w.keys["led"] == own || w.state.Performs(schema.AbilityBreathing) {
		t.Errorf("the LEDs were started %d times, and breathe: %v", n, w.state.Performs(schema.AbilityBreathing))
	}
	w.pass(3 * time.Second)
	if n := count(w.started, "led"); n != 2 || !w.state.Performs(schema.AbilityBreathing) {
		t.Errorf("after the act the LEDs were started %d times, and breathe: %v", n, w.state.Performs(schema.AbilityBreathing))
	}
}

func count(list []string, what string) (n int) {
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

func TestFaceBlinksNowAndThen(t *testing.T) {
	w := alive(t, talk)
	w.started = nil
	w.pass(time.Minute)
	if n := count(w.started, "face"); n < 12 || n > 17 {
		t.Errorf("it blinked %d times in a minute", n)
	}
	if n := count(w.started, "led"); n > 2 {
		t.Errorf("the LEDs got %d commands in a minute", n)
	}
}

// A unit that fails an ability has an alert until it succeeds, or the robot does not want it to
// any more.
func TestUnitThatFailsAnAbilityHasAnAlert(t *testing.T) {
	refuse := func(w *world, reason schema.Reason) {
		w.pass(2 * time.Second)
		key := w.keys["led"]
		delete(w.keys, "led")
		w.lanes.Reported(key, reason, "no colour was given", w.now)
		w.pass(20 * time.Millisecond)
	}
	for _, c := range []struct {
		name string
		ends func(*world)
	}{
		{"it succeeds", func(w *world) { w.pass(2 * time.Minute) }},
		{"ato is left", func(w *world) { w.state.SetAbilities(nil); w.pass(time.Second) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := alive(t, talk)
			refuse(w, schema.ReasonStopped)
			if w.alerts[failedAlert] {
				t.Error("a stop counts as a failure")
			}
			refuse(w, schema.ReasonUnitError)
			if !w.alerts[failedAlert] || w.hints[failedAlert] == "" {
				t.Errorf("the alerts are %v", w.alerts)
			}
			c.ends(w)
			if w.alerts[failedAlert] {
				t.Error("the alert stays")
			}
		})
	}
}

// LEDs that refuse every command get one a second, not one in each step.
func TestFailingLEDsGetNoStorm(t *testing.T) {
	w := alive(t, talk)
	w.started = nil
	for range 200 {
		if key := w.keys["led"]; key != 0 {
			delete(w.keys, "led")
			w.lanes.Reported(key, schema.ReasonUnitError, "refused", w.now)
		}
		w.pass(20 * time.Millisecond)
	}
	if n := count(w.started, "led"); n < 3 || n > 5 {
		t.Errorf("in 4 s the LEDs got %d commands", n)
	}
}

func TestHeadTurnsToPeopleAndSwaysWithoutThem(t *testing.T) {
	w := alive(t, talk)
	look := func(people int, bearing float64) (yaws []float64) {
		w.facts.People, w.facts.Bearing = people, bearing
		w.yaws = nil
		for range 20 {
			w.done("head")
		}
		return w.yaws
	}
	if got := look(1, 0.3); !slices.Equal(got, []float64{0.3}) {
		t.Errorf("for a person at 0.3 rad the head turned to %v", got)
	}
	if got := look(1, 0.32); len(got) > 0 {
		t.Errorf("for a small move of the person the head turned to %v", got)
	}
	if got := look(1, 2); !slices.Equal(got, []float64{0.5}) {
		t.Errorf("for a person behind the robot the head turned to %v", got)
	}
	if got := look(0, 0); len(got) < 3 || slices.Max(got) > swayRad || slices.Min(got) < -swayRad {
		t.Errorf("without people the head turned to %v", got)
	}
	look(1, 0.3)
	w.facts.Activities = &score.Activities{Activities: []score.Activity{{ID: "turn", Acts: []score.Step{{Act: "turn"}},
		Repeat: score.Repeat{Times: 1}}}, Acts: map[string]score.Act{"turn": turn}}
	w.focus("turn", "turn-1")
	if got := look(1, 0.3); len(got) == 0 || got[len(got)-1] != 0.3 {
		t.Errorf("after an act that used the head it turned to %v", got)
	}
	w.state.SetAbilities([]schema.Ability{schema.AbilityAwareness})
	if got := look(0, 0); len(got) > 1 || len(got) == 1 && got[0] != 0 {
		t.Errorf("without people and background movement the head turned to %v, want straight ahead", got)
	}
}
