package sim

import (
	"troupe/robotd/driver"
	"troupe/schema"
)

// The methods of this file inject faults and sensor readings.

// FailNext makes the next command for a unit fail.
func (s *Sim) FailNext(unit string, why schema.Reason) {
	s.enqueue(false, func() { s.failNext[unit] = why })
}

// Break gives a unit a fault; Repair removes it. A unit that moves stays in error
// until it is reset.
func (s *Sim) Break(unit, what string) { s.enqueue(false, func() { s.setBroken(unit, what) }) }

// Repair removes the fault of a unit.
func (s *Sim) Repair(unit string) { s.enqueue(false, func() { s.setBroken(unit, "") }) }

func (s *Sim) setBroken(unit, what string) {
	for i := range s.movers {
		if s.movers[i].id == unit {
			s.movers[i].broken = what
			s.updateFault(&s.movers[i])
			return
		}
	}
	if s.brokenUnits[unit] == what {
		return
	}
	if what == "" {
		delete(s.brokenUnits, unit)
		s.emit(driver.Event{Kind: driver.Unit, Unit: unit, State: driver.Idle})
		return
	}
	s.brokenUnits[unit] = what
	if k, ok := s.kind(unit); ok && k.fail != nil {
		k.fail(s, what)
	} else if l := s.displays[unit]; l != nil {
		s.breakDisplay(l, what)
	}
	s.emit(driver.Event{Kind: driver.Unit, Unit: unit, State: driver.Error, Detail: what})
}

// SetBattery sets the battery level, 0..1.
func (s *Sim) SetBattery(level float64) {
	s.enqueue(false, func() {
		s.level = limit(level, 1)
		s.emitBattery()
	})
}

// BreakDock makes the dock stop charging, until it is called with false.
func (s *Sim) BreakDock(broken bool) { s.enqueue(false, func() { s.deadDock = broken }) }

// PressStop presses or releases a stop input. While it is pressed, units that move
// are in error.
func (s *Sim) PressStop(input string, pressed bool) {
	s.enqueue(false, func() {
		if s.pressed[input] == pressed {
			return
		}
		if pressed {
			s.pressed[input] = true
		} else {
			delete(s.pressed, input)
		}
		s.emit(driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: input, On: pressed})
		for i := range s.movers {
			s.movers[i].input = len(s.pressed) > 0
			s.updateFault(&s.movers[i])
		}
	})
}

// Touch simulates that a person touches the robot or stops touching it.
func (s *Sim) Touch(where string, on bool) {
	s.sense(driver.Event{Signal: driver.Touch, Name: where, On: on})
}

// Press simulates that a person presses a choice or button. A choice that the screen offers
// ends the command that offers it.
func (s *Sim) Press(what string) {
	s.enqueue(false, func() {
		if !s.choose(what) {
			s.emit(driver.Event{Kind: driver.Sensed, Signal: driver.Press, Name: what, On: true})
		}
	})
}

// People sets how many persons are near the robot, and where the nearest one is, in rad to
// the left of straight ahead.
func (s *Sim) People(count int, bearing float64) {
	s.sense(driver.Event{Signal: driver.People, Level: float64(count), Bearing: bearing})
}

// Sound simulates that the robot hears something or that it is silent again. level is in
// dB(A); 0 = not measured.
func (s *Sim) Sound(on bool, level float64) {
	s.sense(driver.Event{Signal: driver.Sound, On: on, Level: level})
}

// Dark simulates that it gets dark or light.
func (s *Sim) Dark(on bool) { s.sense(driver.Event{Signal: driver.Dark, On: on}) }

// Hear simulates that the robot hears what a person wants.
func (s *Sim) Hear(u schema.Utterance) {
	s.enqueue(false, func() { s.emit(driver.Event{Kind: driver.Heard, Heard: &u}) })
}

// Push, Lift and Fall simulate that a person begins or ceases to push or lift the robot, and
// that it falls or is upright again.
func (s *Sim) Push(on bool) { s.sense(driver.Event{Signal: driver.Push, On: on}) }
func (s *Sim) Lift(on bool) { s.sense(driver.Event{Signal: driver.Lift, On: on}) }
func (s *Sim) Fall(on bool) { s.sense(driver.Event{Signal: driver.Fall, On: on}) }

func (s *Sim) sense(e driver.Event) {
	e.Kind = driver.Sensed
	s.enqueue(false, func() { s.emit(e) })
}

// AskStop makes a unit ask for a stop of the whole robot.
func (s *Sim) AskStop(unit, stop string) {
	s.enqueue(false, func() {
		s.emit(driver.Event{Kind: driver.Asks, Unit: unit, Name: stop, Detail: "the unit met a limit of its own"})
	})
}

// Hang makes a unit accept commands without ever finishing one, until it is called
// with false.
func (s *Sim) Hang(unit string, on bool) {
	s.enqueue(false, func() {
		if on {
			s.hung[unit] = true
		} else {
			delete(s.hung, unit)
		}
	})
}

// Slow makes motion and speech run at the given share of their normal pace.
func (s *Sim) Slow(pace float64) {
	s.enqueue(false, func() { s.pace = min(max(pace, 0.01), 1) })
}
