package robot

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/robotd/brain"
	"troupe/robotd/config"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/page"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/metric/metrictest"
)

// bareLoop is a loop around a robot whose effects go into a list.
func bareLoop(t testing.TB, b driver.Body) (*loop, *[]effect.Effect) {
	return guardedLoop(t, b, mode.Unguarded)
}

func guardedLoop(t testing.TB, b driver.Body, guard mode.Guard) (*loop, *[]effect.Effect) {
	cfg := config.Defaults("r1")
	start := time.Now()
	state, _ := brain.New(&cfg, "boot", b, brain.Memory{Boots: 1}, mode.NewRunner(modes, guard), nowAt(start))
	l := newLoop(state, start, slog.New(slog.NewTextHandler(t.Output(), nil)))
	var done []effect.Effect
	l.carryOut = func(effects []effect.Effect, _ bool) { done = append(done, effects...) }
	l.unitsOff = func() {}
	return l, &done
}

var twoMovers = driver.Body{Units: []schema.Unit{{ID: "head", Kind: schema.UnitHead}, {ID: "drive", Kind: schema.UnitDrive}}}

// answerEffects makes calibrations succeed and saves reach the disk; also sees every effect.
func answerEffects(l *loop, also func(effect.Effect)) {
	inner := l.carryOut
	l.carryOut = func(effects []effect.Effect, more bool) {
		inner(effects, more)
		for _, e := range effects {
			switch e := e.(type) {
			case effect.Calibrate:
				l.events <- event.Calibrated{Run: e.Run}
			case effect.SaveRequests:
				for _, r := range e.Put {
					l.events <- event.RequestsSaved{Keys: []requestKey{r.Key()}}
				}
			}
			also(e)
		}
	}
}

func TestStopOvertakesWaitingEvents(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, done := bareLoop(t, twoMovers)
		ctx, end := context.WithCancel(t.Context())
		for i := range eventQueue {
			l.events <- event.Command{Client: fmt.Sprint("c", i%30), Group: "sys", Verb: "ping"}
		}
		l.stops <- event.Command{Client: "op1", Group: "safety", Verb: "estop"}
		go func() {
			time.Sleep(time.Minute)
			end()
		}()
		if err := l.run(ctx, time.Second, nil); err != nil {
			t.Fatal(err)
		}
		for i, e := range *done {
			if n, ok := e.(effect.LogTransition); ok && n.Machine == "safety" {
				if n.To != string(schema.SafetyEStop) {
					t.Errorf("the first thing that the safety core did is %+v", n)
				}
				for _, before := range (*done)[:i] {
					if _, ok := before.(effect.Publish); ok {
						t.Error("something that waited was answered before the stop was taken")
					}
				}
				return
			}
		}
		t.Error("the stop was never taken")
	})
}

// TestPanicInAStepSwitchesTheUnitsOff sends an event that Step does not know.
func TestPanicInAStepSwitchesTheUnitsOff(t *testing.T) {
	l, _ := bareLoop(t, twoMovers)
	off := false
	l.unitsOff = func() { off = true }
	l.events <- nil
	err := l.run(t.Context(), time.Second, nil)
	if err == nil || !strings.Contains(err.Error(), "no such event") {
		t.Errorf("the loop ended with %v", err)
	}
	if !off {
		t.Error("the units were not switched off")
	}
}

// TestLoopEndsEvenIfTheRobotDoesNot holds a unit in run for ever.
func TestLoopEndsEvenIfTheRobotDoesNot(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, _ := bareLoop(t, twoMovers)
		ctx, end := context.WithCancel(t.Context())
		answerEffects(l, func(e effect.Effect) {
			if o, ok := e.(effect.Order); ok && o.Order == driver.ToRun {
				l.events <- event.Reported{Event: driver.Event{Kind: driver.Unit, Unit: "drive", State: driver.Run}}
			}
		})
		go func() {
			time.Sleep(time.Second)
			l.events <- event.Command{Client: "op1", Group: "safety", Verb: "enable"}
			time.Sleep(time.Second)
			end()
		}()
		began := time.Now()
		if err := l.run(ctx, 2*time.Second, nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 5*time.Second {
			t.Errorf("the loop ended after %v, want 2 s after it was asked to", took)
		}
	})
}

// TestLateTicksAreReported lets single steps take long, of a robot that gets many commands
// meanwhile and before.
func TestLateTicksAreReported(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, _ := bareLoop(t, twoMovers)
		l.meter = newMeter(Page{MetricsToken: "token"}, 20*time.Millisecond)
		ctx, end := context.WithCancel(t.Context())
		began := time.Now()
		stalls := []time.Duration{time.Minute, time.Minute + 2*time.Second, time.Minute + 4*time.Second}
		var missed []string
		answerEffects(l, func(e effect.Effect) {
			if save, ok := e.(effect.SaveEvent); ok {
				if e, _ := schema.Decode[schema.Event](save.Payload); e.Type == "deadline_missed" {
					missed = append(missed, fmt.Sprintf("%v %s", time.Since(began).Truncate(time.Second), e.Data))
				}
			}
		})
		inner := l.carryOut
		l.carryOut = func(effects []effect.Effect, more bool) {
			if inner(effects, more); len(stalls) > 0 && time.Since(began) >= stalls[0] {
				stalls = stalls[1:]
				time.Sleep(time.Second)
			}
		}
		go func() {
			for range 12000 {
				time.Sleep(7 * time.Millisecond)
				l.send(ctx, event.Command{Client: "op1", Group: "sys", Verb: "ping"})
			}
			end()
		}()
		if err := l.run(ctx, time.Second, nil); err != nil {
			t.Fatal(err)
		}
		served := metrictest.Values(t, metrictest.Scrape(t, l.meter.handler(&Config{ID: "r1", Data: t.TempDir()}, &viewed{err: page.ErrSilent})))
		if n := served["troupe_robotd_loop_deadlines_missed_total"]; n != 3 || served["troupe_robotd_answers"] != 0 {
			t.Errorf("metrics count %v late periods, and answers is %v", n, served["troupe_robotd_answers"])
		}
		if len(missed) != 2 || !strings.HasPrefix(missed[0], "1m1s ") || !strings.HasPrefix(missed[1], "1m11s ") || !strings.HasSuffix(missed[1], `"count":2}`) {
			t.Errorf("missed deadlines: %q", missed)
		}
	})
}

// TestIdleRobotMakesFewSteps counts the steps of an hour without any client.
func TestIdleRobotMakesFewSteps(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, _ := bareLoop(t, twoMovers)
		steps := 0
		inner := l.carryOut
		l.carryOut = func(effects []effect.Effect, more bool) { steps++; inner(effects, more) }
		ctx, end := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Hour)
			end()
		}()
		if err := l.run(ctx, time.Second, nil); err != nil {
			t.Fatal(err)
		}
		if most := 5 * 3600; steps > most {
			t.Errorf("%d steps in an hour without any client, want at most %d", steps, most)
		}
	})
}

// TestStopThatOvertakesAnEnableWins sends both, with the link's sequence numbers.
func TestStopThatOvertakesAnEnableWins(t *testing.T) {
	for _, c := range []struct {
		name         string
		enable, stop uint64
		want         schema.SafetyState
	}{
		{"the enable is older", 1, 2, schema.SafetyDisabled},
		{"the enable is newer", 2, 1, schema.SafetyEnabled},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				l, done := bareLoop(t, twoMovers)
				answerEffects(l, func(effect.Effect) {})
				p := mqttTranslator{loop: l, ns: schema.DefaultNamespace, id: "r1", log: l.log, ctx: t.Context()}
				ctx, end := context.WithCancel(t.Context())
				go func() {
					time.Sleep(time.Second)
					p.arrived(link.Message{Topic: "troupe/v1/robots/r1/cmd/op1/safety/stop", N: c.stop})
					p.arrived(link.Message{Topic: "troupe/v1/robots/r1/cmd/op1/safety/enable", N: c.enable})
					time.Sleep(time.Second)
					end()
				}()
				if err := l.run(ctx, time.Second, nil); err != nil {
					t.Fatal(err)
				}
				at := schema.SafetyDisabled
				for _, e := range *done {
					if n, ok := e.(effect.LogTransition); ok && n.Machine == "safety" && n.To == string(schema.SafetyEnabled) {
						at = schema.SafetyEnabled
					}
				}
				if at != c.want {
					t.Errorf("the robot came to %s, want %s", at, c.want)
				}
			})
		})
	}
}
