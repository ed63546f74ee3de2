package brain

import (
	"slices"
	"time"

	"troupe/robotd/clock"
	"troupe/schema"
)

const clockDiffers = "clock_differs" // alert of a fleetd instance

// learnTime takes the fleet's time from a heartbeat, and tells of a fleetd instance whose
// commands would be too old or not yet due.
func (t *step) learnTime(client string, fleet schema.Time) {
	t.clock.Learn(t.now, client, fleet)
	for _, a := range slices.Clone(t.report.Alerts()) {
		if a.Type == clockDiffers && !t.clock.Hears(a.Source) {
			t.clear(a.Type, a.Source)
		}
	}
	if t.clock.Apart(client) {
		t.raise(clockDiffers, schema.AlertWarn, client, "the clock of "+client+" is not the one that the robot goes by", "set the clocks of the fleetd instances by the same source; until then commands with a ts are refused or expire")
		return
	}
	t.clear(clockDiffers, client)
}

// FleetTime is the fleet's time, as the operators' heartbeats of this run tell it.
func (s *State) FleetTime(now clock.Now) (_ time.Time, known bool) {
	fleet, known := s.clock.At(now)
	return fleet.Time(), known
}

// clockOffset is the fleet's time minus the robot's.
func (t *step) clockOffset() (time.Duration, bool) {
	fleet, ok := t.clock.At(t.now)
	return fleet.Sub(t.now.Wall), ok
}
