package drivertest

import (
	"math"
	"slices"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

// drive returns the drive of the body and checks that it states its limits.
func (s *harness) drive() schema.Unit {
	units := s.b.Body().Units
	u := units[slices.IndexFunc(units, func(u schema.Unit) bool { return u.Kind == schema.UnitDrive })]
	if u.MaxSpeedMPS <= 0 || u.MaxTurnRadPS <= 0 || u.BrakingMPS2 <= 0 {
		s.t.Fatalf("the drive does not state its speed, turn and braking limits: %+v", u)
	}
	return u
}

// driveFor drives manually for d and renews the velocity every Tick.
func (s *harness) driveFor(v driver.Velocity, d time.Duration) {
	v.TTL = driver.VelocityTTL
	for ; d > 0; d -= driver.Tick {
		s.b.Move(v)
		s.pass(driver.Tick)
	}
}

// speeds returns the speeds reported so far.
func (s *harness) speeds() []driver.Event {
	return slices.DeleteFunc(slices.Clone(s.seen), func(e driver.Event) bool { return e.Kind != driver.Speed })
}

// fastest returns the highest reported speed and turn rate.
func (s *harness) fastest() (v, w float64) {
	for _, e := range s.speeds() {
		v, w = max(v, math.Abs(e.VX)), max(w, math.Abs(e.WZ))
	}
	return v, w
}

func (s *harness) wantStandstill(why string) {
	s.t.Helper()
	got := s.speeds()
	if n := len(got); n == 0 || got[n-1].VX != 0 || got[n-1].WZ != 0 {
		s.t.Errorf("%s, but the drive reports %+v", why, got)
	}
}

func velocityEnds(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	s.b.Move(driver.Velocity{VX: 0.3, TTL: time.Hour})
	s.pass(200 * time.Millisecond)
	s.pass(3 * time.Second)
	time.Sleep(time.Second) // at standstill the watchdog does not trip
	s.read()
	s.wantState(s.unit(schema.UnitDrive), driver.Run)
	s.b.Move(driver.Velocity{VX: 0.3, TTL: driver.VelocityTTL})
	time.Sleep(driver.VelocityTTL - driver.Tick)
	s.read()
	s.wantState(s.unit(schema.UnitDrive), driver.Error) // it moved, so the watchdog trips
}

func reportsStandstill(t *testing.T, s *harness) {
	u := s.drive()
	s.order(driver.ToRun)
	for _, way := range []float64{1, -1} {
		s.seen = nil
		s.driveFor(driver.Velocity{VX: way * u.MaxSpeedMPS}, 5*time.Second)
		v, _ := s.fastest()
		if v < u.MaxSpeedMPS/2 || v > u.MaxSpeedMPS {
			t.Fatalf("driven at %v for 5 s it was %v m/s fast", u.MaxSpeedMPS, v)
		}
		if n, most := len(s.speeds()), int(5*time.Second/driver.SpeedEvery)+1; n > most {
			t.Errorf("the speed was reported %d times in 5 s, want at most %d", n, most)
		}
		brakes := time.Duration(v / u.BrakingMPS2 * float64(time.Second))
		s.pass(driver.VelocityTTL + brakes + 100*time.Millisecond)
		s.wantStandstill("the velocity is over")
		s.seen = nil
		s.pass(time.Second)
		if got := s.speeds(); len(got) > 0 {
			t.Errorf("at standstill, but still reports %+v", got)
		}
	}
}

func velocityLimited(t *testing.T, s *harness) {
	u := s.drive()
	s.order(driver.ToRun)
	for _, wild := range []float64{10, -10, math.Inf(1), math.NaN()} {
		s.driveFor(driver.Velocity{VX: wild * u.MaxSpeedMPS, WZ: wild * u.MaxTurnRadPS}, 3*time.Second)
	}
	v, w := s.fastest()
	if v > u.MaxSpeedMPS || w > u.MaxTurnRadPS {
		t.Errorf("it was %v m/s and %v rad/s fast, its limits are %v and %v", v, w, u.MaxSpeedMPS, u.MaxTurnRadPS)
	}
}

func velocityStopped(t *testing.T, s *harness) {
	u := s.drive()
	for _, o := range []driver.Order{driver.ToStop, driver.ToIdle} {
		s.order(driver.ToRun)
		s.driveFor(driver.Velocity{VX: u.MaxSpeedMPS}, 2*time.Second)
		s.order(o)
		s.driveFor(driver.Velocity{VX: u.MaxSpeedMPS}, time.Duration(u.MaxSpeedMPS/u.BrakingMPS2*float64(time.Second))+100*time.Millisecond)
		s.wantStandstill("the drive may not move")
		s.wantState(u.ID, driver.Idle)
	}
}
