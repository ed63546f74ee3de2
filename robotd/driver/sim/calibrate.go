package sim

import (
	"context"
	"errors"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

// calibration is one that runs.
type calibration struct {
	answer  chan driver.Calibration
	loading time.Duration // left
	homing  [2]time.Duration
	waiting [2]bool       // was told that the unit waits
	work    time.Duration // all of it
	told    float64       // how far it had come
}

// left is how much of the work remains.
func (c *calibration) left(movers []mover) time.Duration {
	sum := max(0, c.loading)
	for i := range movers {
		if !movers[i].homed && movers[i].fault == "" {
			sum += max(0, c.homing[i])
		}
	}
	return sum
}

// Calibrate loads the map and homes what has to be homed, as soon as it is
// enabled.
func (s *Sim) Calibrate(ctx context.Context) (driver.Calibration, error) {
	c := &calibration{answer: make(chan driver.Calibration, 1), loading: loadingTime, homing: [2]time.Duration{homingTime, homingTime}}
	taken := make(chan bool, 1)
	if !s.post(false, func() { taken <- s.beginCalibration(c) }) {
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
		s.post(false, func() { s.endCalibration(c) })
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
	for i := range s.movers {
		s.movers[i].homed = !s.config.Homing
	}
	c.work = c.left(s.movers[:])
	return true
}

func (s *Sim) endCalibration(c *calibration) {
	if s.calib == c {
		s.calib = nil
		s.gaze.on = false
	}
}

// calibrating lets a calibration go on for dt.
func (s *Sim) calibrating(dt time.Duration) {
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
				s.tell(driver.Event{Kind: driver.Waits, Unit: m.id, Reason: schema.ReasonNeedsEnable})
			}
		case s.hung[m.id]:
		default:
			if m.id == head && s.gaze.now != [3]float64{} {
				s.gaze.to, s.gaze.speed, s.gaze.on = [3]float64{}, headSpeed/2, true
			}
			if c.homing[i] -= dt; c.homing[i] <= 0 {
				m.homed = true
				continue
			}
		}
		open = true
	}
	if far := 1 - float64(c.left(s.movers[:]))/float64(c.work); far >= c.told+0.1 {
		c.told = far
		s.tell(driver.Event{Kind: driver.Calibrating, Level: far})
	}
	if open {
		return
	}
	result := driver.Calibration{Map: !s.config.NoMap}
	for _, u := range s.Body().Units {
		done := driver.Calibrated{Unit: u.ID}
		if why := s.wrong(u.ID); why != "" {
			done.Reason, done.Detail = schema.ReasonUnitError, why
		}
		result.Units = append(result.Units, done)
	}
	s.calib = nil
	c.answer <- result
}

// wrong says what is wrong with a unit now.
func (s *Sim) wrong(id string) string {
	for i := range s.movers {
		if s.movers[i].id == id {
			return s.movers[i].fault
		}
	}
	return s.still[id]
}
