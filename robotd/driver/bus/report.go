package bus

import (
	"math"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
)

// reported takes a state that fits.
func (b *Bus) reported(a *adapter, s *bus.State) {
	if !b.isReady {
		return
	}
	for _, u := range a.units {
		now := s.Units[u.about.ID]
		state := driver.State(now.State)
		if !a.obeys(u, state) {
			b.judge(a, disobeyed, "unit "+u.about.ID+" is in "+string(state)+" although it was ordered to "+string(a.sent))
		}
		was := u.reported
		u.reported, u.fault = state, now.Fault
		if u.untilReset && a.watch.health == good && a.sent == driver.ToReset && state == driver.Idle {
			u.untilReset = false
		}
		if was == driver.Run && state != driver.Run {
			if u.fault != "" {
				b.fail(u, schema.ReasonUnitError, u.fault)
			} else {
				b.fail(u, schema.ReasonStopped, "the "+u.about.ID+" may not move any more")
			}
		} else if state == driver.Error && was != driver.Error {
			b.fail(u, schema.ReasonUnitError, u.fault)
		}
		b.measure(u, &now)
	}
}

// measure reports what a unit measures.
func (b *Bus) measure(u *unit, now *bus.UnitState) {
	if now.Celsius != nil && (u.celsius == 0 || math.Abs(*now.Celsius-u.celsius) >= 1) {
		u.celsius = *now.Celsius
		b.out.Push(driver.Event{Kind: driver.Sensed, Signal: driver.Heat, Name: u.about.ID, Level: u.celsius})
	}
	if measure := measures[u.about.Kind]; measure != nil {
		measure(b, u, now)
	}
}

// measures has the function that reports what units of a kind measure beside their state and heat; other kinds have none.
var measures = map[schema.UnitKind]func(*Bus, *unit, *bus.UnitState){
	schema.UnitBattery: (*Bus).charged, schema.UnitDrive: (*Bus).drove, schema.UnitHead: (*Bus).turned,
}

func (b *Bus) charged(u *unit, now *bus.UnitState) {
	if !u.measured || math.Abs(*now.Level-u.level) >= 0.01 || now.Charging != u.charging {
		u.measured, u.level, u.charging = true, *now.Level, now.Charging
		b.out.Push(driver.Event{Kind: driver.Battery, Level: u.level, Charging: u.charging})
	}
}

// leastTurn in radians is reported; a smaller one may be noise of the servos.
const leastTurn = 0.002

// turned reports the angles of a head while they change, at most every driver.SpeedEvery.
func (b *Bus) turned(u *unit, now *bus.UnitState) {
	at, known, changed := u.angles, false, !u.measured
	for i, angle := range now.Angles() {
		if angle != nil {
			at[i], known = *angle, true
			changed = changed || math.Abs(at[i]-u.angles[i]) >= leastTurn
		}
	}
	if !known || !changed || u.measured && b.ticks-u.since < speedTicks {
		return
	}
	u.measured, u.angles, u.since = true, at, b.ticks
	b.out.Push(driver.Event{Kind: driver.Angles, Unit: u.about.ID, Yaw: at[0], Pitch: at[1], Roll: at[2]})
}

// speedTicks is driver.SpeedEvery in ticks.
const speedTicks = int(driver.SpeedEvery / driver.Tick)

// drove reports the speed every driver.SpeedEvery while the drive moves, and once when it
// stands.
func (b *Bus) drove(u *unit, now *bus.UnitState) {
	moves := *now.VXMPS != 0 || *now.WZRadPS != 0
	due := !u.measured || moves && (!u.moves || b.ticks-u.since >= speedTicks) || !moves && u.moves
	if !due {
		return
	}
	if moves || u.moves {
		b.out.Push(driver.Event{Kind: driver.Speed, Unit: u.about.ID, VX: *now.VXMPS, WZ: *now.WZRadPS})
	}
	u.measured, u.moves, u.since = true, moves, b.ticks
	if now.XM != nil {
		b.out.Push(driver.Event{Kind: driver.Position, X: *now.XM, Y: *now.YM, Theta: *now.ThetaRad})
	}
}

// showAll reports the units of an adapter whose state changed.
func (b *Bus) showAll(a *adapter) {
	for _, u := range a.units {
		e := driver.Event{Kind: driver.Unit, Unit: u.about.ID, State: u.reported, Detail: u.fault}
		if a.watch.health != good {
			e.State, e.Detail, e.Lost = driver.Error, a.name+": "+a.watch.detail, true
		} else if u.reported == "" {
			continue // its next state is under way
		} else if u.untilReset {
			e.State = driver.Error
		}
		if e != u.shown {
			u.shown = e
			b.out.Push(e)
		}
	}
}

// happened takes an event.
func (b *Bus) happened(a *adapter, e *bus.Event) {
	if e.Kind == bus.Sensed && e.Signal == string(driver.EStopInput) {
		b.inputChanged(a, e)
		return
	}
	if !b.isReady || a.watch.health != good {
		return
	}
	switch e.Kind {
	case bus.Done, bus.Failed:
		b.answered(a, e)
	case bus.Sensed:
		b.out.Push(sensed(e))
	case bus.Asks:
		b.out.Push(driver.Event{Kind: driver.Asks, Unit: e.Unit, Name: e.Stop, Detail: e.Detail})
	case bus.Heard:
		b.out.Push(driver.Event{Kind: driver.Heard, Heard: e.Heard})
	case bus.Waits:
		if b.calib != nil {
			b.out.Push(driver.Event{Kind: driver.Waits, Unit: e.Unit, Reason: e.Reason})
		}
	case bus.Calibrating:
		if b.calib != nil {
			b.out.Push(driver.Event{Kind: driver.Calibrating, Level: e.Level})
		}
	case bus.CalibrationDone:
		b.calibrated(a, e)
	}
}

func sensed(e *bus.Event) driver.Event {
	out := driver.Event{Kind: driver.Sensed, Signal: driver.Signal(e.Signal), Name: e.Name, On: e.On, Bearing: e.BearingRad}
	switch out.Signal {
	case driver.People:
		out.Level = float64(e.Count)
	case driver.Sound:
		out.Level = e.LevelDBA
	}
	return out
}
