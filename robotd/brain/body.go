package brain

import (
	"math"
	"slices"
	"strconv"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
)

// body is what the robot knows of its units: what its driver told.
type body struct {
	driver  driver.Body
	units   []schema.Unit
	states  []unitNow // of units, in the same order
	movers  []safety.Unit
	place   []int    // of a mover among the units
	inputs  []string // stop inputs that are pressed, sorted
	battery charge
	volume  schema.Number // of the speaker; not said = as loud as it is
	trouble bool          // a unit changed: its fault may have to be told
}

// unitNow is where one unit stands.
type unitNow struct {
	state  driver.State
	detail string
}

func newBody(d driver.Body) body {
	b := body{driver: d, units: d.Units, states: make([]unitNow, len(d.Units))}
	for i, u := range d.Units {
		b.states[i].state = driver.Idle
		if u.Kind.Moves() {
			b.movers = append(b.movers, safety.Unit{ID: u.ID, State: safety.UnitIdle})
			b.place = append(b.place, i)
		}
	}
	return b
}

// told is the units as the state document shows them.
func (b *body) told() []schema.UnitState {
	out := make([]schema.UnitState, 0, len(b.units))
	for i, u := range b.units {
		s := schema.UnitState{ID: u.ID, Kind: string(u.Kind), State: string(b.states[i].state), Detail: b.states[i].detail}
		if u.Kind == schema.UnitBattery && b.battery.known {
			s.Detail = strconv.Itoa(int(b.battery.share*100)) + " %"
			if b.battery.charging {
				s.Detail += ", charging"
			}
		}
		if u.Kind == schema.UnitSpeaker && b.volume.Said && s.Detail == "" {
			s.Detail = "volume " + strconv.Itoa(int(b.volume.Value*100+0.5)) + " %"
		}
		out = append(out, s)
	}
	return out
}

// unit notes what a unit says of itself, and reports whether it is news.
func (b *body) unit(ev driver.Event) bool {
	i := slices.IndexFunc(b.units, func(u schema.Unit) bool { return u.ID == ev.Unit })
	if i < 0 || b.states[i] == (unitNow{ev.State, ev.Detail}) {
		return false
	}
	b.trouble = true
	b.states[i] = unitNow{ev.State, ev.Detail}
	for m, at := range b.place {
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

// reported takes what the body says. It only notes it: the safety core looks at
// it next.
func (t *step) reported(ev driver.Event) {
	for _, word := range []*string{&ev.Unit, (*string)(&ev.State), &ev.Name, (*string)(&ev.Reason), &ev.Detail} {
		*word = schema.Legible(*word)
	}
	switch ev.Kind {
	case driver.Done:
		t.lanes.Done(ev.Key, "", "", t.now.Mono)
	case driver.Failed:
		t.lanes.Done(ev.Key, orInternal(ev.Reason), ev.Detail, t.now.Mono)
	case driver.Unit:
		if t.body.unit(ev) {
			t.dirty(effect.FlushSoon)
		}
	case driver.Battery:
		t.body.battery = charge{known: true, share: ev.Level, charging: ev.Charging}
	case driver.Speed:
		t.hand.vx, t.hand.wz = finite(ev.VX), finite(ev.WZ)
	case driver.Sensed:
		t.sensed(ev)
	case driver.Calibrating:
		t.calibrating(finite(ev.Level))
	case driver.Waits:
		t.waits = append(t.waits, ev)
	}
}

// finite is what of a driver's figure can be told: to the thousandth.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return math.Round(v*1000) / 1000
}

// pressReset is the button at the robot that resets: the only way out of a stop
// that came from a stop input, which no restart releases. The gate stays shut.
const pressReset = "reset"

func (t *step) sensed(ev driver.Event) {
	switch ev.Signal {
	case driver.Press:
		if !ev.On { // it came up
			return
		}
		if ev.Name == pressReset { // whoever presses it stands at the robot
			t.resetHere()
			t.toSafety.Add(safety.Request{Verb: safety.Reset, Source: "input", Local: true})
			return
		}
		t.request("service", "screen") // somebody at the robot wants something
	case driver.EStopInput:
		i, held := slices.BinarySearch(t.body.inputs, ev.Name)
		switch {
		case ev.On && !held:
			t.body.inputs = slices.Insert(t.body.inputs, i, ev.Name)
		case !ev.On && held:
			t.body.inputs = slices.Delete(t.body.inputs, i, i+1)
		default:
			return
		}
		t.dirty(effect.FlushNow)
	}
}

// troubles tells of units that broke or were mended, and of what calibration
// waits for; after the safety core has had its say.
func (t *step) troubles() {
	for _, w := range t.waits {
		t.raise("calibration_waits", schema.AlertInfo, w.Unit, "calibration waits: "+w.Reason.Describe().Text, "send safety/enable when nobody is near")
	}
	t.waits = t.waits[:0]
	if !t.body.trouble {
		return
	}
	t.body.trouble = false
	for i, u := range t.body.units {
		// A unit that a stop switched off has no fault of its own.
		if now := t.body.states[i]; now.state == driver.Error && now.detail != "" {
			t.raise("unit_error", schema.AlertError, u.ID, "unit "+u.ID+": "+now.detail, "see to the cause, then send safety/reset")
		} else {
			t.clear("unit_error", u.ID)
		}
	}
}

func orInternal(r schema.Reason) schema.Reason {
	if r == "" {
		return schema.ReasonInternal
	}
	return r
}
