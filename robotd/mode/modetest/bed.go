package modetest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"troupe/robotd/mode"
	"troupe/schema"
)

// stage is a mode's stage in its lifecycle.
type stage string

const (
	none     stage = "none"
	starting stage = "starting"
	running  stage = "running"
	paused   stage = "paused"
	stopping stage = "stopping"
)

// bed runs one mode and checks that each of its effects is allowed at its stage.
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
	b.updateRunner()
	return b
}

func (b *bed) updateRunner() { b.r.Update(b.now, b.robot) }

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
	b.r.Execute(mode.Call{Do: do, Mode: b.row.ID})
	if do == mode.DoKill {
		b.at = none
	}
	b.checkEffects(string(do), do == mode.DoKill)
}

func (b *bed) tell(n mode.Notice) {
	b.updateRunner()
	switch n := n.(type) {
	case mode.CalibrationEnded:
		b.goes["calibration"] = false
	case mode.StoryAnswered:
		b.goes["story"] = b.goes["story"] && n.Reason == ""
	}
	b.r.Notify(n)
	b.checkEffects("a notice", false)
}

// checkEffects checks that each effect of the last call is allowed at the mode's stage, and removes
// them.
func (b *bed) checkEffects(after string, killed bool) {
	b.t.Helper()
	ended := killed
	for _, e := range b.r.Effects() {
		switch e := e.(type) {
		case mode.Input:
			if killed || ended {
				b.t.Fatalf("after %s it reports %s, and has ended", after, e.Kind)
			}
			ended = b.report(after, e)
			continue
		case mode.Calibrate:
			if b.goes["calibration"], b.run = true, e.Run; !b.asked {
				b.t.Fatalf("after %s it calibrates, and nobody asked for it", after)
			}
		case mode.EndCalibration:
			b.goes["calibration"] = false
		case mode.BeginStory:
			b.goes["story"] = true
		case mode.EndStory:
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

// report checks that a report is allowed at the stage, and returns whether it is the mode's last.
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
		b.tell(mode.StoryAnswered{Refusal: why})
	default:
		b.tell(mode.TimePassed{})
	}
}

// until answers until the mode has left a stage.
func (b *bed) until(from stage, why mode.Refusal) {
	b.t.Helper()
	for range maxNotices {
		if b.at != from {
			return
		}
		b.answer(why)
	}
	b.t.Fatalf("it is %s after %d notices", b.at, maxNotices)
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
