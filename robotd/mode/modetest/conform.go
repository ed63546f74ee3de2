// Package modetest is the conformance test suite of the interface mode.Mode.
package modetest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/robotd/mode"
	"troupe/schema"
)

// patience is how many notices a mode may take to start or to stop.
const patience = 1000

// Conform runs the suite on the mode of a row.
func Conform(t *testing.T, row mode.Installed) {
	t.Helper()
	if row.ID == "" || row.Name == "" || row.New == nil || row.Conditional != (row.Ready != nil) {
		t.Fatalf("the row is incomplete: %+v", row)
	}
	for _, c := range checks {
		t.Run(c.promise, func(t *testing.T) { c.holds(t, row) })
	}
}

var checks = []struct {
	promise string
	holds   func(rapid.TB, mode.Installed)
}{
	{"readiness and pauses are asked without effects", asksChangeNothing},
	{"its parameters are described, and may have each value that they allow", takesParameters},
	{"it starts, or says why not", starts},
	{"it stops", stops},
	{"it pauses, goes on and stops in a pause", pauses},
	{"nothing is left of it when it is killed at any stage", dies},
	{"10,000 random notices bring nothing that does not belong to its stage", random},
}

// stage is how far a mode has come in its life.
type stage string

const (
	none     stage = "none"
	starting stage = "starting"
	running  stage = "running"
	paused   stage = "paused"
	stopping stage = "stopping"
)

// bed runs one mode and holds each of its effects against its stage.
type bed struct {
	t     rapid.TB
	row   mode.Installed
	r     *mode.Runner
	now   time.Duration
	robot mode.Robot
	at    stage
	goes  map[string]bool // calibration, story, drive: what goes on for the mode
	run   int64
	asked bool // a calibration was ordered and has not ended
}

func newBed(t rapid.TB, row mode.Installed) *bed {
	b := &bed{t: t, row: row, at: none, goes: map[string]bool{}}
	b.r = mode.NewRunner([]mode.Installed{row}, mode.Unguarded)
	b.robot = mode.Robot{MayMove: true, Units: []schema.Unit{
		{ID: "drive", Kind: schema.UnitDrive}, {ID: "head", Kind: schema.UnitHead}, {ID: "speaker", Kind: schema.UnitSpeaker},
		{ID: "screen", Kind: schema.UnitScreen},
	}}
	b.look()
	return b
}

func (b *bed) look() { b.r.Update(b.now, b.robot) }

// order gives the mode an order as the supervisor would, at a stage at which it could.
func (b *bed) order(do mode.Do) {
	switch do {
	case mode.DoStart:
		b.at = starting
	case mode.DoStop:
		b.at = stopping
	case mode.DoPause:
		b.at = paused
	case mode.DoResume:
		b.at = running
	case mode.DoCalibrate:
		b.asked = true
	case mode.DoEndCalibration:
		b.asked = false
	}
	b.r.Execute(mode.Order{Do: do, Mode: b.row.ID})
	if do == mode.DoKill {
		b.at = none
	}
	b.take(string(do), do == mode.DoKill)
}

func (b *bed) tell(n mode.Notice) {
	b.look()
	switch n := n.(type) {
	case mode.CalibrationEnded:
		b.goes["calibration"] = false
	case mode.Entered:
		b.goes["story"] = b.goes["story"] && n.Reason == ""
	}
	b.r.Notify(n)
	b.take("a notice", false)
}

// take looks at what the mode wants after a call.
func (b *bed) take(after string, killed bool) {
	b.t.Helper()
	ended := killed
	for _, e := range b.r.Effects() {
		switch e := e.(type) {
		case mode.Report:
			if killed || ended {
				b.t.Fatalf("after %s it reports %s, and has ended", after, e.Kind)
			}
			ended = b.report(after, e.Input)
			continue
		case mode.Calibrate:
			if b.goes["calibration"], b.run = true, e.Run; !b.asked {
				b.t.Fatalf("after %s it calibrates, and nobody asked for it", after)
			}
		case mode.EndCalibration:
			b.goes["calibration"] = false
		case mode.Enter:
			b.goes["story"] = true
		case mode.Leave:
			b.goes["story"] = false
		case mode.Drive:
			if b.goes["drive"] = e != (mode.Drive{}); b.goes["drive"] && (!b.robot.MayMove || b.at == paused) {
				b.t.Fatalf("after %s it drives, and is %s; the units may move: %v", after, b.at, b.robot.MayMove)
			}
		case mode.Look:
			if !b.robot.MayMove || b.at == paused || ended {
				b.t.Fatalf("after %s it turns the head, and is %s; the units may move: %v", after, b.at, b.robot.MayMove)
			}
		case mode.Stop:
			if !slices.Contains([]string{"soft-stop", "stop", "halt", "estop"}, e.Verb) || e.Why == "" {
				b.t.Fatalf("after %s it asks for a stop without a verb or a reason: %+v", after, e)
			}
		}
		if ended && (b.goes["calibration"] || b.goes["story"] || b.goes["drive"]) {
			b.t.Fatalf("after %s it begins %T, and has ended", after, e)
		}
	}
	b.r.Clear()
	if b.at == paused && b.goes["drive"] {
		b.t.Fatalf("after %s it is paused, and drives", after)
	}
	if ended {
		b.at, b.asked = none, false
		for what, goes := range b.goes {
			if goes {
				b.t.Fatalf("it ended after %s, and its %s goes on", after, what)
			}
		}
	}
}

// report holds a report against the stage, and says whether it is the mode's last.
func (b *bed) report(after string, in mode.Input) (last bool) {
	b.t.Helper()
	fits := map[mode.Kind][]stage{
		mode.Started: {starting}, mode.StartFailed: {starting}, mode.Stopped: {stopping},
		mode.Died: {starting, running, paused, stopping}, mode.CalibOK: {running, paused}, mode.CalibFailed: {running, paused},
	}[in.Kind]
	if in.Mode != b.row.ID || !slices.Contains(fits, b.at) {
		b.t.Fatalf("after %s, %s reports %s and is %s", after, in.Mode, in.Kind, b.at)
	}
	switch in.Kind {
	case mode.Started:
		b.at = running
	case mode.CalibOK, mode.CalibFailed:
		if !b.asked {
			b.t.Fatalf("after %s it reports %s, and nobody asked for it", after, in.Kind)
		}
		b.asked = false
	}
	if failed := in.Kind == mode.StartFailed || in.Kind == mode.Died || in.Kind == mode.CalibFailed; failed != (in.Reason != "") {
		b.t.Fatalf("after %s it reports %s with the reason %q", after, in.Kind, in.Reason)
	}
	return in.Kind == mode.StartFailed || in.Kind == mode.Died || in.Kind == mode.Stopped
}

// answer lets time pass, and tells the mode how what it began has come out.
func (b *bed) answer(why mode.Refusal) {
	b.now += 20 * time.Millisecond
	switch {
	case b.goes["calibration"]:
		b.tell(mode.CalibrationEnded{Refusal: why})
	case b.goes["story"] && b.at == starting:
		b.tell(mode.Entered{Refusal: why})
	default:
		b.tell(mode.TimePassed{})
	}
}

// until answers until the mode has left a stage.
func (b *bed) until(from stage, why mode.Refusal) {
	b.t.Helper()
	for range patience {
		if b.at != from {
			return
		}
		b.answer(why)
	}
	b.t.Fatalf("it is %s after %d notices", b.at, patience)
}

func (b *bed) start() {
	b.t.Helper()
	b.order(mode.DoStart)
	b.until(starting, mode.Refusal{})
	if b.at != running {
		b.t.Fatalf("it does not start, and nothing stands in its way; it is %s", b.at)
	}
}

var fails = mode.Refusal{Reason: schema.ReasonUnitError, Detail: "as the test says"}

func asksChangeNothing(t rapid.TB, row mode.Installed) {
	b := newBed(t, row)
	for _, robot := range []mode.Robot{b.robot, {}, {Story: fails}} {
		b.robot = robot
		b.look()
		if first, again := slices.Clone(b.r.NotReady()), b.r.NotReady(); !slices.Equal(first, again) {
			t.Errorf("asked twice, it is not ready for %v and for %v", first, again)
		}
	}
	silent := func() {
		if len(b.r.Effects()) > 0 {
			t.Errorf("a question has the effects %v", b.r.Effects())
		}
	}
	silent()
	b = newBed(t, row)
	if no := b.r.NotReady(); len(no) > 0 {
		t.Errorf("it is not ready on a robot that has everything: %v", no)
	}
	b.start()
	if first, again := b.r.MayPause(), b.r.MayPause(); first != again {
		t.Errorf("asked twice, it may not pause for %v and for %v", first, again)
	}
	silent()
}

func takesParameters(t rapid.TB, row mode.Installed) {
	seen := map[string]bool{}
	for _, p := range row.Params {
		if seen[p.Name] || !schema.ValidID(p.Name) || p.Why == "" || !slices.Contains(mode.ParameterTypes, p.Type) || p.Check(p.Default) != "" {
			t.Errorf("parameter %q is incomplete, or does not allow its default: %+v", p.Name, p)
		}
		seen[p.Name] = true
		for _, v := range allowed(p) {
			b := newBed(t, row)
			b.start()
			if a, _ := b.r.SetParam(row.ID, p.Name, v); a.Status != schema.StatusSucceeded {
				t.Errorf("parameter %s cannot be set to %s: %+v", p.Name, v, a)
			}
			b.answer(mode.Refusal{})
			if b.at != running {
				t.Errorf("with %s = %s it is %s", p.Name, v, b.at)
			}
		}
	}
}

// allowed lists values of a parameter, with those at its bounds.
func allowed(p mode.Parameter) []jsontext.Value {
	switch p.Type {
	case schema.ConfigBoolean:
		return []jsontext.Value{jsontext.Value("true"), jsontext.Value("false")}
	case schema.ConfigWord:
		var all []jsontext.Value
		for _, w := range p.OneOf {
			all = append(all, jsontext.Value(strconv.Quote(w)))
		}
		return all
	}
	return []jsontext.Value{jsontext.Value(fmt.Sprint(p.Min)), jsontext.Value(fmt.Sprint(p.Max)), p.Default}
}

func starts(t rapid.TB, row mode.Installed) {
	newBed(t, row).start()
	b := newBed(t, row)
	b.robot = mode.Robot{Story: fails}
	b.look()
	b.order(mode.DoStart) // although it is not ready
	b.until(starting, fails)
}

func stops(t rapid.TB, row mode.Installed) {
	for _, early := range []bool{false, true} {
		b := newBed(t, row)
		if b.order(mode.DoStart); !early {
			b.until(starting, mode.Refusal{})
		}
		if b.at == starting || b.at == running {
			b.order(mode.DoStop)
			b.until(stopping, mode.Refusal{})
		}
		if b.at != none {
			t.Errorf("it was stopped, early: %v, and is %s", early, b.at)
		}
	}
}

func pauses(t rapid.TB, row mode.Installed) {
	b := newBed(t, row)
	b.start()
	for range 2 {
		if b.r.MayPause().Reason == "" {
			b.order(mode.DoPause)
			b.tell(mode.Touched{Place: "left", On: true})
			b.answer(mode.Refusal{})
			b.order(mode.DoResume)
		}
		b.tell(mode.Touched{Place: "left"})
	}
	b.order(mode.DoPause)
	b.order(mode.DoStop)
	b.until(stopping, mode.Refusal{})
}

func dies(t rapid.TB, row mode.Installed) {
	for _, at := range []stage{starting, running, paused, stopping} {
		for _, calibrating := range []bool{false, true} {
			b := newBed(t, row)
			b.order(mode.DoStart)
			if at != starting {
				b.until(starting, mode.Refusal{})
				if calibrating {
					b.order(mode.DoCalibrate)
				}
				b.tell(mode.Touched{Place: "left", On: true})
				b.tell(mode.TimePassed{})
			}
			switch at {
			case paused:
				b.order(mode.DoPause)
			case stopping:
				b.order(mode.DoStop)
			}
			if b.at == none {
				continue // it had stopped at once
			}
			b.order(mode.DoKill)
			run := b.run
			for _, n := range []mode.Notice{mode.TimePassed{}, mode.Entered{}, mode.CalibrationEnded{}, mode.Touched{Place: "left", On: true}} {
				b.tell(n)
			}
			if b.r.Awaits(run) {
				t.Errorf("killed while %s, it still waits for its calibration", at)
			}
			b.start() // a new life
		}
	}
}

// random takes a mode through lives of random orders and notices.
func random(t rapid.TB, row mode.Installed) {
	const each = 100 // rapid makes 100 runs, or more if asked to
	rapid.Check(t, func(t *rapid.T) {
		b := newBed(t, row)
		for range each {
			b.now += time.Duration(rapid.IntRange(0, 500).Draw(t, "ms")) * time.Millisecond
			b.robot.MayMove = rapid.Bool().Draw(t, "may move")
			b.robot.People, b.robot.Bearing = rapid.IntRange(0, 2).Draw(t, "people"), rapid.Float64Range(-3, 3).Draw(t, "bearing")
			b.look()
			may := map[stage][]mode.Do{
				none:     {mode.DoStart},
				starting: {mode.DoStop, mode.DoKill},
				running:  {mode.DoStop, mode.DoKill, mode.DoPause, mode.DoCalibrate, mode.DoEndCalibration},
				paused:   {mode.DoStop, mode.DoKill, mode.DoResume},
				stopping: {mode.DoKill},
			}[b.at]
			if b.at == none || rapid.IntRange(0, 4).Draw(t, "what") == 0 {
				b.order(rapid.SampledFrom(may).Draw(t, "order"))
				continue
			}
			if len(row.Params) > 0 {
				p := rapid.SampledFrom(row.Params).Draw(t, "parameter")
				b.r.SetParam(row.ID, p.Name, rapid.SampledFrom(allowed(p)).Draw(t, "value"))
			}
			why := rapid.SampledFrom([]mode.Refusal{{}, fails}).Draw(t, "how it came out")
			switch rapid.IntRange(0, 4).Draw(t, "notice") {
			case 0:
				b.tell(mode.TimePassed{})
			case 1:
				b.tell(mode.Touched{Place: rapid.SampledFrom([]string{"left", "right", "front", "head", ""}).Draw(t, "place"), On: rapid.Bool().Draw(t, "on")})
			case 2:
				b.tell(mode.Entered{Refusal: why}) // late, or twice
			default:
				b.answer(why)
			}
		}
	})
}
