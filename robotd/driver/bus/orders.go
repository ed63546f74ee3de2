package bus

import (
	"slices"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
)

// applyOrder takes an order, which stays in force.
func (b *Bus) applyOrder(o driver.Order) {
	switch o {
	case driver.ToIdle, driver.ToRun, driver.ToStop, driver.ToHalt, driver.ToError, driver.ToReset:
	default:
		o = driver.ToError // an unknown order grants no permission
	}
	b.order = o
	for _, a := range b.adapters {
		if b.orderOf(a) != a.sent {
			b.send(a)
		}
	}
	if o == driver.ToRun {
		return
	}
	for _, a := range b.adapters {
		for _, u := range a.units {
			if u.about.Kind.Moves() {
				b.fail(u, schema.ReasonStopped, "ordered to stand still")
			}
		}
	}
}

// orderOf returns the order for one adapter. One that was lost or wrong has to be off until a
// person resets.
func (b *Bus) orderOf(a *adapter) driver.Order {
	distrusted := b.isReady && a.watch.health != good
	untilReset := slices.ContainsFunc(a.units, func(u *unit) bool { return u.untilReset })
	if distrusted || untilReset && b.order != driver.ToReset {
		return driver.ToError
	}
	return b.order
}

// send tells an adapter its order. That is a tick, so that it is also fed.
func (b *Bus) send(a *adapter) {
	o := b.orderOf(a)
	if o != a.sent {
		a.sent, a.ordered = o, 0
	}
	a.unsent = !b.tickTo(a, 1) && a.watch.present
}

// feed repeats the order to every adapter.
func (b *Bus) feed() {
	for _, a := range b.adapters {
		if a.watch.present {
			b.tickTo(a, 0)
		}
	}
}

func (b *Bus) tickTo(a *adapter, qos byte) bool {
	b.seq++
	return b.publish(bus.In(a.name, bus.InTick), qos, bus.Tick{V: bus.Version, Seq: b.seq, Order: bus.Order(a.sent)})
}

// obeyTicks is how many ticks a unit may take to obey.
const obeyTicks = driver.WatchdogTicks

// obeys judges a unit's new state by the order to its adapter.
func (a *adapter) obeys(u *unit, now driver.State) bool {
	if !u.about.Kind.Moves() || a.ordered <= obeyTicks {
		return true
	}
	switch was := u.reported; {
	case now == driver.Run && a.sent != driver.ToRun && was != driver.Run && was != "":
		return false
	case now == driver.Run && (a.sent == driver.ToError || a.sent == driver.ToHalt):
		return false
	case was == driver.Error && now != driver.Error && a.sent != driver.ToReset:
		return false
	}
	return true
}
