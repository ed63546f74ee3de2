package drivertest

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

func nothingMovesDisabled(t *testing.T, s *harness) {
	s.b.Move(driver.Velocity{VX: 0.3, TTL: time.Second})
	drive, head := s.start(s.unit(schema.UnitDrive), far()), s.start(s.unit(schema.UnitHead), look(0.5))
	s.pass(time.Second)
	s.wantAnswer(drive, driver.Failed, schema.ReasonSafetyDisabled)
	s.wantAnswer(head, driver.Failed, schema.ReasonSafetyDisabled)
}

func stopEndsIdle(t *testing.T, s *harness) {
	for _, o := range []driver.Order{driver.ToStop, driver.ToIdle} {
		s.order(driver.ToRun)
		key := s.start(s.unit(schema.UnitDrive), far())
		s.pass(2 * time.Second)
		s.order(o)
		s.wantState(s.unit(schema.UnitDrive), driver.Run) // still braking
		late := s.start(s.unit(schema.UnitDrive), far())
		s.pass(3 * time.Second)
		s.wantAnswer(key, driver.Failed, schema.ReasonStopped)
		s.wantAnswer(late, driver.Failed, schema.ReasonSafetyDisabled)
		s.wantState(s.unit(schema.UnitDrive), driver.Idle)
		s.wantState(s.unit(schema.UnitHead), driver.Idle)
	}
}

func haltEndsInError(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	key := s.start(s.unit(schema.UnitDrive), far())
	s.pass(2 * time.Second)
	s.order(driver.ToHalt)
	s.wantState(s.unit(schema.UnitDrive), driver.Halt)
	s.wantAnswer(key, driver.Failed, schema.ReasonStopped)
	s.pass(2 * time.Second)
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
	if f := s.faults[s.unit(schema.UnitDrive)]; f != "" {
		t.Errorf("a fault is reported without a cause: %q", f)
	}
	s.order(driver.ToRun)
	s.pass(time.Second)
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
}

func errorFromEveryState(t *testing.T, s *harness) {
	drive := s.unit(schema.UnitDrive)
	reach := map[driver.State]func(){
		driver.Idle: func() {},
		driver.Run:  func() { s.order(driver.ToRun) },
		driver.Halt: func() {
			s.order(driver.ToRun)
			s.start(drive, far())
			s.pass(time.Second)
			s.order(driver.ToHalt)
		},
		driver.Error: func() { s.order(driver.ToError) },
	}
	for _, from := range driver.States {
		reach[from]()
		s.wantState(drive, from)
		s.order(driver.ToError)
		s.wantState(drive, driver.Error)
		s.pass(2 * time.Second)
		s.order(driver.ToReset)
		s.pass(2 * time.Second)
		s.wantState(drive, driver.Idle)
	}
}

func unknownOrder(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	s.start(s.unit(schema.UnitDrive), far())
	s.pass(time.Second)
	s.order("dance")
	s.pass(time.Second)
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
}

func watchdog(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	key := s.start(s.unit(schema.UnitDrive), far())
	s.pass(2 * time.Second)
	time.Sleep((driver.WatchdogTicks + 2) * driver.Tick)
	s.read()
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
	s.wantAnswer(key, driver.Failed, schema.ReasonUnitError)
	if s.faults[s.unit(schema.UnitDrive)] == "" {
		t.Error("no fault is reported")
	}
	s.pass(time.Second) // fed again: the cause is gone, the error is not
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
	if f := s.faults[s.unit(schema.UnitDrive)]; f != "" {
		t.Errorf("the body is fed again, but still reports %q", f)
	}
}

func watchdogUnread(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	s.start(s.unit(schema.UnitDrive), far())
	s.pass(2 * time.Second)
	time.Sleep(time.Second) // robotd hangs: it neither feeds nor reads
	s.seen = nil
	s.read()
	for i, e := range s.seen {
		if e.Kind == driver.Unit && e.State == driver.Error {
			break
		}
		if i == len(s.seen)-1 {
			t.Errorf("no error among %+v", s.seen)
		}
	}
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
	s.order(driver.ToReset) // robotd feeds no unit in error; a person can reset it all the same
	time.Sleep(10 * time.Second)
	s.read()
	s.wantState(s.unit(schema.UnitDrive), driver.Idle)
}

func watchdogIgnoresRest(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	time.Sleep(10 * time.Second)
	s.read()
	s.wantState(s.unit(schema.UnitDrive), driver.Run)
	s.wantState(s.unit(schema.UnitHead), driver.Run)
}

func resetNeedsCauseGone(t *testing.T, s *harness) {
	head := s.unit(schema.UnitHead)
	s.order(driver.ToRun)
	key := s.start(head, look(1))
	s.pass(100 * time.Millisecond)
	s.b.Break(head, "a gear is off")
	s.read()
	s.wantState(head, driver.Error)
	s.wantAnswer(key, driver.Failed, schema.ReasonUnitError)
	s.order(driver.ToReset)
	s.pass(5 * time.Second)
	s.wantState(head, driver.Error)
	s.b.Repair(head)
	s.pass(5 * time.Second)
	s.wantState(head, driver.Idle)
	s.order(driver.ToRun)
	s.wantState(head, driver.Run)
}

func stopInput(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	key := s.start(s.unit(schema.UnitDrive), far())
	s.pass(2 * time.Second)
	s.b.PressStop("bumper", true)
	s.read()
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
	s.wantState(s.unit(schema.UnitHead), driver.Error)
	s.wantAnswer(key, driver.Failed, schema.ReasonUnitError)
	if !slices.ContainsFunc(s.seen, func(e driver.Event) bool {
		return e.Kind == driver.Sensed && e.Signal == driver.EStopInput && e.Name == "bumper" && e.On
	}) {
		t.Error("the stop input was not reported")
	}
	s.order(driver.ToReset)
	s.pass(5 * time.Second)
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
	s.b.PressStop("bumper", false)
	s.pass(5 * time.Second)
	s.wantState(s.unit(schema.UnitDrive), driver.Idle)
}
