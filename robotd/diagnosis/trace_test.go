package diagnosis

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
	"troupe/schema/golden"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// TestTraces plays each script in testdata: a line is a time and what happens then, the
// indented lines below it are what the robot does about it. Time passes in steps of 1 s.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := newWorld()
		return func(line string) string { return w.play(t, line) }
	})
}

func TestTableIsSound(t *testing.T) { fsmtest.Check(t, Table, Normal, Phases) }

func TestTableMatchesItsDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/diagnosis.md", Table, Normal)
}

func TestTracesNeedEveryTransition(t *testing.T) {
	fsmtest.CheckEveryRowIsNeeded(t, &Table, func() string {
		return golden.ConcatTraces(t, func(t *testing.T) func(string) string {
			w := newWorld()
			return func(line string) string { return w.play(t, line) }
		})
	})
}

// world is a robot of four units and its disk.
type world struct {
	cfg   Config
	s     State
	lanes act.Lanes
	saved map[string]string
	now   time.Duration
	at    schema.SafetyState
	n     int
	known string // facts
	out   effect.List
}

var units = []schema.Unit{{ID: "head", Kind: schema.UnitHead}, {ID: "face", Kind: schema.UnitFace}, {ID: "drive", Kind: schema.UnitDrive},
	{ID: "battery", Kind: schema.UnitBattery}}

func newWorld() *world {
	w := &world{saved: map[string]string{}, at: schema.SafetyDisabled}
	w.boot()
	return w
}

func (w *world) boot() {
	w.lanes = act.Lanes{Executor: act.New(act.Config{Units: units, Limits: act.Defaults()})}
	w.s = New(&w.cfg, units, w.clock(), w.saved)
}

func (w *world) clock() clock.Now {
	return clock.Now{Mono: w.now, Wall: schema.Time(1_800_000_000_000).Add(w.now)}
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	at, word, args := golden.Timed(t, line)
	var b strings.Builder
	for w.now+time.Second < at {
		w.now += time.Second
		b.WriteString(w.step(fmt.Sprintf("+%v ", w.now)))
	}
	w.now = at
	arg := func(i int) string {
		if i >= 0 && i < len(args) {
			return args[i]
		}
		return ""
	}
	number, _ := strconv.ParseFloat(arg(1), 64)
	key, _ := strconv.ParseUint(arg(len(args)-1), 10, 64)
	words := strings.Join(args[min(1, len(args)):], " ")
	sense := func(ev driver.Event) { w.s.Sense(w.now, ev) }
	switch word {
	case "config": // key=value: UNIT=SEVERITY, or a safeguard that is off
		name, value, _ := strings.Cut(arg(0), "=")
		if value == "off" {
			w.cfg.Safeguards = map[schema.Safeguard]bool{schema.Safeguard(name): false}
		} else {
			w.cfg.Severity = map[string]schema.DeviceSeverity{name: schema.DeviceSeverity(value)}
		}
	case "boot":
		w.boot()
	case "reported":
		for _, u := range units {
			sense(driver.Event{Kind: driver.Unit, Unit: u.ID, State: driver.Idle})
		}
	case "heat":
		sense(driver.Event{Kind: driver.Sensed, Signal: driver.Heat, Name: arg(0), Level: number})
	case "breaks":
		sense(driver.Event{Kind: driver.Unit, Unit: arg(0), State: driver.Error, Detail: words})
	case "loses":
		sense(driver.Event{Kind: driver.Unit, Unit: arg(0), State: driver.Error, Detail: words, Lost: true})
	case "works":
		sense(driver.Event{Kind: driver.Unit, Unit: arg(0), State: driver.Idle})
	case "push", "lift", "fall":
		sense(driver.Event{Kind: driver.Sensed, Signal: driver.Signal(word), On: arg(0) == "on"})
	case "starts": // UNIT KEY: a command that takes no time
		w.s.Started(w.now, &driver.Command{Unit: arg(0), Key: key})
	case "holds": // UNIT TYPE MS KEY: a command with this time-out
		ms, _ := strconv.ParseInt(arg(2), 10, 64)
		row, _ := score.RowOf(score.ActionType(arg(1)))
		w.s.Started(w.now, &driver.Command{Unit: arg(0), Key: key, Holds: true, Do: &score.Action{TimeoutMS: &ms, Do: row.Do}})
	case "stops":
		w.s.Stopped(w.now, key)
	case "answers":
		sense(driver.Event{Kind: driver.Done, Key: key})
	case "calibrated":
		w.s.Calibrated([]driver.Calibrated{{Unit: arg(0), Reason: schema.Reason(arg(1)), Detail: strings.Join(args[min(2, len(args)):], " ")}})
	case "safety":
		w.at = schema.SafetyState(arg(0))
	case "ack":
		w.n++
		w.part().Acknowledge(effect.Dispatch{Key: command.KeyOf("op1", fmt.Sprint("a", w.n)), Verb: verb.Must("sys", "ack-fault")}, arg(0))
	case "wait":
	default:
		t.Fatalf("%q: no such word", line)
	}
	text := b.String() + w.step("")
	for _, d := range w.s.Document() {
		if hint := w.s.device(d.ID).wayOut(); d.Unacknowledged != strings.Contains(hint, "sys/ack-fault") {
			t.Errorf("%s: unacknowledged is %v, but its hint is %q", line, d.Unacknowledged, hint)
		}
	}
	return text
}

func (w *world) part() Step {
	return Step{State: &w.s, Now: w.clock(), Lanes: &w.lanes, Out: &w.out}
}

// step makes a step, and returns what comes of it and what the rest of the robot gets to know.
func (w *world) step(prefix string) string {
	w.s.Check(w.clock(), w.at)
	w.part().Report()
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, "  "+prefix+format+"\n", args...) }
	for i := range w.out.Len() {
		switch e := w.out.At(i).(type) {
		case effect.LogTransition:
			say("%s: %s -> %s (%s)", strings.TrimSpace(e.Machine+" "+e.Cause), e.From, e.To, e.Why)
		case effect.Event:
			say("event: %s %s %s", e.Kind, e.Source, effect.Encode(e.Data))
		case effect.RaiseAlert:
			say("alert: %s %s %s: %s; %s", e.Level, e.Kind, e.Source, e.Detail, e.Hint)
		case effect.SaveValue:
			w.saved[e.Name] = e.Value
			say("save: %s=%s", e.Name, e.Value)
		case effect.Reply:
			say("answer: %s", strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Status, e.Reason, e.Pointer, e.Detail)))
		}
	}
	w.out.Cut(0)
	if is := w.facts(); is != w.known {
		w.known = is
		say("facts: %s", is)
	}
	return b.String()
}

// facts are what the rest of the robot asks.
func (w *world) facts() string {
	var list []string
	for _, u := range units {
		if why := w.s.Unusable(u.ID); why != "" {
			list = append(list, u.ID+" off")
		}
	}
	for _, c := range w.s.Causes() {
		list = append(list, "at rest because "+c.String())
	}
	for _, f := range []struct {
		what string
		why  schema.Reason
	}{{"motion", w.s.MotionBarred()}, {"pause", w.s.AtoPaused()}, {"barred", w.s.EntryRefused()}} {
		if f.why != "" {
			list = append(list, f.what)
		}
	}
	for _, d := range w.s.Document() {
		list = append(list, fmt.Sprintf("{%s %s %s %s %v}", d.ID, d.Severity, d.Effect, d.Heat, d.Unacknowledged))
	}
	return strings.Join(list, ", ")
}
