// Package body knows the units of a robot: what its driver reports of each, and which
// of them may be used now.
package body

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/robotd/taught"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// State is what the robot knows of its units: what its driver reported.
type State struct {
	driver     driver.Body
	units      []schema.Unit
	states     []unitNow // of units, in the same order
	shows      []shows   // of units, in the same order
	movers     []safety.Unit
	moverUnits []int    // of each mover, its index in units
	inputs     []string // stop inputs that are pressed, sorted
	battery    Battery
	volume     verb.Number // of the speaker; not set = as loud as it is
	trouble    bool        // a unit or a stop input changed: the alerts have to be looked at
	homing     homing
	ordered    driver.Order
	places     places
	taught     map[string]taught.Point
	at         *score.Point // where the body is on the map in force; nil = it has not reported that
	reportedAt *score.Point // where it was when the state was last published for its position
}

// unitNow is the state of one unit.
type unitNow struct {
	state   driver.State
	detail  string
	lost    bool // the fault is in the connection to the unit; nothing is known of the unit itself
	limited bool // a set-point of its last command was beyond its limits
}

// New is a body that has reported nothing yet.
func New(d driver.Body) State {
	b := State{driver: d, units: d.Units, states: make([]unitNow, len(d.Units)), shows: make([]shows, len(d.Units))}
	for i, u := range d.Units {
		b.states[i].state = driver.Idle
		if u.Kind.Moves() {
			b.movers = append(b.movers, safety.Unit{ID: u.ID, State: safety.UnitIdle})
			b.moverUnits = append(b.moverUnits, i)
		}
	}
	return b
}

// Battery is what the battery says of itself.
type Battery struct {
	Known    bool
	Share    float64 // of 1
	Charging bool
}

// Step takes in what the driver reports of a unit, a stop input or the battery, or
// what a calibration waits for. It only notes it: the safety core looks at it next.
func Step(b *State, ev driver.Event, out *effect.List) {
	switch ev.Kind {
	case driver.Unit:
		if b.unit(ev) {
			out.Changed(effect.FlushSoon)
		}
	case driver.Battery:
		b.battery = Battery{Known: true, Share: ev.Level, Charging: ev.Charging}
	case driver.Sensed:
		if ev.Signal == driver.EStopInput && b.input(ev.Name, ev.On) {
			out.Changed(effect.FlushNow)
		}
	case driver.Position:
		if b.setPosition(ev) {
			out.Changed(effect.FlushSoon)
		}
	case driver.Waits:
		b.homing.waitsFor(ev)
	}
}

// input notes a stop input, and reports whether it is news.
func (b *State) input(name string, on bool) bool {
	i, held := slices.BinarySearch(b.inputs, name)
	switch {
	case on && !held:
		b.inputs = slices.Insert(b.inputs, i, name)
	case !on && held:
		b.inputs = slices.Delete(b.inputs, i, i+1)
	}
	if on != held {
		b.trouble = true // the hint of the alert changes with the pressed inputs
	}
	return on != held
}

// UpdateAlerts raises and clears the alerts about the map and about faults of units that move, after
// the safety core has decided; wayOut is what to do about such a unit. The diagnosis has the alerts
// about other units, whose faults do not lead to E_STOP.
func (b *State) UpdateAlerts(calibration schema.ModeID, wayOut string, out *effect.List) {
	b.updateMapAlert(calibration, out)
	if !b.trouble {
		return
	}
	b.trouble = false
	for i, u := range b.units {
		// A unit that a stop switched off has no fault of its own.
		if now := b.states[i]; u.Kind.Moves() && now.state == driver.Error && now.detail != "" {
			out.Do(effect.RaiseAlert{Kind: "unit_error", Level: schema.AlertError, Source: u.ID, Detail: "unit " + u.ID + ": " + now.detail,
				Hint: wayOut, LoggedByDriver: now.lost})
		} else {
			out.Clear("unit_error", u.ID)
		}
	}
}

// Order sends the safety core's order to the units that move.
func (b *State) Order(o driver.Order, out *effect.List) {
	if o != b.ordered {
		b.ordered = o
		out.Do(effect.Order{Order: o})
	}
}

// SetVolume is how loud the speaker is from now on.
func (b *State) SetVolume(v verb.Number) { b.volume = v }

// Units are all units.
func (b *State) Units() []schema.Unit { return b.units }

// Movers are the units that move, as the safety core takes them.
func (b *State) Movers() []safety.Unit { return b.movers }

// PressedInputs are the stop inputs that are pressed.
func (b *State) PressedInputs() []string { return b.inputs }

// Battery is how full the battery is.
func (b *State) Battery() Battery { return b.battery }

// Volume is how loud the speaker is.
func (b *State) Volume() verb.Number { return b.volume }

// Ordered is the newest order to the units that move.
func (b *State) Ordered() driver.Order { return b.ordered }

// Broken returns why a unit is out of order; empty = it is not.
func (b *State) Broken(id string) (why string) {
	for i, u := range b.units {
		if u.ID == id && b.states[i].state == driver.Error {
			return cmp.Or(b.states[i].detail, "it waits for a reset")
		}
	}
	return ""
}

// Refs name what of the body a reason is about.
func (b *State) Refs(why schema.Reason) (refs []schema.Ref) {
	switch why {
	case schema.ReasonEStopInput:
		for _, name := range b.inputs {
			refs = append(refs, schema.Ref{Kind: schema.RefInput, ID: name})
		}
	case schema.ReasonUnitError:
		for i, u := range b.units {
			if b.states[i].state == driver.Error {
				refs = append(refs, schema.Ref{Kind: schema.RefUnit, ID: u.ID})
			}
		}
	}
	return refs
}

// UnitStates is the units as the state document shows them.
func (b *State) UnitStates() []schema.UnitState {
	out := make([]schema.UnitState, 0, len(b.units))
	for i, u := range b.units {
		s := schema.UnitState{ID: u.ID, Kind: string(u.Kind), State: string(b.states[i].state), Detail: b.states[i].detail,
			Shows: b.shows[i].now()}
		if u.Kind == schema.UnitBattery && b.battery.Known {
			s.Detail = strconv.Itoa(int(b.battery.Share*100+1e-6)) + " %" // 0.29*100 is a little less than 29
			if b.battery.Charging {
				s.Detail += ", charging"
			}
		}
		if u.HasVolume() && b.volume.Given && s.Detail == "" {
			s.Detail = "volume " + strconv.Itoa(int(b.volume.Value*100+0.5)) + " %"
		}
		out = append(out, s)
	}
	return out
}

// unit notes what a unit says of itself, and reports whether it is news.
func (b *State) unit(ev driver.Event) bool {
	i := slices.IndexFunc(b.units, func(u schema.Unit) bool { return u.ID == ev.Unit })
	if i < 0 || b.states[i].state == ev.State && b.states[i].detail == ev.Detail {
		return false
	}
	b.trouble = true
	b.states[i].state, b.states[i].detail, b.states[i].lost = ev.State, ev.Detail, ev.Lost
	for m, at := range b.moverUnits {
		if at == i {
			b.movers[m].State = safety.UnitState(ev.State)
			b.movers[m].Fault = ""
			if ev.State == driver.Error {
				b.movers[m].Fault = ev.Detail
			}
		}
	}
	return true
}

// Rounded is a driver's figure as documents show it: to the thousandth, and 0 for what is
// no number.
func Rounded(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return math.Round(v*1000) / 1000
}

// First returns the first unit of a kind, which is used where none is named.
func (b *State) First(k schema.UnitKind) (schema.Unit, bool) { return schema.FindUnit(b.units, k, "") }

// Has reports whether a unit has that id.
func (b *State) Has(id string) bool {
	return slices.ContainsFunc(b.units, func(u schema.Unit) bool { return u.ID == id })
}
