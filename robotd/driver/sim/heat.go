package sim

import (
	"math"
	"time"

	"troupe/robotd/driver"
)

// A joint becomes warm when it is used. All that follows is plausible, not measured.
const (
	ambient   = 24.0            // °C
	driveRise = 30.0            // °C above ambient that a unit reaches if it is used all the time
	headRise  = 26.0            // likewise
	heatTime  = 5 * time.Minute // in which a unit comes to 63 % of that, or cools by as much

	heatStep  = 1.0              // °C by which a temperature changes before it is reported,
	heatEvery = 10 * time.Second // and how long after the report before
)

// heat is the temperature of a unit that moves.
type heat struct {
	celsius, reported float64
	since             time.Duration // since the last report
}

// warm simulates dt of the temperatures.
func (s *Sim) warm(dt time.Duration) {
	share := dt.Seconds() / heatTime.Seconds()
	for i := range s.movers {
		m := &s.movers[i]
		rise, use := headRise, 0.0
		switch {
		case m.id == drive:
			rise, use = driveRise, min(1, math.Abs(s.v)/maxSpeed+math.Abs(s.w)/maxTurn)
		case m.gaze.turning:
			use = m.gaze.speed / headSpeed
		}
		h := &m.heat
		h.celsius += (ambient + use*rise - h.celsius) * share
		if h.since += dt; h.since >= heatEvery && math.Abs(h.celsius-h.reported) >= heatStep {
			s.emitHeat(m.id, h)
		}
	}
}

func (s *Sim) emitHeat(unit string, h *heat) {
	h.reported, h.since = h.celsius, 0
	s.emit(driver.Event{Kind: driver.Sensed, Signal: driver.Heat, Name: unit, Level: math.Round(h.celsius*10) / 10})
}

// Heat sets the temperature of a unit in degrees Celsius, and reports it. A unit that moves
// cools from there.
func (s *Sim) Heat(unit string, celsius float64) {
	s.enqueue(false, func() {
		h := &heat{celsius: celsius}
		for i := range s.movers {
			if s.movers[i].id == unit {
				h = &s.movers[i].heat
				h.celsius = celsius
			}
		}
		s.emitHeat(unit, h)
	})
}
