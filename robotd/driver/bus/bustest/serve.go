package bustest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
)

// calibration is a running one. A body runs one at a time.
type calibration struct {
	key    uint64
	cancel context.CancelFunc
	done   chan struct{}
}

// receive carries out what robotd sends.
func (a *Adapters) receive(ctx context.Context, p *part, m link.Message) {
	body := a.config.Body
	switch m.Topic {
	case bus.RobotPresenceTopic:
		if r, problems := schema.Decode[bus.RobotPresence](m.Payload); len(problems) == 0 && r.Present {
			a.reportInputs(p)
		} else if len(problems) == 0 {
			a.robotdGone(p)
		}
	case bus.In(p.name, bus.InTick):
		t, problems := schema.Decode[bus.Tick](m.Payload)
		if len(problems) > 0 || !p.moves {
			return
		}
		body.Feed()
		if t.Order != p.order {
			p.order = t.Order
			body.Order(driver.Order(t.Order))
		}
	case bus.In(p.name, bus.InStart):
		decode := schema.Decode[bus.Start]
		if a.config.Strict {
			decode = schema.DecodeStrict[bus.Start]
		}
		s, problems := decode(m.Payload)
		if _, known := a.keys[s.Key]; len(problems) > 0 || known {
			return
		}
		a.keys[s.Key] = p
		body.Start(driver.Command{
			Key: s.Key, Unit: s.Unit, Do: s.Do, Text: s.Text, Choices: s.Choices, From: time.Duration(s.FromMS) * time.Millisecond, Holds: s.Holds,
			Asset: s.Asset,
		})
	case bus.In(p.name, bus.InStop):
		if s, problems := schema.Decode[bus.Stop](m.Payload); len(problems) == 0 {
			if body.Stop(s.Key); a.calib != nil && a.calib.key == s.Key {
				a.calib.cancel()
			}
		}
	case bus.In(p.name, bus.InVelocity):
		if v, problems := schema.Decode[bus.Velocity](m.Payload); len(problems) == 0 {
			body.Move(driver.Velocity{VX: v.VXMPS, WZ: v.WZRadPS, TTL: time.Duration(v.TTLMS) * time.Millisecond})
		}
	case bus.In(p.name, bus.InCalibrate):
		if c, problems := schema.Decode[bus.Calibrate](m.Payload); len(problems) == 0 {
			a.calibrate(ctx, p, c)
		}
	}
}

// robotdGone puts what may move into error: nobody feeds it any more.
func (a *Adapters) robotdGone(p *part) {
	p.order = ""
	for _, u := range p.now {
		if u.State == "run" || u.State == "halt" {
			a.config.Body.Order(driver.ToError)
			return
		}
	}
}

func (a *Adapters) calibrate(ctx context.Context, p *part, c bus.Calibrate) {
	earlier := a.calib
	run, cancel := context.WithCancel(ctx)
	a.calib = &calibration{key: c.Key, cancel: cancel, done: make(chan struct{})}
	m := driver.Map{}
	if c.Map != nil {
		m = driver.Map{Name: c.Map.Name, SHA256: c.Map.SHA256}
	}
	go func(own *calibration) {
		defer close(own.done)
		defer cancel()
		if earlier != nil {
			<-earlier.done
		}
		result, err := a.config.Body.Calibrate(run, m)
		if errors.Is(err, context.Canceled) {
			return
		}
		a.do(ctx, func() {
			e := bus.Event{Kind: bus.CalibrationDone, Key: c.Key, Map: &bus.MapResult{Points: result.Map.Points, Reason: result.Map.Reason,
				Detail: result.Map.Detail}}
			for _, u := range result.Units {
				e.Units = append(e.Units, bus.Calibrated{Unit: u.Unit, Reason: u.Reason, Detail: u.Detail})
			}
			if err != nil {
				for _, u := range p.units {
					e.Units = append(e.Units, bus.Calibrated{Unit: u.ID, Reason: schema.ReasonUnitError, Detail: err.Error()})
				}
			}
			a.event(p, e)
		})
	}(a.calib)
}

// report sends what the body reports.
func (a *Adapters) report(e driver.Event) {
	switch e.Kind {
	case driver.Done, driver.Failed:
		p := a.keys[e.Key]
		if p == nil {
			return
		}
		if e.Kind == driver.Done {
			a.event(p, bus.Event{Kind: bus.Done, Key: e.Key, Choice: e.Name})
		} else {
			a.event(p, bus.Event{Kind: bus.Failed, Key: e.Key, Reason: e.Reason, Detail: e.Detail})
		}
	case driver.Unit:
		if p, id := a.of(func(u schema.Unit) bool { return u.ID == e.Unit }); p != nil {
			s := p.now[id]
			s.State, s.Fault = string(e.State), e.Detail
			p.now[id] = s
			a.state(p)
		}
	case driver.Speed:
		if p, id := a.of(kindIs(schema.UnitDrive)); p != nil {
			s := p.now[id]
			s.VXMPS, s.WZRadPS = &e.VX, &e.WZ
			p.now[id] = s
		}
	case driver.Position:
		if p, id := a.of(kindIs(schema.UnitDrive)); p != nil {
			s := p.now[id]
			s.XM, s.YM, s.ThetaRad = &e.X, &e.Y, &e.Theta
			p.now[id] = s
		}
	case driver.Angles:
		if p, id := a.of(func(u schema.Unit) bool { return u.ID == e.Unit }); p != nil {
			s := p.now[id]
			s.YawRad, s.PitchRad, s.RollRad = &e.Yaw, &e.Pitch, &e.Roll
			p.now[id] = s
		}
	case driver.Battery:
		if p, id := a.of(kindIs(schema.UnitBattery)); p != nil {
			s := p.now[id]
			s.Level, s.Charging = &e.Level, e.Charging
			p.now[id] = s
		}
	case driver.Sensed:
		a.sense(e)
	case driver.Asks:
		if p, _ := a.of(func(u schema.Unit) bool { return u.ID == e.Unit }); p != nil {
			a.event(p, bus.Event{Kind: bus.Asks, Unit: e.Unit, Stop: e.Name, Detail: e.Detail})
		}
	case driver.Heard:
		a.event(a.mover(), bus.Event{Kind: bus.Heard, Heard: e.Heard})
	case driver.Waits:
		a.event(a.mover(), bus.Event{Kind: bus.Waits, Unit: e.Unit, Reason: e.Reason})
	case driver.Calibrating:
		a.event(a.mover(), bus.Event{Kind: bus.Calibrating, Level: e.Level})
	}
}

func (a *Adapters) sense(e driver.Event) {
	if e.Signal == driver.Heat {
		if p, id := a.of(func(u schema.Unit) bool { return u.ID == e.Name }); p != nil {
			s := p.now[id]
			s.Celsius = &e.Level
			p.now[id] = s
		}
		return
	}
	out := bus.Event{Kind: bus.Sensed, Signal: string(e.Signal), Name: e.Name, On: e.On, BearingRad: e.Bearing}
	switch e.Signal {
	case driver.People:
		out.Count = int64(e.Level)
	case driver.Sound:
		out.LevelDBA = e.Level
	}
	p := a.mover()
	if e.Signal == driver.EStopInput {
		p.inputs[e.Name] = e.On
	}
	a.event(p, out)
}

// reportInputs reports again which stop inputs are pressed, since robotd does not know it yet.
func (a *Adapters) reportInputs(p *part) {
	for _, input := range slices.Sorted(maps.Keys(p.inputs)) {
		if p.inputs[input] {
			a.event(p, bus.Event{Kind: bus.Sensed, Signal: string(driver.EStopInput), Name: input, On: true})
		}
	}
}
