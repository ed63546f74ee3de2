package bus

import (
	"strings"
	"time"

	"troupe/robotd/driver"
	"troupe/schema/bus"
)

// repeatHealth is after how many ticks robotd repeats whether it uses an adapter.
const repeatHealth = int(time.Second / driver.Tick)

// unused is the word for an adapter that robotd was not given.
const unused = "unused"

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

// publishUnused says on the bus that an adapter is none of the body's.
func (b *Bus) publishUnused(name string) {
	uses := strings.Join(b.config.Adapters, ",")
	b.publish(bus.In(name, bus.InHealth), 0, bus.Health{
		V: bus.Version, Health: unused, Why: "robotd uses " + uses,
		WayOut: "start it under a name of these that no other adapter has, or robotd with --bus-adapters " + uses + "," + name,
	})
}

// wrong returns why an adapter that is there has not been good yet; empty if it is not there.
func (a *adapter) wrong() string {
	if a.problem == "" && a.watch.present {
		return "it sends no state"
	}
	return a.problem
}
