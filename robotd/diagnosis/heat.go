package diagnosis

import (
	"fmt"
	"time"

	"troupe/schema"
)

// A unit has cooled when it has been hysteresis below a threshold for coolFor, so that its level
// does not go back and forth near a threshold.
const (
	hysteresis = 5.0 // degrees Celsius
	coolFor    = 10 * time.Second
)

// heats lists the levels of heat, the coolest first.
var heats = [...]schema.Heat{schema.HeatNormal, schema.HeatWarm, schema.HeatHot, schema.HeatCritical}

// heat is the temperature of a unit and the level that counts.
type heat struct {
	known   bool
	celsius float64 // as reported last
	level   int     // index of heats; that of before the restart until a temperature is known
	began   float64 // the temperature with which the level began
	cools   bool    // below its level, with the hysteresis, since from
	from    time.Duration
}

// update brings the level up at once, and down when the unit has cooled for long enough.
func (h *heat) update(now time.Duration, t schema.Thresholds) {
	if !h.known {
		return
	}
	was, level := h.level, levelOf(h.celsius, t)
	if level >= h.level {
		h.level, h.cools = level, false
	}
	switch lower := levelOf(h.celsius+hysteresis, t); {
	case lower >= h.level:
		h.cools = false
	case !h.cools:
		h.cools, h.from = true, now
	case now-h.from >= coolFor:
		h.level, h.cools = lower, false
	}
	if h.level != was || h.began == 0 { // or the level is that of before the restart
		h.began = h.celsius
	}
}

// span says, for people, at which temperature the level began and when it ends.
func (h *heat) span(t schema.Thresholds) string {
	from := [...]float64{0, t.Warm, t.Hot, t.Critical}[h.level]
	return fmt.Sprintf(" at %.1f °C, until it has been below %.1f °C for %.0f s", h.began, from-hysteresis, coolFor.Seconds())
}

func levelOf(celsius float64, t schema.Thresholds) (level int) {
	for _, from := range [...]float64{t.Warm, t.Hot, t.Critical} {
		if celsius >= from {
			level++
		}
	}
	return level
}

// reported is the level as documents show it; empty for a unit that reports no temperature.
func (h *heat) reported() schema.Heat {
	if !h.known {
		return ""
	}
	return heats[h.level]
}
