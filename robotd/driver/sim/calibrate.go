package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

// calibration is a running calibration.
type calibration struct {
	answer   chan driver.Calibration
	wanted   driver.Map
	loading  time.Duration   // remaining, as homing
	homing   []time.Duration // of each mover
	waiting  []bool          // the Waits event was sent
	work     time.Duration   // total
	reported float64         // progress in the last report
}

// left returns the remaining work.
func (c *calibration) left(movers []mover) time.Duration {
	sum := max(0, c.loading)
	for i := range movers {
		if !movers[i].homed && movers[i].fault == "" {
			sum += max(0, c.homing[i])
		}
	}
	return sum
}

// Calibrate loads the map and homes the units that need it, as soon as they are
// enabled.
func (s *Sim) Calibrate(ctx context.Context, m driver.Map) (driver.Calibration, error) {
	c := &calibration{answer: make(chan driver.Calibration, 1), wanted: m, loading: loadingTime}
	taken := make(chan bool, 1)
	if !s.enqueue(false, func() { taken <- s.beginCalibration(c) }) {
		return driver.Calibration{}, errClosed
	}
	select {
	case ok := <-taken:
		if !ok {
			return driver.Calibration{}, errors.New("calibrate the simulated body: a calibration runs already")
		}
	case <-s.closed:
		return driver.Calibration{}, errClosed
	}
	select {
	case result := <-c.answer:
		return result, nil
	case <-ctx.Done():
		s.enqueue(false, func() { s.endCalibration(c) })
		return driver.Calibration{}, ctx.Err()
	case <-s.closed:
		return driver.Calibration{}, errClosed
	}
}

var errClosed = errors.New("calibrate the simulated body: it is closed")

func (s *Sim) beginCalibration(c *calibration) bool {
	if s.calib != nil {
		return false
	}
	s.calib = c
	c.homing, c.waiting = slices.Repeat([]time.Duration{homingTime}, len(s.movers)), make([]bool, len(s.movers))
	for i := range s.movers {
		s.movers[i].homed = !s.config.Homing
	}
	c.work = c.left(s.movers)
	return true
}

func (s *Sim) endCalibration(c *calibration) {
	if s.calib == c {
		s.calib = nil
		for i := range s.heads() {
			s.heads()[i].gaze.rest()
		}
	}
}

// advanceCalibration simulates dt of a running calibration.
func (s *Sim) advanceCalibration(dt time.Duration) {
	c := s.calib
	if c == nil {
		return
	}
	c.loading -= dt
	open := c.loading > 0
	for i := range s.movers {
		m := &s.movers[i]
		switch {
		case m.homed || m.fault != "":
			continue
		case m.state != driver.Run:
			if !c.waiting[i] {
				c.waiting[i] = true
				s.emit(driver.Event{Kind: driver.Waits, Unit: m.id, Reason: schema.ReasonNeedsEnable})
			}
		case s.hung[m.id]:
			c.waiting[i] = false
		default:
			c.waiting[i] = false
			if g := &m.gaze; g.now != [3]float64{} {
				g.to, g.speed, g.active = [3]float64{}, headSpeed/2, true
			}
			if c.homing[i] -= dt; c.homing[i] <= 0 {
				m.homed = true
				continue
			}
		}
		open = true
	}
	if far := 1 - float64(c.left(s.movers))/float64(c.work); far >= c.reported+0.1 {
		c.reported = far
		s.emit(driver.Event{Kind: driver.Calibrating, Level: far})
	}
	if open {
		return
	}
	result := driver.Calibration{Map: s.loadMap(c.wanted)}
	for _, u := range s.Body().Units {
		done := driver.Calibrated{Unit: u.ID}
		if why := s.faultOf(u.ID); why != "" {
			done.Reason, done.Detail = schema.ReasonUnitError, why
		}
		result.Units = append(result.Units, done)
	}
	s.calib = nil
	c.answer <- result
}

// faultOf returns the present fault of a unit.
func (s *Sim) faultOf(id string) string {
	for i := range s.movers {
		if s.movers[i].id == id {
			return s.movers[i].fault
		}
	}
	return s.brokenUnits[id]
}
