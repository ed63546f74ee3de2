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

// maxNotices is how many notices a mode may take to start or to stop.
const maxNotices = 1000

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
	{"nothing is left of it when it is killed at any stage", leavesNothingWhenKilled},
	{"10,000 random notices bring nothing that does not belong to its stage", random},
}

func asksChangeNothing(t rapid.TB, row mode.Installed) {
	b := newBed(t, row)
	for _, robot := range []mode.Robot{b.robot, {}, {NoStory: fails}} {
		b.robot = robot
		b.updateRunner()
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
		if seen[p.Name] || !schema.ValidID(p.Name) || p.Purpose == "" || !slices.Contains(mode.ParameterTypes, p.Type) ||
			p.Check(p.Default) != "" {
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
	b.robot = mode.Robot{NoStory: fails}
	b.updateRunner()
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
			b.tell(mode.Touched{Area: "left", On: true})
			b.answer(mode.Refusal{})
			b.order(mode.DoResume)
		}
		b.tell(mode.Touched{Area: "left"})
	}
	b.order(mode.DoPause)
	b.order(mode.DoStop)
	b.until(stopping, mode.Refusal{})
}

func leavesNothingWhenKilled(t rapid.TB, row mode.Installed) {
	for _, at := range []stage{starting, running, paused, stopping} {
		for _, calibrating := range []bool{false, true} {
			b := newBed(t, row)
			b.order(mode.DoStart)
			if at != starting {
				b.until(starting, mode.Refusal{})
				if calibrating {
					b.order(mode.DoCalibrate)
				}
				b.tell(mode.Touched{Area: "left", On: true})
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
			for _, n := range []mode.Notice{mode.TimePassed{}, mode.StoryAnswered{}, mode.CalibrationEnded{}, mode.Touched{Area: "left", On: true}} {
				b.tell(n)
			}
			if b.r.Awaits(run) {
				t.Errorf("killed while %s, it still waits for its calibration", at)
			}
			b.start() // it can be started again
		}
	}
}

// random starts and ends a mode many times, with random orders and notices in between.
func random(t rapid.TB, row mode.Installed) {
	const each = 100 // rapid makes 100 runs, or more if asked to
	rapid.Check(t, func(t *rapid.T) {
		b := newBed(t, row)
		for range each {
			b.now += time.Duration(rapid.IntRange(0, 500).Draw(t, "ms")) * time.Millisecond
			b.robot.MayMove = rapid.Bool().Draw(t, "may move")
			b.robot.People, b.robot.Bearing = rapid.IntRange(0, 2).Draw(t, "people"), rapid.Float64Range(-3, 3).Draw(t, "bearing")
			b.updateRunner()
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
				b.tell(mode.Touched{Area: rapid.SampledFrom([]string{"left", "right", "front", "head", ""}).Draw(t, "place"),
					On: rapid.Bool().Draw(t, "on")})
			case 2:
				b.tell(mode.StoryAnswered{Refusal: why}) // late, or twice
			default:
				b.answer(why)
			}
		}
	})
}
