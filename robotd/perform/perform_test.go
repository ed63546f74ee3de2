package perform

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/safety"
	"troupe/robotd/signal"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// fakeBody is a body that the test describes.
type fakeBody struct {
	units  []schema.Unit
	points []string
}

func (b *fakeBody) Units() []schema.Unit { return b.units }
func (b *fakeBody) Points() []string     { return b.points }
func (b *fakeBody) Capabilities(l []string) schema.Caps {
	return schema.Caps{Units: b.units, Points: b.points, Languages: l}
}

// world is a robot that may perform.
type world struct {
	t       *testing.T
	state   State
	facts   Facts
	signals signal.State
	body    *fakeBody
	lanes   act.Lanes
	out     effect.List
	now     time.Duration

	started []string // units that were started, since the last check
	keys    map[string]uint64
	replies map[string]effect.Reply
	alerts  map[string]bool
	hints   map[string]string // of alerts
	n       int

	ended    []effect.ActivityEnded
	statuses []schema.AutoStatus // of ato, one after the other
	yaws     []float64           // to which heads were sent
}

// healthy is a diagnosis that found nothing.
type healthy struct{}

func (healthy) Unusable(string) string { return "" }

func newWorld(t *testing.T) *world {
	cfg := config.Defaults("r1")
	w := &world{t: t, state: New(&cfg), keys: map[string]uint64{}, replies: map[string]effect.Reply{}, alerts: map[string]bool{},
		hints: map[string]string{}, body: &fakeBody{points: []string{"dock"}, units: []schema.Unit{
			{ID: "speaker", Kind: schema.UnitSpeaker}, {ID: "face", Kind: schema.UnitFace}, {ID: "head", Kind: schema.UnitHead},
			{ID: "drive", Kind: schema.UnitDrive},
		}}}
	w.lanes.Executor = act.New(act.Config{Units: w.body.units, Lanes: Lanes(&cfg), Limits: act.Defaults()})
	w.lanes.Gate(act.Gate{})
	w.signals = signal.New()
	w.facts = Facts{Safety: schema.SafetyEnabled, Running: true, Body: w.body, Signals: &w.signals, Health: healthy{}}
	return w
}

func (w *world) part() Step {
	return Step{State: &w.state, Facts: w.facts, Now: clock.Now{Mono: w.now}, Lanes: &w.lanes, Out: &w.out}
}

func ms(n int64) *int64 { return &n }

var (
	turn = score.Act{ID: "turn", Actions: []score.Action{{TimeoutMS: ms(5000), Do: score.Head{Axes: score.Axes{YawRad: new(0.5)}}}}}
	talk = score.Act{ID: "talk", Actions: []score.Action{{TimeoutMS: ms(5000), Do: score.Say{Text: score.Text{"en": "hello"}}}}}
)

// accept gives ato a story that loops over acts, and enters ato.
func (w *world) accept(acts ...score.Act) {
	b := &score.PublishedStory{Story: score.Story{ID: "s", Repeat: score.Repeat{Loop: true}, Languages: []string{"en"}},
		Acts: map[string]score.Act{}}
	for _, a := range acts {
		b.Acts[a.ID] = a
		b.Story.Acts = append(b.Story.Acts, score.Step{Act: a.ID})
	}
	w.part().Accept(&delivery.Loaded[score.PublishedStory]{
		Accepted: delivery.Accepted{Rev: 1, Pin: schema.ContentPin{ID: "s", Rev: 1, SHA256: "d"}},
		Content:  b, Fit: delivery.Fit[score.PublishedStory]{Content: b},
	}, "", "")
	w.state.Enter(true)
	w.pass(time.Second)
}

// pass lets time pass, as brain does.
func (w *world) pass(d time.Duration) {
	for end := w.now + d; w.now < end; {
		w.now += 20 * time.Millisecond
		p := w.part()
		p.Power()
		p.Handlers()
		for again := true; again; again = w.state.Pending() {
			p.StepInterrupts()
			p.Activity()
			w.settle()
			p.StepAuto()
			p.Abilities()
		}
		w.lanes.Tick(w.now)
		w.settle()
	}
}

func (w *world) settle() {
	for len(w.lanes.Effects) > 0 {
		o := w.lanes.Effects[0]
		w.lanes.Effects = w.lanes.Effects[1:]
		switch o.Kind {
		case act.Start:
			w.started = append(w.started, o.Unit)
			w.keys[o.Unit] = o.Key
			if head, is := o.Do.Do.(score.Head); is && head.YawRad != nil {
				w.yaws = append(w.yaws, *head.YawRad)
			}
		case act.Stop:
			delete(w.keys, o.Unit)
		case act.Ended:
			if IsAbility(o.Lane) {
				w.part().AbilityEnded(&o)
			} else {
				w.part().Ended(&o)
			}
		}
	}
	for i := range w.out.Len() {
		switch e := w.out.At(i).(type) {
		case effect.Reply:
			w.replies[e.To.ID()] = e
		case effect.RaiseAlert:
			w.alerts[e.Kind], w.hints[e.Kind] = true, e.Hint
		case effect.ClearAlert:
			delete(w.alerts, e.Kind)
		case effect.ActivityEnded:
			w.ended = append(w.ended, e)
		case effect.Event:
			if e.Req != "" && command.Key(e.Req).ID() == "" {
				w.t.Errorf("event %s names the command %q, want CLIENT/ID", e.Kind, e.Req)
			}
			if e.Kind == "auto_changed" {
				w.statuses = append(w.statuses, w.state.Auto().Status)
			}
		}
	}
	w.out.Cut(0)
}

// done lets a unit say that it is done.
func (w *world) done(unit string) {
	key := w.keys[unit]
	delete(w.keys, unit)
	w.lanes.Reported(key, "", "", w.now)
	w.pass(time.Second)
}

func (w *world) order(group, name string, args verb.Args) effect.Dispatch {
	w.n++
	id := fmt.Sprintf("k%d", w.n)
	return effect.Dispatch{Key: command.KeyOf("op1", id), Client: "op1", ID: id, Verb: verb.Must(group, name), Args: args}
}

func TestStoryWaitsForWhatItNeeds(t *testing.T) {
	for _, c := range []struct {
		name   string
		act    score.Act
		change func(*Facts)
		want   schema.AutoStatus
		why    schema.Reason // of the pause
	}{
		{"no fault", turn, func(*Facts) {}, schema.AutoPerforming, ""},
		{"disabled, and it moves", turn, func(f *Facts) { f.Safety = schema.SafetyDisabled }, schema.AutoPaused, schema.ReasonSafetyDisabled},
		{"disabled, and it does not move", talk, func(f *Facts) { f.Safety = schema.SafetyDisabled }, schema.AutoPerforming, ""},
		{"a stop is latched", turn, func(f *Facts) {
			f.Safety, f.Standstill.Latches = schema.SafetyDisabled, []safety.Latch{{ID: "s-1"}}
		}, schema.AutoPaused, schema.ReasonLatched},
		{"E_STOP", talk, func(f *Facts) { f.Safety = schema.SafetyEStop }, schema.AutoPaused, schema.ReasonNeedsReset},
		{"the link is lost", talk, func(f *Facts) { f.LinkLostForAto = true }, schema.AutoPaused, schema.ReasonLinkLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.change(&w.facts)
			w.accept(c.act)
			why := ""
			for _, p := range w.state.Auto().Held() {
				why += p.Why
			}
			if got := w.state.Auto(); got.Status != c.want || why != string(c.why) {
				t.Errorf("ato is %s (%s), want %s (%s)", got.Status, why, c.want, c.why)
			}
			if performs := len(w.started) > 0; performs != (c.want == schema.AutoPerforming) {
				t.Errorf("units were told %v", w.started)
			}
		})
	}
}

func TestActsFollowEachOtherAndAStaleEndDoesNotCount(t *testing.T) {
	w := newWorld(t)
	w.accept(turn, talk)
	stale := act.Effect{Kind: act.Ended, Lane: storyLane, Entry: "story-0", Act: "turn", Outcome: act.EntryCompleted}
	w.part().Ended(&stale)
	w.pass(time.Second)
	if got := w.state.Auto().Act; got != 0 || !slices.Equal(w.started, []string{"head"}) {
		t.Fatalf("act %d is performed by %v, want the first by the head", got, w.started)
	}
	w.done("head")
	if got := w.state.Auto().Act; got != 1 || !slices.Equal(w.started, []string{"head", "speaker"}) {
		t.Errorf("act %d is performed by %v, want the second by the speaker", got, w.started)
	}
	w.done("speaker")
	if got := w.state.Auto(); got.Act != 0 || got.Loop != 1 {
		t.Errorf("act %d of round %d is performed, want the first of the next round", got.Act, got.Loop)
	}
	w.state.Leave()
	w.pass(time.Second)
	if len(w.keys) != 0 || w.state.Auto().Status != schema.AutoNotActive {
		t.Errorf("after ato was left, %v work in %s", w.keys, w.state.Auto().Status)
	}
}

// A handler does what the robot can do of its act; the story is paused meanwhile.
func TestHandlerPerformsWhatTheRobotCan(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*world)
		handler string
		want    []string // units that are started
	}{
		{"all of it", func(*world) {}, "service", []string{"face", "head", "speaker"}},
		{"without a face", func(w *world) { w.body.units = w.body.units[:1] }, "service", []string{"speaker"}},
		{"a face that it has not", func(w *world) { w.body.units[1].Faces = []string{"frown"} }, "service", []string{"head", "speaker"}},
		{"an axis that its head has not", func(w *world) { w.body.units[2].YawRad = &schema.Range{Min: -1, Max: 1} }, "service",
			[]string{"face", "speaker"}},
		{"standing still", func(w *world) { w.facts.Safety = schema.SafetyDisabled }, "service", []string{"face", "speaker"}},
		{"it goes to the dock", func(w *world) { w.facts.Battery = Battery{Known: true, Share: 0.1} }, "power",
			[]string{"drive", "face", "speaker"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.accept(talk)
			w.started = nil
			c.change(w)
			if c.handler != "power" { // which the battery asks for
				w.state.Request(c.handler, "operator")
			}
			w.pass(time.Second)
			if slices.Sort(w.started); !slices.Equal(w.started, c.want) {
				t.Errorf("units %v were started, want %v", w.started, c.want)
			}
			if w.state.Auto().Status != schema.AutoPaused || w.state.RunningHandlers() != 1 {
				t.Errorf("ato is %s with %d handlers", w.state.Auto().Status, w.state.RunningHandlers())
			}
		})
	}
}

func TestLowBatteryWithoutADockRaisesAnAlert(t *testing.T) {
	w := newWorld(t)
	w.accept(talk)
	w.started = nil
	w.body.points = nil
	w.facts.Battery = Battery{Known: true, Share: 0.1}
	w.pass(time.Hour)
	if slices.Contains(w.started, "drive") || w.state.RunningHandlers() != 0 || !w.alerts["cannot_charge"] {
		t.Errorf("units %v work, %d handlers run, alerts %v", w.started, w.state.RunningHandlers(), w.alerts)
	}
	w.body.points = []string{"dock"}
	w.pass(time.Second)
	if !slices.Contains(w.started, "drive") || w.alerts["cannot_charge"] {
		t.Errorf("with a dock, units %v work, alerts %v", w.started, w.alerts)
	}
}

func TestLowBatteryAsksForItsHandlerAndAgain(t *testing.T) {
	w := newWorld(t)
	w.accept(talk)
	at := func(share float64, charging bool, d time.Duration) (alert bool, handlers int) {
		w.facts.Battery = Battery{Known: true, Share: share, Charging: charging}
		w.pass(d)
		return w.alerts["battery_low"], w.state.RunningHandlers()
	}
	for i, c := range []struct {
		share    float64
		charging bool
		lasts    time.Duration
		alert    bool
		handlers int
	}{
		{0.5, false, time.Second, false, 0},
		{0.15, false, time.Second, true, 1},
		{0.15, true, time.Second, false, 1}, // the handler goes on until it is full enough
		{0.85, true, time.Second, false, 0},
		{0.85, false, time.Second, false, 0},
		{0.15, false, time.Second, true, 1},
	} {
		if i == 2 { // its act is over
			w.done("speaker")
			w.done("drive")
		}
		if alert, handlers := at(c.share, c.charging, c.lasts); alert != c.alert || handlers != c.handlers {
			t.Errorf("step %d: alert %v and %d handlers, want %v and %d", i, alert, handlers, c.alert, c.handlers)
		}
	}
	w.state.AskInterrupts(w.order("interrupt", "cancel", verb.CancelInterrupt{}), interrupt.Input{What: interrupt.Cancel,
		ID: w.state.InterruptState().Running()[0].ID})
	if _, handlers := at(0.15, false, time.Hour); handlers != 0 {
		t.Errorf("it asked again at the level at which it was cancelled")
	}
	if _, handlers := at(0.09, false, time.Second); handlers != 1 {
		t.Errorf("it did not ask again when the level was lower by more than %v", maxAskStep)
	}
}

// What the alert says after somebody called a charge off is what the robot then does.
func TestCalledOffChargeIsAskedForAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		low    float64 // the setting low_battery
		levels []float64
		asks   bool // at the last level
	}{
		{"at the same level it is not", 0.2, []float64{0.19, 0.19}, false},
		{"a level that varies around low_battery was not charged", 0.2, []float64{0.199, 0.201, 0.199}, false},
		{"after another battery was put in", 0.2, []float64{0.19, 0.95, 0.19}, true},
		{"a quarter of the setting lower", 0.2, []float64{0.19, 0.15, 0.139}, true},
		{"with a low setting, after another battery was put in", 0.05, []float64{0.045, 0.95, 0.045}, true},
		{"with a low setting, a quarter of it lower", 0.05, []float64{0.045, 0.04, 0.03}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.state.cfg.LowBattery = c.low
			w.accept(talk)
			for i, level := range c.levels {
				if hint := w.hints["battery_low"]; i > 1 && w.alerts["battery_low"] &&
					!strings.HasPrefix(hint, "bring it to a charger, or send it with interrupt/request power; by itself it goes again below") {
					t.Errorf("at %v the hint is %q", c.levels[i-1], hint)
				}
				w.facts.Battery = Battery{Known: true, Share: level}
				w.pass(time.Second)
				if i == 0 {
					w.state.AskInterrupts(w.order("interrupt", "cancel", verb.CancelInterrupt{}), interrupt.Input{What: interrupt.Cancel,
						ID: w.state.InterruptState().Running()[0].ID})
					w.pass(time.Second)
				}
			}
			if got := w.state.RunningHandlers() == 1; got != c.asks {
				t.Errorf("it asked %v, want %v", got, c.asks)
			}
			if got := strings.HasPrefix(w.hints["battery_low"], "it goes to its charger by itself"); got != c.asks {
				t.Errorf("the hint is %q, and it asked %v", w.hints["battery_low"], c.asks)
			}
		})
	}
}

func TestHintOfALowBatteryFitsWhatTheRobotDoes(t *testing.T) {
	w := newWorld(t)
	w.accept(talk)
	for _, c := range []struct {
		safety schema.SafetyState
		points []string
		want   string
	}{
		{schema.SafetyDisabled, []string{"dock"}, "enable it (safety/enable), so that it goes"},
		{schema.SafetyEnabled, []string{"dock"}, "it goes to its charger by itself"},
		{schema.SafetyDisabled, []string{"dock"}, "enable it (safety/enable), so that it goes"},
		{schema.SafetyEnabled, nil, "bring it to a charger that works"},
	} {
		w.facts.Safety, w.body.points = c.safety, c.points
		w.facts.Battery = Battery{Known: true, Share: 0.1}
		w.pass(time.Second)
		if got := w.hints["battery_low"]; !strings.HasPrefix(got, c.want) {
			t.Errorf("in %s, with the points %v, the hint is %q, want %q", c.safety, c.points, got, c.want)
		}
	}
	w = newWorld(t)
	w.accept(talk)
	w.state.AskAuto(w.order("auto", "pause", verb.PauseStory{}), auto.Input{What: auto.Pause})
	w.facts.Battery = Battery{Known: true, Share: 0.1}
	w.pass(time.Second)
	if got, want := w.hints["battery_low"], "it waits, because the story is paused by op1; auto/continue with token "; !strings.HasPrefix(
		got, want) {
		t.Errorf("while the story is paused the hint is %q, want %q", got, want)
	}
	w = newWorld(t) // in another mode
	w.facts.Safety, w.facts.Battery = schema.SafetyDisabled, Battery{Known: true, Share: 0.1}
	w.pass(time.Second)
	if got, want := w.hints["battery_low"], "set it to ato (mode/set ato) and enable it (safety/enable), so that"; !strings.HasPrefix(
		got, want) {
		t.Errorf("in mnl the hint is %q, want %q", got, want)
	}
}

// Requested acts are performed one at a time.
func TestAskedActWaitsOrTakesThePlaceOfOthers(t *testing.T) {
	w := newWorld(t)
	w.accept(talk)
	ask := func(a verb.Perform) schema.Verdict {
		o := w.order("act", "perform", nil)
		w.part().AskAct(o, a)
		w.pass(time.Second)
		return w.replies[o.ID].Verdict
	}
	turns := verb.Perform{Actions: `[{"type":"head","start_ms":0,"yaw_rad":0.5,"timeout_ms":5000}]`}
	instead := turns
	instead.Clear = true
	if v := ask(turns); v.Status != schema.StatusAccepted {
		t.Fatalf("the first: %+v", v)
	}
	if v := ask(turns); v.Status != schema.StatusAccepted || len(w.state.InterruptState().Running()) != 1 {
		t.Errorf("another: %+v, of interrupts %+v", v, w.state.InterruptState().Running())
	}
	if v := ask(instead); v.Status != schema.StatusAccepted || w.replies["k1"].Status != schema.StatusSuperseded ||
		w.replies["k2"].Status != schema.StatusSuperseded {
		t.Errorf("with clear: %+v, and those before %+v %+v", v, w.replies["k1"].Verdict, w.replies["k2"].Verdict)
	}
	w.done("head")
	if v := w.replies["k3"]; v.Status != schema.StatusSucceeded {
		t.Errorf("when it is done: %+v", v.Verdict)
	}
	if got := w.state.Auto(); got.Status != schema.AutoPerforming || len(got.Held()) > 0 {
		t.Errorf("the story is %s, held by %v", got.Status, got.Held())
	}
	w.facts.Safety, w.facts.Standstill = schema.SafetyDisabled, safety.Standstill{At: schema.SafetyDisabled}
	if v := ask(turns); v.Reason != schema.ReasonHandlerCondition || v.Detail != "the act moves: the safety core is DISABLED; safety/enable" {
		t.Errorf("a motion while disabled: %+v", v)
	}
	if v := ask(verb.Perform{Act: "talk"}); v.Status != schema.StatusAccepted {
		t.Errorf("speech while disabled: %+v", v)
	}
}

// TestLeftOutPartIsToldToTheCommandThatAskedForIt requests four acts. The body loses its head between the acceptance of
// those that turn it and their begin.
func TestLeftOutPartIsToldToTheCommandThatAskedForIt(t *testing.T) {
	w := newWorld(t)
	w.accept(talk)
	all := w.body.units
	ask := func(actions string) {
		w.part().AskAct(w.order("act", "perform", nil), verb.Perform{Actions: verb.Objects(actions)})
		w.body.units = []schema.Unit{all[0], all[1], all[3]}
		w.pass(time.Second)
		w.body.units = all
	}
	const say = `{"type":"say","start_ms":0,"text":{"en":"hello"},"timeout_ms":9000}`
	ask(`[` + say + `,{"type":"head","start_ms":0,"yaw_rad":0.5,"timeout_ms":5000}]`)
	ask(`[` + say + `]`)
	ask(`[` + say + `,{"type":"head","start_ms":0,"yaw_rad":0.5,"timeout_ms":5000}]`)
	ask(`[` + say + `]`)
	for range 4 {
		w.done("speaker")
	}
	const without = "inline without head"
	for id, want := range map[string]string{"k1": without, "k2": "", "k3": without, "k4": ""} {
		got := w.replies[id].Verdict
		if got.Status != schema.StatusSucceeded || !strings.HasPrefix(got.Detail, want) || (got.Detail == "") != (want == "") {
			t.Errorf("%s ended with %s (%q), want SUCCEEDED (%q)", id, got.Status, got.Detail, want)
		}
	}
}

func TestFrozenStoryFreesItsUnits(t *testing.T) {
	w := newWorld(t)
	w.accept(talk)
	w.state.AskAuto(w.order("auto", "pause", verb.PauseStory{}), auto.Input{What: auto.Pause})
	w.pass(time.Second)
	if w.replies["k1"].Status != schema.StatusSucceeded || len(w.keys) != 0 {
		t.Errorf("paused: %+v, at work %v", w.replies["k1"].Verdict, w.keys)
	}
	w.state.AskAuto(w.order("auto", "continue", verb.ContinueStory{}), auto.Input{What: auto.Continue})
	w.pass(time.Second)
	if len(w.keys) != 1 {
		t.Errorf("continued, at work %v", w.keys)
	}
}
