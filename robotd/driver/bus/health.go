package bus

import (
	"time"

	"troupe/robotd/driver"
	"troupe/schema/bus"
)

// repeatHealth is after how many ticks robotd repeats whether it uses an adapter.
const repeatHealth = int(time.Second / driver.Tick)

// publishHealth says on the bus whether robotd uses an adapter, also one whose presence was
// refused. The message is not retained: it would outlive robotd.
func (b *Bus) publishHealth(a *adapter) {
	if !a.watch.present && a.problem == "" {
		return
	}
	h := bus.Health{V: bus.Version, Health: string(a.watch.health), Why: a.watch.why}
	switch {
	case a.watch.health == absent && a.problem != "": // robotd has accepted nothing of it
		h.Health, h.Why, h.WayOut = string(badData), a.problem, wayOut[badData]
	case a.watch.health == absent:
		h.Health, h.Why, h.WayOut = string(silent), a.wrong(), wayOut[badData]
	case a.watch.health != good:
		h.WayOut = wayOut[a.watch.health]
	}
	b.publish(bus.In(a.name, bus.InHealth), 0, h)
}

// wrong returns why an adapter that is there has not been good yet; empty if it is not there.
func (a *adapter) wrong() string {
	if a.problem == "" && a.watch.present {
		return "it sends no state"
	}
	return a.problem
}
