package mode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// dance is a mode that does what the test wants of it at the next time.
var dance = Installed{
	Settings: Settings{ID: "dance", Moves: true, LinkLoss: schema.LinkLossSafe, LostAfter: time.Minute},
	Params: []Parameter{
		{ConfigKey: schema.ConfigKey{Name: "pace", Type: schema.ConfigNumber, Min: 0, Max: 1}, Default: jsontext.Value("0.5")},
	},
}

type dancing struct {
	Plain
	next *[]Effect
}

func (d dancing) Step(h *Host, _ Notice) {
	for _, e := range *d.next {
		h.Do(e)
	}
	*d.next = nil
}

// calibrating is a mode that calibrates, as str does.
type calibrating struct{ Plain }

func (calibrating) Step(h *Host, n Notice) {
	switch n := n.(type) {
	case CalibrationOrdered:
		h.Do(Calibrate{})
	case CalibrationEnded:
		h.Calibrated(n.Refusal)
	}
}

// rig is a robot with the modes str, mnl, safe and dance.
type rig struct {
	t     *testing.T
	cfg   Config
	s     State
	f     Facts
	now   time.Duration
	next  []Effect // of the dance
	saved map[string]string
	run   int64 // of the newest calibration
	log   []string
	n     int
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, cfg: Defaults(), saved: map[string]string{}}
	r.f = Facts{Safety: schema.SafetyEnabled, Units: []schema.Unit{{ID: "drive", Kind: schema.UnitDrive}, {ID: "head", Kind: schema.UnitHead}}}
	r.boot()
	return r
}

// boot starts the robot with what it has saved, and calibrates it.
func (r *rig) boot() {
	d := dance
	d.New = func() Mode { return dancing{next: &r.next} }
	plain := func() Mode { return Plain{} }
	installed := []Installed{
		{Settings: DefaultSettings(schema.ModeStr), New: func() Mode { return calibrating{} }},
		{Settings: DefaultSettings(schema.ModeMnl), Manual: true, New: plain}, {Settings: DefaultSettings(schema.ModeSafe), New: plain}, d,
	}
	r.cfg.Modes = nil
	for _, m := range installed {
		r.cfg.Modes = append(r.cfg.Modes, m.Settings)
	}
	r.s = New(&r.cfg, NewRunner(installed, Unguarded), r.clock())
	r.do(func(t Step) { t.Restore(r.saved) })
	r.s.Add(Input{Kind: Begin})
	r.settle()
	r.do(func(t Step) { t.Calibrated(event.Calibrated{Run: r.run}) })
	r.settle()
	r.log = nil
}

func (r *rig) clock() clock.Now {
	return clock.Now{Mono: r.now, Wall: schema.Time(r.now.Milliseconds())}
}

// do makes a step, and logs what the robot shall do.
func (r *rig) do(part func(Step)) {
	var out effect.List
	part(Step{State: &r.s, Facts: r.f, Now: r.clock(), Out: &out})
	for i := range out.Len() {
		switch e := out.At(i).(type) {
		case effect.SaveValue:
			if r.saved[e.Name] = e.Value; e.Value == "" {
				delete(r.saved, e.Name)
			}
			r.log = append(r.log, "save "+e.Name+"="+e.Value)
		case effect.RaiseAlert:
			r.log = append(r.log, "raise "+e.Kind+" "+e.Source+": "+e.Hint)
		case effect.ClearAlert:
			r.log = append(r.log, "clear "+e.Kind+" "+e.Source)
		case effect.Event:
			r.log = append(r.log, "event "+e.Kind)
		case effect.Reply:
			if e.To != "" {
				r.log = append(r.log, strings.TrimSpace(fmt.Sprintf("%s %s %s", strings.TrimPrefix(string(e.To), "op1/"), e.Status, e.Reason)))
			}
		case effect.Move:
			r.log = append(r.log, fmt.Sprintf("drive %v %v", e.VX, e.WZ))
		case effect.Look:
			r.log = append(r.log, fmt.Sprintf("look %v", e.Yaw))
		case effect.Stop:
			r.log = append(r.log, "stop "+e.Unit)
		case effect.Calibrate:
			r.run = e.Run
		case effect.AskStop:
			r.log = append(r.log, "ask "+e.Verb)
		}
	}
}

// settle decides until nothing waits.
func (r *rig) settle() {
	r.do(Step.Decide)
	for r.s.Pending() {
		r.do(Step.Decide)
	}
}

// asks takes a command, and decides. It returns the log of it, without mode_changed.
func (r *rig) asks(id string, args verb.Args, when schema.Precondition) []string {
	r.log = nil
	if !r.s.Ask(effect.Dispatch{Key: command.KeyOf("op1", id), Args: args, If: when}, "ann") {
		r.t.Fatalf("%T is no command of modes", args)
	}
	r.settle()
	return r.log
}

func (r *rig) set(m schema.ModeID) {
	r.n++
	r.asks(fmt.Sprint("set", r.n), verb.SetMode{Mode: m}, schema.Precondition{})
	if r.s.Active() != m {
		r.t.Fatalf("in %s, not %s: %q", r.s.Active(), m, r.log)
	}
	r.log = nil
}

// wants lets the dance want something.
func (r *rig) wants(e ...Effect) {
	r.next = e
	r.do(func(t Step) { t.Notify(Touched{Area: "left"}) })
}

func (r *rig) expect(what string, want ...string) {
	r.t.Helper()
	if !slices.Equal(r.log, want) {
		r.t.Errorf("%s: %q, want %q", what, r.log, want)
	}
	r.log = nil
}

func TestInputsAreTakenOneAStepInTheirOrder(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"a", "b"} {
		r.s.Ask(effect.Dispatch{Key: command.KeyOf("op1", id), Args: verb.SetMode{Mode: "nowhere"}}, "")
	}
	r.do(Step.Decide)
	r.expect("the first step", "a REJECTED unknown_mode")
	if !r.s.Pending() {
		t.Error("nothing waits for the second step")
	}
	r.do(Step.Decide)
	r.expect("the second", "b REJECTED unknown_mode")
	r.s.Ask(effect.Dispatch{Key: command.KeyOf("op1", "c"), Args: verb.SetMode{Mode: "nowhere"}}, "")
	if !r.s.Drop(command.KeyOf("op1", "c")) {
		t.Error("a command that waits cannot be dropped")
	}
	r.settle()
	r.expect("dropped")
}

func TestCommandWhosePreconditionFailsChangesNothing(t *testing.T) {
	r := newRig(t)
	r.f.CurrentState.Mode = r.s.Active()
	if got := r.asks("a", verb.SetMode{Mode: "dance"}, schema.Precondition{Mode: "safe"}); len(got) != 1 ||
		got[0] != "a REJECTED precondition" || r.s.Active() != "mnl" {
		t.Errorf("in %s: %q", r.s.Active(), got)
	}
}

func TestMotionOfAModeEndsWhenItMayNotMove(t *testing.T) {
	drive, look := Drive{VX: 0.2}, Look{Yaw: 1}
	for _, x := range []struct {
		what   string
		change func(*rig)
		ended  []string
		moves  bool // it may set the other unit in motion again
	}{
		{"nothing changed", func(*rig) {}, nil, true},
		{"the robot is not enabled", func(r *rig) { r.f.Safety = schema.SafetyDisabled }, []string{"drive 0 0", "stop head"}, false},
		{"a safeguard", func(r *rig) { r.f.MotionBarred = true }, []string{"drive 0 0", "stop head"}, false},
		{"the link is lost", func(r *rig) { r.f.LinkLost = true }, []string{"drive 0 0", "stop head"}, false},
		{"nobody may use the head", func(r *rig) { r.f.NoLook = true }, []string{"stop head"}, true},
		{"nobody may use the drive", func(r *rig) { r.f.NoDrive = true }, []string{"drive 0 0"}, true},
		{"the mode is paused", func(r *rig) { r.s.Add(Input{Kind: Pause}) }, []string{"drive 0 0", "stop head"}, false},
		{"the head arrived", func(r *rig) { r.s.LookEnded(lookKeys + 1); r.f.MotionBarred = true }, []string{"drive 0 0"}, false},
	} {
		r := newRig(t)
		r.set("dance")
		r.wants(drive, look)
		r.expect("while it may move", "drive 0.2 0", "look 1")
		x.change(r)
		r.do(Step.Decide)
		slices.Sort(r.log) // a pause ends them in another order
		r.expect(x.what, x.ended...)
		r.do(Step.Decide)
		r.expect(x.what + ", once")
		if r.wants(drive, look); !x.moves && len(r.log) > 0 && x.what != "the mode is paused" {
			t.Errorf("%s: it moves again: %q", x.what, r.log)
		}
		r.log = nil
		r.wants(Drive{})
		r.expect(x.what+": standing still is always allowed", "drive 0 0")
	}
}

func TestMotionEndsWithTheMode(t *testing.T) {
	r := newRig(t)
	r.set("dance")
	r.wants(Drive{VX: 0.2}, Look{Yaw: 1})
	if got := r.asks("out", verb.SetMode{Mode: "mnl"}, schema.Precondition{}); !slices.Contains(got, "drive 0 0") ||
		!slices.Contains(got, "stop head") {
		t.Errorf("another mode is in charge, and the robot moves on: %q", got)
	}
}

func TestDisabledAndUnloadedModesStaySoAfterARestart(t *testing.T) {
	for _, x := range []struct {
		name    string
		off, on verb.Args
		value   string
	}{
		{"disable", verb.DisableMode{Mode: "dance"}, verb.EnableMode{Mode: "dance"}, switchedOff},
		{"unload", verb.UnloadController{Mode: "dance"}, verb.LoadController{Mode: "dance"}, unloaded},
	} {
		r := newRig(t)
		if r.asks("off", x.off, schema.Precondition{}); r.saved["mode.dance"] != x.value {
			t.Errorf("%s: saved %q", x.name, r.saved)
		}
		if got := r.asks("again", x.off, schema.Precondition{}); slices.ContainsFunc(got, func(l string) bool {
			return strings.HasPrefix(l, "save")
		}) {
			t.Errorf("%s: saved again without a change: %q", x.name, got)
		}
		r.boot()
		if got := r.asks("set", verb.SetMode{Mode: "dance"}, schema.Precondition{}); r.s.Active() != "mnl" {
			t.Errorf("%s: it can be set after a restart: %q", x.name, got)
		}
		r.asks("on", x.on, schema.Precondition{})
		if _, kept := r.saved["mode.dance"]; kept {
			t.Errorf("%s: its end is not saved: %q", x.name, r.saved)
		}
		r.boot()
		r.set("dance")
	}
}

func TestModeOnWhichOthersFallBackIsNeverRestoredAsDisabled(t *testing.T) {
	r := newRig(t)
	r.saved["mode.mnl"], r.saved["mode.safe"] = switchedOff, unloaded
	r.boot()
	for i, m := range r.cfg.Modes {
		if is := r.s.mode.Status[i]; is == schema.ModeDisabled || is == schema.ModeUnloaded {
			t.Errorf("%s is %s", m.ID, is)
		}
	}
}

func TestParametersAreKeptAndReported(t *testing.T) {
	r := newRig(t)
	if got := r.asks("p", verb.SetParam{Mode: "dance", Name: "pace", Value: verb.Any("0.8")}, schema.Precondition{}); !slices.Equal(got,
		[]string{"event mode_param", "save param.dance.pace=0.8", "p SUCCEEDED"}) {
		t.Errorf("set: %q", got)
	}
	if got := r.asks("q", verb.SetParam{Mode: "dance", Name: "pace", Value: verb.Any("2")}, schema.Precondition{}); !slices.Equal(got,
		[]string{"q REJECTED out_of_range"}) {
		t.Errorf("out of range: %q", got)
	}
	r.boot()
	if v := r.s.runner.Param("dance", "pace"); string(v) != "0.8" {
		t.Errorf("after a restart it is %s", v)
	}
	r.saved["param.dance.pace"] = "7" // allowed by an earlier release
	r.boot()
	if v := r.s.runner.Param("dance", "pace"); string(v) != "0.5" {
		t.Errorf("a value that is not allowed became %s", v)
	}
}

func TestHungModeHasAnAlertUntilItIsActiveAgain(t *testing.T) {
	r := newRig(t)
	r.saved[HungKey] = "dance"
	var raised []string
	r.boot() // the log of it is gone; the alert is raised by Restore
	r.do(func(t Step) { t.Restore(map[string]string{HungKey: "dance"}) })
	if raised = r.log; len(raised) != 1 || !strings.HasPrefix(raised[0], "raise mode_hung dance: ") ||
		!strings.HasSuffix(raised[0], "mode/set dance tries it again") {
		t.Errorf("raised %q", raised)
	}
	r.log = nil
	r.do(Step.EndStartup)
	r.expect("start-up has ended: it may be tried again", "save hung_mode=")
	r.s.Ask(effect.Dispatch{Key: command.KeyOf("op1", "a"), Args: verb.SetMode{Mode: "dance"}}, "")
	r.settle()
	if !slices.Contains(r.log, "clear mode_hung dance") {
		t.Errorf("it is active: %q", r.log)
	}
}

func TestFailedCalibrationSaysWhatToDo(t *testing.T) {
	for reason, hint := range map[schema.Reason]string{
		schema.ReasonUnitError: "correct the cause, then send mode/set str",
		schema.ReasonBadMap:    "assign places with a map that this body can read, or without one, then send mode/set str",
	} {
		r := newRig(t)
		r.set("str")
		r.do(func(t Step) { t.Calibrated(event.Calibrated{Run: r.run - 1, Reason: reason}) })
		r.expect("the end of an earlier calibration")
		r.do(func(t Step) { t.Calibrated(event.Calibrated{Run: r.run, Reason: reason}) })
		if !slices.Contains(r.log, "raise calibration_failed str: "+hint) {
			t.Errorf("%s: %q", reason, r.log)
		}
		r.settle()
		r.asks("again", verb.SetMode{Mode: "str", Restart: true}, schema.Precondition{})
		r.do(func(t Step) { t.Calibrated(event.Calibrated{Run: r.run}) })
		if !slices.Contains(r.log, "clear calibration_failed str") {
			t.Errorf("it succeeded: %q", r.log)
		}
	}
}

func TestOnlyTheManualModeTakesManualVerbs(t *testing.T) {
	r := newRig(t)
	for m, want := range map[schema.ModeID]string{"mnl": "", "dance": "the robot is in dance; mode/set mnl starts mnl"} {
		if r.set(m); r.s.NotManual() != want || r.s.Manual() != (want == "") {
			t.Errorf("in %s manual verbs are taken: %v, because %q, want %q", m, r.s.Manual(), r.s.NotManual(), want)
		}
		if got := r.s.InForce(); got != (verb.SetMode{Mode: m}) {
			t.Errorf("in %s the order in force is %v", m, got)
		}
	}
	r.set("mnl")
	if r.asks("p", verb.PauseMode{}, schema.Precondition{}); r.s.Manual() || r.s.NotManual() != "mnl is paused; mode/resume resumes it" {
		t.Errorf("while mnl is paused manual verbs are not taken because %q", r.s.NotManual())
	}
}

func TestFailedModeIsToldFromOneThatEnded(t *testing.T) {
	for name, c := range map[string]struct {
		in   Kind
		d    Decision
		want fallback
	}{
		"it died":                    {Died, Decision{On: OnDied, Fallback: "dance", Reason: "x"}, fallback{"dance", "x"}},
		"its link was lost":          {Tick, Decision{On: OnLinkLost, Fallback: "dance", Reason: "x"}, fallback{"dance", "x"}},
		"it died while it ended":     {Died, Decision{On: OnStopped}, fallback{"dance", schema.ReasonModeFailed}},
		"it did not end in time":     {Tick, Decision{On: OnStopTimeout}, fallback{"dance", schema.ReasonTimeout}},
		"somebody ended it":          {Kill, Decision{On: OnKill}, fallback{}},
		"another mode was asked for": {Set, Decision{On: OnSwitch}, fallback{}},
		"the boot mode cannot begin": {CalibOK, Decision{On: OnCalibratedAtBoot, Fallback: "ato"}, fallback{}},
	} {
		if got := failure("dance", Input{Kind: c.in}, &c.d); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
