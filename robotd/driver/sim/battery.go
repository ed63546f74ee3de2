package sim

import (
	"math"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

var batteryKind = kind{unit: schema.Unit{ID: battery, Kind: schema.UnitBattery}}

// drainBattery simulates dt of the battery, which charges while the robot stands at
// a dock that works.
func (s *Sim) drainBattery(dt time.Duration) {
	dock := points["dock"]
	docked := !s.config.NoMap && !s.deadDock && s.v == 0 && math.Hypot(s.at.x-dock.x, s.at.y-dock.y) <= dockReach
	rate := -drainRest
	switch {
	case docked:
		rate = s.chargeRate
	case s.moving():
		rate = -drainMove
	}
	s.level = min(1, max(0, s.level+rate*dt.Seconds()))
	if docked != s.charging || math.Abs(s.level-s.reportedLevel) >= 0.01 {
		s.charging = docked
		s.emitBattery()
	}
}

func (s *Sim) emitBattery() {
	s.reportedLevel = s.level
	s.emit(driver.Event{Kind: driver.Battery, Unit: battery, Level: s.level, Charging: s.charging})
}
