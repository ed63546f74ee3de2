package bus

import (
	"maps"
	"math"
	"slices"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
)

// command is a command that an adapter carries out.
type command struct {
	key     uint64
	adapter *adapter
	unit    *unit
}

func (b *Bus) failed(key uint64, why schema.Reason, detail string) {
	b.out.Push(driver.Event{Kind: driver.Failed, Key: key, Reason: why, Detail: detail})
}

// find returns the unit of an id and its adapter.
func (b *Bus) find(id string) (*adapter, *unit) {
	for _, a := range b.adapters {
		for _, u := range a.units {
			if u.about.ID == id {
				return a, u
			}
		}
	}
	return nil, nil
}

// start passes a command to its adapter.
func (b *Bus) start(c driver.Command) {
	a, u := b.find(c.Unit)
	switch {
	case u == nil:
		b.failed(c.Key, schema.ReasonBadRequest, "there is no unit "+c.Unit)
	case c.Do == nil:
		b.failed(c.Key, schema.ReasonBadRequest, "the command has no action")
	case a.watch.health != good:
		b.failed(c.Key, schema.ReasonUnitError, a.watch.detail)
	case u.about.Kind.Moves() && a.sent != driver.ToRun:
		b.failed(c.Key, schema.ReasonSafetyDisabled, "the "+c.Unit+" is not enabled; safety/enable lets it move")
	case !b.publish(bus.In(a.name, bus.InStart), 1, bus.Start{
		V: bus.Version, Key: c.Key, Unit: c.Unit, Holds: c.Holds, Text: c.Text, Choices: c.Choices, FromMS: c.From.Milliseconds(),
		Asset: c.Asset, Do: c.Do,
	}):
		b.failed(c.Key, schema.ReasonOverloaded, "the bus takes no more commands")
	default:
		b.running[c.Key] = &command{key: c.Key, adapter: a, unit: u}
	}
}

// stop ends a command. Its answer, if one comes, does not count any more.
func (b *Bus) stop(key uint64) {
	c := b.running[key]
	if c == nil {
		return
	}
	delete(b.running, key)
	b.publish(bus.In(c.adapter.name, bus.InStop), 1, bus.Stop{V: bus.Version, Key: key})
}

// answered takes the answer to a command.
func (b *Bus) answered(a *adapter, e *bus.Event) {
	c := b.running[e.Key]
	if c == nil || c.adapter != a {
		return
	}
	delete(b.running, e.Key)
	if e.Kind == bus.Done {
		b.out.Push(driver.Event{Kind: driver.Done, Key: e.Key, Name: e.Choice})
		return
	}
	b.failed(e.Key, e.Reason, e.Detail)
}

// fail fails the commands of a unit.
func (b *Bus) fail(u *unit, why schema.Reason, detail string) {
	for _, key := range slices.Sorted(maps.Keys(b.running)) {
		if b.running[key].unit == u {
			delete(b.running, key)
			b.failed(key, why, detail)
		}
	}
}

func (b *Bus) failAll(a *adapter, why schema.Reason, detail string) {
	for _, u := range a.units {
		b.fail(u, why, detail)
	}
}

// move drives manually.
func (b *Bus) move(v driver.Velocity) {
	for _, a := range b.adapters {
		for _, u := range a.units {
			if u.about.Kind != schema.UnitDrive {
				continue
			}
			if a.watch.health == good && a.sent == driver.ToRun && u.reported == driver.Run {
				mps, radps := u.about.Speeds()
				ttl := min(v.TTL, driver.VelocityTTL)
				b.publish(bus.In(a.name, bus.InVelocity), 0, bus.Velocity{
					V: bus.Version, Unit: u.about.ID, VXMPS: limit(v.VX, mps), WZRadPS: limit(v.WZ, radps), TTLMS: ttl.Milliseconds(),
				})
			}
			return
		}
	}
}

// limit clamps v; what is no number is zero.
func limit(v, top float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return min(max(v, -top), top)
}
