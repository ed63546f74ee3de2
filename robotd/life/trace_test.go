package life

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/signal"
	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
	"troupe/schema/golden"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// TestTraces plays each script in testdata: a line is a time and a fact, a command or the end of
// a performance, and the indented lines below it are what life decides, also on the way there.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string { return newWorld(t).play })
}

// world is a robot as life sees it, which a script changes.
type world struct {
	t       testing.TB
	cfg     Config
	s       State
	f       Facts
	signals signal.State
	rules   *signal.CompiledRules
	guards  map[schema.Safeguard]bool
	set     score.Activities
	at      time.Duration
	out     effect.List
	keys    int
	battery float64
}

// noon is that of a Friday.
const noon schema.Time = 1_800_014_400_000

func newWorld(t testing.TB) *world {
	w := &world{t: t, cfg: Defaults(), signals: signal.New(), guards: map[schema.Safeguard]bool{}, battery: 1}
	w.s = New(&w.cfg)
	w.rules, _ = signal.Compile(nil)
	w.set = score.Activities{Schema: score.ActivitiesSchema, Acts: map[string]score.Act{
		"still": {ID: "still", Actions: []score.Action{{Do: score.Wait{}}}},
	}}
	return w
}

func (w *world) Safeguarded(s schema.Safeguard) bool { return w.guards[s] }

func (w *world) now() clock.Now { return clock.Now{Mono: w.at, Wall: noon.Add(w.at)} }

func (w *world) step() Step {
	w.f.Health, w.f.Signals, w.f.Pauses = w, &w.signals, w
	return Step{State: &w.s, Facts: w.f, Now: w.now(), Out: &w.out}
}

func (w *world) PausedBy(_, _, _ string) string { return "the story is paused by safety" }

// decide makes steps as brain does, until nothing is pending, and returns what life wanted.
func (w *world) decide() string {
	var b strings.Builder
	for n := 0; n == 0 || w.s.Pending(); n++ {
		if n > 50 {
			panic(fmt.Sprintf("at %v life does not come to an end:\n%s", w.at, b.String()))
		}
		w.signals.Step(w.now(), w.rules, signal.Known{Mode: "ato", Battery: w.battery, HasBattery: true, Charging: w.f.Charging})
		w.step().Decide()
		w.step().Launch()
		for i := range w.out.Len() {
			b.WriteString(print(w.out.At(i)))
		}
		w.out.Cut(0)
	}
	return b.String()
}

// pass lets time pass until to, and returns what life wanted on the way.
func (w *world) pass(to time.Duration) string {
	var b strings.Builder
	for {
		next := to
		for _, d := range [...]func() (time.Duration, bool){w.s.Deadline, w.signals.Deadline} {
			if at, ok := d(); ok && at < next {
				next = at
			}
		}
		if next >= to {
			w.at = to
			return b.String()
		}
		if next <= w.at {
			panic(fmt.Sprintf("at %v the next step is due at %v", w.at, next))
		}
		w.at = next
		if did := w.decide(); did != "" {
			fmt.Fprintf(&b, "  at %v\n%s", w.at, did)
		}
	}
}

func (w *world) play(line string) string {
	at, word, words := golden.Timed(w.t, line)
	out := w.pass(at)
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switchTo := func(on *bool) { *on = arg(0) == "on" }
	switch word {
	case "activity":
		w.add(words)
	case "without":
		w.set.Activities = slices.DeleteFunc(slices.Clone(w.set.Activities), func(a score.Activity) bool { return a.ID == arg(0) })
		w.takeSet()
	case "ato":
		switchTo(&w.f.Ato)
	case "story-stopped":
		switchTo(&w.f.StoryStopped)
	case "enabled":
		switchTo(&w.cfg.Enabled)
	case "humans-lost-timeout":
		w.cfg.HumansLost = duration(arg(0))
	case "safety":
		w.f.StopReason = schema.Reason(strings.TrimPrefix(arg(0), "ok"))
	case "at-rest":
		switchTo(&w.f.AtRest)
	case "paused":
		switchTo(&w.f.Paused)
	case "interrupt":
		w.f.Interrupts, w.f.Preempts = arg(0) != "off", arg(0) == "preempts"
	case "charging":
		switchTo(&w.f.Charging)
	case "moving":
		w.signals.Moved(arg(0) == "on")
	case "guard":
		w.guards[schema.Safeguard(arg(0))] = arg(1) == "on"
	case "people":
		w.sense(driver.People, "", arg(0) != "0", float64(w.number(arg(0))))
	case "touch":
		w.sense(driver.Touch, "head", arg(0) == "on", 0)
	case "battery":
		w.battery = float64(w.number(arg(0))) / 100
	case "set":
		w.ask(verb.SetLife{State: arg(0)})
	case "focus":
		w.ask(verb.FocusActivity{Activity: arg(0), Flags: arg(1)})
	case "stop-focus":
		w.ask(verb.StopFocus{})
	case "stop-all":
		w.ask(verb.StopActivities{})
	case "safeguard":
		w.ask(verb.SetSafeguard{Name: arg(0), Enabled: arg(1) == "on"})
	case "launchpad":
		w.ask(verb.SetLaunchpad{On: arg(0) == "on"})
	case "plugin":
		w.ask(verb.SetPlugin{Name: arg(0), Enabled: arg(1) == "on"})
	case "explain":
		w.ask(verb.ExplainCondition{Condition: verb.Text(strings.Join(words, " "))})
	case "ended":
		w.s.Ended(effect.ActivityEnded{Run: arg(0), Outcome: effect.Outcome(arg(1)), Reason: schema.Reason(arg(2))})
	case "wait", "document":
	default:
		w.t.Fatalf("%q: no such word", line)
	}
	out += w.decide()
	if word == "document" {
		return out + w.document()
	}
	return out + w.line()
}

func (w *world) number(text string) (n int) {
	if _, err := fmt.Sscan(text, &n); err != nil {
		w.t.Fatalf("%q: %v", text, err)
	}
	return n
}

func (w *world) sense(s driver.Signal, name string, on bool, level float64) {
	w.signals.Sense(w.at, driver.Event{Kind: driver.Sensed, Signal: s, Name: name, On: on, Level: level})
}

func (w *world) ask(args verb.Args) {
	w.keys++
	w.s.Ask(effect.Dispatch{Key: command.Key(fmt.Sprint("op1/", w.keys)), Args: args}, "op1")
}

// add adds an activity: its name, its nature, and such as when=people>0 for=3s.
func (w *world) add(words []string) {
	a := score.Activity{ID: words[0], Nature: score.Nature(words[1]), Permissions: map[string]bool{}, Acts: []score.Step{{Act: "still"}}}
	for _, word := range words[2:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "when":
			a.Launch.When = value
		case "for":
			a.Launch.For = value
		case "cooldown":
			a.Launch.Cooldown = value
		case "permits":
			a.Permissions[value] = true
		}
	}
	w.set.Activities = append(slices.Clone(w.set.Activities), a)
	w.takeSet()
}

func (w *world) takeSet() {
	set := w.set
	w.f.Activities = &set
}

func (w *world) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  = %s", w.s.at)
	if w.s.reason != "" {
		fmt.Fprintf(&b, " (%s)", w.s.reason)
	}
	if w.s.focus.run != "" {
		fmt.Fprintf(&b, " focus %s", w.s.focus.run)
	}
	if stack := w.s.stacked(); len(stack) > 0 {
		fmt.Fprintf(&b, " stack %s", strings.Join(stack, " "))
	}
	if w.s.launchpadOn {
		b.WriteString(" launchpad")
	}
	b.WriteString("\n")
	return b.String()
}

func (w *world) document() string {
	d := w.step().Document(func(a schema.Ability) bool { return a == schema.AbilityAwareness })
	var b strings.Builder
	list := func(name string, values ...any) {
		if len(values) > 0 && fmt.Sprint(values...) != "" {
			b.WriteString("  " + name + " " + strings.Trim(fmt.Sprintln(values...), "\n") + "\n")
		}
	}
	list("focused", d.Focused)
	for _, id := range d.Stack {
		list("stacked", id)
	}
	list("next", d.Next)
	list("suggestions", anys(d.Suggestions)...)
	for _, c := range d.Conditions {
		list("condition of", c.Activity, c.True, c.Why)
	}
	for _, a := range d.Abilities {
		if a.Enabled || a.Running {
			list("ability", a.Name, "enabled", a.Enabled, "running", a.Running)
		}
	}
	for _, p := range d.Plugins {
		if p.Enabled {
			list("plug-in", p.Name)
		}
	}
	for _, s := range d.Safeguards {
		if !s.Enabled {
			list("safeguard off", s.Name)
		}
	}
	for _, s := range d.Statistics {
		list("statistics of", s.Activity, s.Starts, s.LastStart-noon, s.TotalMS)
	}
	for _, f := range d.Focuses {
		list("focus", int64(f.Since-noon), f.Activity)
	}
	for _, f := range d.States {
		list("state", int64(f.Since-noon), f.State)
	}
	return b.String()
}

func anys[T any](list []T) (out []any) {
	for _, x := range list {
		out = append(out, x)
	}
	return out
}

func print(in effect.Output) string {
	switch in := in.(type) {
	case effect.LogTransition:
		return fmt.Sprintf("  %s -> %s (%s) %s\n", in.From, in.To, in.Why, in.Cause)
	case effect.Event:
		return strings.TrimRight(fmt.Sprintf("  event %s %s %s", in.Kind, effect.Encode(in.Data), in.Cause), " ") + "\n"
	case effect.FocusActivity:
		return fmt.Sprintf("  perform %s as %s\n", in.Activity, in.Run)
	case effect.EndActivity:
		return fmt.Sprintf("  stop %s: %s\n", in.Run, in.Reason)
	case effect.Abilities:
		return strings.TrimRight(fmt.Sprintf("  abilities %s", strings.Trim(fmt.Sprint(in.Names), "[]")), " ") + "\n"
	case effect.Reply:
		return "  " + strings.TrimSpace(fmt.Sprintf("answer: %s %s %s", in.Status, in.Reason, in.Detail)) + "\n"
	case effect.StateChanged:
		return ""
	}
	return fmt.Sprintf("  %T\n", in)
}

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, schema.LifeDisabled, schema.LifeStates)
}

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/life.md", Table, schema.LifeDisabled)
}

// replays is what all traces print. A panic is a difference, too.
func replays(t *testing.T) (out string) {
	defer func() {
		if why := recover(); why != nil {
			out = fmt.Sprint("panic: ", why)
		}
	}()
	return golden.ConcatTraces(t, func(t *testing.T) func(string) string { return newWorld(t).play })
}

func TestTracesNeedEveryTransition(t *testing.T) {
	fsmtest.CheckEveryRowIsNeeded(t, &Table, func() string { return replays(t) })
}

// Each rule of the launchpad's choice, each permission and each block is removed in turn.
func TestTracesNeedEveryRule(t *testing.T) {
	want := replays(t)
	for _, list := range []*[]FocusRule{&FocusBlocks, &Permissions, &CandidateBlocks, &LaunchBlocks} {
		everyOneIsNeeded(t, list, func(r FocusRule) string { return r.Name + ": " + r.Why }, want)
	}
	everyOneIsNeeded(t, &Preferences, func(o Preference) string { return o.Name }, want)
	everyOneIsNeeded(t, &LaunchpadRuns, func(s schema.LifeState) string { return "the launchpad in " + string(s) }, want)
	for i := range Abilities {
		everyOneIsNeeded(t, &Abilities[i].In, func(s schema.LifeState) string { return string(Abilities[i].Name) + " in " + string(s) }, want)
	}
	for state, whole := range groups {
		list := whole
		for k := range whole {
			groups[state] = slices.Delete(slices.Clone(list), k, k+1)
			if replays(t) == want {
				t.Errorf("no trace notices that %s lacks the plug-ins of %s", state, list[k])
			}
		}
		groups[state] = whole
	}
	for i := range causes[1:] {
		was := causes[i+1]
		causes[i+1] = "none"
		if replays(t) == want {
			t.Errorf("no trace notices that %s is no cause", was)
		}
		causes[i+1] = was
	}
}

func everyOneIsNeeded[T any](t *testing.T, list *[]T, name func(T) string, want string) {
	t.Helper()
	whole := *list
	defer func() { *list = whole }()
	for i := range whole {
		*list = slices.Delete(slices.Clone(whole), i, i+1)
		if replays(t) == want {
			t.Errorf("no trace notices that this rule is missing: %s", name(whole[i]))
		}
	}
}

func TestEveryRuleHasItsWhy(t *testing.T) {
	for _, rules := range [][]FocusRule{FocusBlocks, Permissions, CandidateBlocks, LaunchBlocks} {
		for _, r := range rules {
			if r.Name == "" || r.Why == "" {
				t.Errorf("%+v", r)
			}
		}
	}
	for _, o := range Preferences {
		if o.Why == "" {
			t.Errorf("the preference %s has no reason", o.Name)
		}
	}
	for _, p := range Plugins {
		if p.Why == "" {
			t.Errorf("the plug-in %s has no reason", p.Name)
		}
	}
	for _, a := range Abilities {
		if a.Why == "" {
			t.Errorf("the ability %s has no reason", a.Name)
		}
	}
}
