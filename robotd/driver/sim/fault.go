package sim

import (
	"troupe/robotd/driver"
	"troupe/schema"
)

// What follows is what happens to a body from outside, on demand.

// FailNext lets the next command for a unit fail.
func (s *Sim) FailNext(unit string, why schema.Reason) {
	s.post(false, func() { s.failNext[unit] = why })
}

// Break breaks a unit, Repair mends it. A unit that moves stays in error until
// it is reset.
func (s *Sim) Break(unit, what string) { s.post(false, func() { s.breaks(unit, what) }) }

// Repair takes the cause of a unit's error away.
func (s *Sim) Repair(unit string) { s.post(false, func() { s.breaks(unit, "") }) }

func (s *Sim) breaks(unit, what string) {
	for i := range s.movers {
		if s.movers[i].id == unit {
			s.movers[i].broken = what
			s.judge(&s.movers[i])
			return
		}
	}
	if s.still[unit] == what {
		return
	}
	if what == "" {
		delete(s.still, unit)
		s.tell(driver.Event{Kind: driver.Unit, Unit: unit, State: driver.Idle})
		return
	}
	s.still[unit] = what
	switch unit {
	case speaker:
		for _, v := range s.voices {
			s.failed(v.key, schema.ReasonUnitError, what)
		}
		s.voices = nil
	case face:
		s.loseLamp(&s.face, what)
	case led:
		s.loseLamp(&s.led, what)
	}
	s.tell(driver.Event{Kind: driver.Unit, Unit: unit, State: driver.Error, Detail: what})
}

func (s *Sim) loseLamp(l *lamp, what string) {
	if l.key != 0 {
		s.failed(l.key, schema.ReasonUnitError, what)
		l.release(l.key)
	}
}

// SetBattery sets the level, a share of 1.
func (s *Sim) SetBattery(level float64) {
	s.post(false, func() {
		s.level = limit(level, 1)
		s.tellBattery()
	})
}

// PressStop presses or releases a stop input; units that move go to error.
func (s *Sim) PressStop(input string, pressed bool) {
	s.post(false, func() {
		if s.pressed[input] == pressed {
			return
		}
		if pressed {
			s.pressed[input] = true
		} else {
			delete(s.pressed, input)
		}
		s.tell(driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: input, On: pressed})
		for i := range s.movers {
			s.movers[i].input = len(s.pressed) > 0
			s.judge(&s.movers[i])
		}
	})
}

// Touch lets somebody touch the robot, or let go.
func (s *Sim) Touch(where string, on bool) {
	s.sense(driver.Event{Signal: driver.Touch, Name: where, On: on})
}

// Press lets somebody press something on the screen.
func (s *Sim) Press(what string) {
	s.sense(driver.Event{Signal: driver.Press, Name: what, On: true})
}

// Heat lets a unit have a temperature, in degrees Celsius.
func (s *Sim) Heat(unit string, celsius float64) {
	s.sense(driver.Event{Signal: driver.Heat, Name: unit, Level: celsius})
}

func (s *Sim) sense(e driver.Event) {
	e.Kind = driver.Sensed
	s.post(false, func() { s.tell(e) })
}

// Hang lets a unit take commands and never finish one, until it is let go.
func (s *Sim) Hang(unit string, on bool) {
	s.post(false, func() {
		if on {
			s.hung[unit] = true
		} else {
			delete(s.hung, unit)
		}
	})
}

// Slow lets motion and speech run at a share of their pace.
func (s *Sim) Slow(pace float64) {
	s.post(false, func() { s.pace = min(max(pace, 0.01), 1) })
}
