package sim

import (
	"time"

	"troupe/robotd/driver"
)

// A Stepped body is one without a goroutine and a clock: its owner lets time pass by Step, so that one process
// can have thousands. The methods of Driver but Open, Events, Calibrate and Close work as those of Sim.
type Stepped struct {
	*Sim
	calibrating *calibration
}

// NewStepped returns a body that stands, whose first Step reports all of its units.
func NewStepped(c Config) *Stepped {
	s := New(c)
	s.emitAll()
	return &Stepped{Sim: s}
}

// Step carries out the commands since the last step, lets dt pass, a multiple of driver.Tick, and returns the events since then.
func (s *Stepped) Step(dt time.Duration) []driver.Event {
	for _, work := range s.takeInbox() {
		work()
	}
	if dt > 0 {
		s.advance(dt)
	}
	return s.out.Take()
}

// Busy reports whether the body has to be stepped every driver.Tick; otherwise a second is often enough.
func (s *Stepped) Busy() bool { return s.busy() }

// BeginCalibration is Calibrate without waiting; it ends one that runs.
func (s *Stepped) BeginCalibration(m driver.Map) {
	s.EndCalibration()
	s.calibrating = &calibration{answer: make(chan driver.Calibration, 1), wanted: m, loading: loadingTime}
	s.beginCalibration(s.calibrating)
}

// EndCalibration ends a calibration, and reports whether one ran.
func (s *Stepped) EndCalibration() (ran bool) {
	if ran = s.calibrating != nil; ran {
		s.endCalibration(s.calibrating)
		s.calibrating = nil
	}
	return ran
}

// Calibrated returns the result of the calibration once it is there.
func (s *Stepped) Calibrated() (c driver.Calibration, done bool) {
	if s.calibrating == nil {
		return c, false
	}
	select {
	case c = <-s.calibrating.answer:
		s.calibrating = nil
		return c, true
	default:
		return c, false
	}
}
