// Package drivertest is what every body has to prove: the promises of the
// interface driver.Driver, as a suite of tests.
package drivertest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// Body is a body under test with what a tester may do to it from outside.
type Body interface {
	driver.Driver
	Break(unit, what string)
	Repair(unit string)
	PressStop(input string, pressed bool)
	Hang(unit string, on bool)
}

// Conform runs the suite. open makes a body that is not open yet and has a
// speaker, a face, a led, a head and a drive that needs no homing and says its
// limits and how it brakes. The suite runs
// in bubbles of testing/synctest: a body may use timers, but no devices.
func Conform(t *testing.T, open func() Body) {
	t.Helper()
	in := func(name string, f func(*testing.T, *stand)) {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, open())
				f(t, s)
				s.close()
			})
		})
	}
	in("it tells every unit's state after it was opened", everyUnitTold)
	in("it opens once", opensOnce)
	in("nothing moves before it is enabled", nothingMovesDisabled)
	in("every command is answered once", everyCommandAnswered)
	in("a stopped command is answered no more", stoppedIsSilent)
	in("a bad command is refused, not obeyed", badCommands)
	in("an order to stop brakes to standstill and ends in idle", stopEndsIdle)
	in("a halt ends in error", haltEndsInError)
	in("an order to error is obeyed from every state", errorFromEveryState)
	in("an unknown order is no permission", unknownOrder)
	in("a unit that moves unfed ends in error and stands", watchdog)
	in("the watchdog bites though nobody reads events", watchdogUnread)
	in("a unit that stands is not bitten", restIsNotBitten)
	in("a reset waits for the cause to be gone", resetIsEarned)
	in("a stop input stops what moves", stopInput)
	in("a unit that hangs can be stopped", hangStops)
	in("a velocity ends by itself", velocityEnds)
	in("a velocity that is over ends in standing, which is told", standingTold)
	in("a velocity is brought within the drive's limits", velocityLimited)
	in("a velocity ends with the permission to move", velocityStopped)
	in("no method waits for a reader", nobodyWaits)
	in("calibration succeeds, and fails with a broken unit", calibrates)
	in("calibration ends with its context", calibrationEnds)
	in("close ends everything, twice too", closes)
	t.Run("under any orders, nothing runs that was not enabled", func(t *testing.T) { anyOrders(t, open) })
}

func everyUnitTold(t *testing.T, s *stand) {
	for _, u := range s.b.Body().Units {
		s.wantState(u.ID, driver.Idle)
	}
}

func opensOnce(t *testing.T, s *stand) {
	if s.b.Open(t.Context()) == nil {
		t.Error("it was opened twice")
	}
}

func everyCommandAnswered(t *testing.T, s *stand) {
	s.order(driver.ToRun)
	speaker, face, led, head, drive := s.unit(schema.UnitSpeaker), s.unit(schema.UnitFace), s.unit(schema.UnitLED), s.unit(schema.UnitHead), s.unit(schema.UnitDrive)
	x := 0.2
	near := far()
	near.XM, near.YM = &x, &x
	faces := s.b.Body().Units[slices.IndexFunc(s.b.Body().Units, func(u schema.Unit) bool { return u.Kind == schema.UnitFace })].Faces
	keys := []uint64{
		s.start(speaker, hello()), s.start(head, look(0.5)), s.start(drive, near),
		s.start(face, score.Action{Type: score.TypeFace, Face: faces[0]}),
		s.start(led, score.Action{Type: score.TypeLED, Colour: "#102030"}),
	}
	s.pass(30 * time.Second)
	for _, k := range keys {
		s.wantAnswer(k, driver.Done, "")
	}
}

func stoppedIsSilent(t *testing.T, s *stand) {
	s.order(driver.ToRun)
	end := int64(1000)
	keys := []uint64{
		s.start(s.unit(schema.UnitSpeaker), hello()), s.start(s.unit(schema.UnitHead), look(0.5)), s.start(s.unit(schema.UnitDrive), far()),
		s.start(s.unit(schema.UnitLED), score.Action{Type: score.TypeLED, Colour: "#102030", EndMS: &end}),
	}
	s.pass(100 * time.Millisecond)
	for _, k := range keys {
		s.b.Stop(k)
		s.b.Stop(k)
	}
	s.b.Stop(99)
	s.pass(30 * time.Second)
	for _, k := range keys {
		if got := s.answers(k); len(got) != 0 {
			t.Errorf("command %d was stopped and then answered %+v", k, got)
		}
	}
	s.wantState(s.unit(schema.UnitDrive), driver.Run)
}

func badCommands(t *testing.T, s *stand) {
	s.order(driver.ToRun)
	s.key++
	s.b.Start(driver.Command{Key: s.key, Unit: s.unit(schema.UnitSpeaker)})
	empty := s.key
	keys := []uint64{
		empty, s.start("no-such-unit", hello()), s.start(s.unit(schema.UnitDrive), hello()), s.start(s.unit(schema.UnitSpeaker), far()),
		s.start(s.unit(schema.UnitHead), look(100)), s.start(s.unit(schema.UnitFace), score.Action{Type: score.TypeFace, Face: "no-such-face"}),
		s.start(s.unit(schema.UnitSpeaker), score.Action{Type: score.TypeSound, Sound: "no-such-sound"}),
		s.start(s.unit(schema.UnitDrive), score.Action{Type: score.TypeGoto, Point: "no-such-point"}),
		s.start(s.unit(schema.UnitDrive), score.Action{Type: score.TypeGoto}),
	}
	s.pass(time.Second)
	for _, k := range keys {
		if got := s.answers(k); len(got) != 1 || got[0].Kind != driver.Failed || got[0].Reason == "" || got[0].Detail == "" {
			t.Errorf("bad command %d was answered %+v", k, got)
		}
	}
}

func hangStops(t *testing.T, s *stand) {
	s.order(driver.ToRun)
	s.b.Hang(s.unit(schema.UnitDrive), true)
	s.b.Hang(s.unit(schema.UnitSpeaker), true)
	drive, speech := s.start(s.unit(schema.UnitDrive), far()), s.start(s.unit(schema.UnitSpeaker), hello())
	s.pass(10 * time.Second)
	if len(s.answers(drive))+len(s.answers(speech)) != 0 {
		t.Fatal("a unit that hangs answered")
	}
	s.b.Stop(speech)
	s.order(driver.ToStop)
	s.pass(2 * time.Second)
	s.wantState(s.unit(schema.UnitDrive), driver.Idle)
	s.wantAnswer(drive, driver.Failed, schema.ReasonStopped)
}

func nobodyWaits(t *testing.T, s *stand) {
	s.order(driver.ToRun)
	for range 5000 {
		s.key++
		s.b.Start(driver.Command{Key: s.key, Unit: "no-such-unit", Do: &score.Action{}})
		s.b.Stop(s.key + 100_000)
		s.b.Feed()
	}
	s.b.Order(driver.ToError)
	s.read()
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
	for k := uint64(1); k <= 5000; k++ {
		if len(s.answers(k)) != 1 {
			t.Fatalf("command %d was answered %+v", k, s.answers(k))
		}
	}
}

func calibrates(t *testing.T, s *stand) {
	run := func() (driver.Calibration, error) {
		var c driver.Calibration
		var err error
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c, err = s.b.Calibrate(t.Context())
		}()
		for range 500 {
			s.pass(driver.Tick)
			select {
			case <-ended:
				return c, err
			default:
			}
		}
		t.Fatal("calibration does not end")
		return c, err
	}
	if c, err := run(); err != nil || !c.OK() {
		t.Errorf("got %+v, %v", c, err)
	}
	s.b.Break(s.unit(schema.UnitHead), "stuck")
	if c, err := run(); err != nil || c.OK() || !slices.ContainsFunc(c.Units, func(u driver.Calibrated) bool {
		return u.Unit == s.unit(schema.UnitHead) && u.Reason == schema.ReasonUnitError && u.Detail == "stuck"
	}) {
		t.Errorf("with a broken unit: got %+v, %v", c, err)
	}
}

func calibrationEnds(t *testing.T, s *stand) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.b.Calibrate(ctx); err == nil {
		t.Error("it went on without its context")
	}
	ended := make(chan error)
	go func() {
		_, err := s.b.Calibrate(t.Context())
		ended <- err
	}()
	synctest.Wait()
	if _, err := s.b.Calibrate(t.Context()); err == nil {
		t.Error("two calibrations at once")
	}
	if err := s.b.Close(); err != nil {
		t.Error(err)
	}
	if <-ended == nil {
		t.Error("a closed body calibrates")
	}
}

func closes(t *testing.T, s *stand) {
	s.order(driver.ToRun)
	s.start(s.unit(schema.UnitDrive), far())
	s.pass(time.Second)
	s.close()
	s.close()
	s.read()
	if !s.done {
		t.Error("the events go on")
	}
	s.b.Start(driver.Command{Key: 1000, Unit: s.unit(schema.UnitFace)})
	s.b.Stop(1000)
	s.b.Order(driver.ToRun)
	s.b.Feed()
}
