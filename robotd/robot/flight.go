package robot

import (
	"context"
	"slices"
	"time"

	"troupe/robotd/body"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/recorder"
	"troupe/schema"
)

// flight gives the flight recorder what passes the loop, which owns it. A nil one gives
// nothing. The recorder never makes the loop wait.
type flight struct {
	to     *recorder.Recorder
	drives bool // the body has a drive

	at     time.Time // when the step began
	sample recorder.Sample
	until  time.Time // when the velocity that was sent ends
}

// newFlight is nil without a recorder.
func newFlight(to *recorder.Recorder, b driver.Body) *flight {
	if to == nil {
		return nil
	}
	f := &flight{to: to, at: time.Now()}
	for _, u := range b.Units {
		f.sample.Units = append(f.sample.Units, recorder.Unit{Unit: u.ID, State: driver.Idle})
		f.drives = f.drives || u.Kind == schema.UnitDrive
	}
	return f
}

// begin notes an event before its steps.
func (f *flight) begin(at time.Time, ev event.Event) {
	if f == nil {
		return
	}
	f.at = at
	switch ev := ev.(type) {
	case event.Command:
		f.put(recorder.Command{Client: ev.Client, Verb: ev.Group + "/" + ev.Verb, Payload: ev.Payload, Retained: ev.Retained})
	case event.LiveStop:
		f.put(recorder.Command{Client: ev.Client, Verb: "fleet/stop", Payload: ev.Payload, Retained: ev.Retained})
	case event.ReleaseStops:
		f.put(recorder.Command{Client: schema.LocalClient, Verb: "release stops"})
	case event.StopDocument:
		f.put(recorder.Command{Verb: "stop document"})
	case event.Reported:
		f.reported(ev.Event)
	}
}

// reported notes a report of the body.
func (f *flight) reported(ev driver.Event) {
	switch ev.Kind {
	case driver.Unit:
		f.unit(ev)
	case driver.Done, driver.Failed:
		f.put(recorder.Action{What: string(ev.Kind), Key: ev.Key, Reason: ev.Reason, Detail: ev.Detail})
	case driver.Sensed:
		f.put(recorder.Signal{Signal: string(ev.Signal), Name: ev.Name, On: ev.On, Level: body.Rounded(ev.Level),
			Bearing: body.Rounded(ev.Bearing)})
	case driver.Heard:
		f.put(recorder.Signal{Signal: "heard", On: true, Heard: ev.Heard})
	case driver.Asks:
		f.put(recorder.Command{Client: ev.Unit, Verb: "safety/" + ev.Name})
	case driver.Speed:
		f.sample.Measured = velocity(ev.VX, ev.WZ)
	case driver.Position:
		f.sample.Position = &recorder.Position{XM: body.Rounded(ev.X), YM: body.Rounded(ev.Y), ThetaRad: body.Rounded(ev.Theta)}
	case driver.Angles:
		f.angles(ev)
	case driver.Battery:
		level := body.Rounded(ev.Level)
		f.sample.Battery = &level
	}
}

// unit notes the state of a unit. Records share the list of units, so a change makes another.
func (f *flight) unit(ev driver.Event) {
	u := recorder.Unit{Unit: ev.Unit, State: ev.State, Detail: ev.Detail}
	units := slices.Clone(f.sample.Units)
	for i := range units {
		if units[i].Unit == u.Unit {
			u.Angles = units[i].Angles
			units[i] = u
		}
	}
	f.put(u)
	f.sample.Units = units
}

// angles notes where a head is, beside its state.
func (f *flight) angles(ev driver.Event) {
	units := slices.Clone(f.sample.Units)
	for i := range units {
		if units[i].Unit == ev.Unit {
			units[i].Angles = &recorder.Angles{YawRad: body.Rounded(ev.Yaw), PitchRad: body.Rounded(ev.Pitch), RollRad: body.Rounded(ev.Roll)}
		}
	}
	f.sample.Units = units
}

// effect notes what a step wants done.
func (f *flight) effect(e effect.Effect) {
	if f == nil {
		return
	}
	switch e := e.(type) {
	case effect.Order:
		f.put(recorder.Order{Order: e.Order})
	case effect.Start:
		f.put(recorder.Action{What: "start", Key: e.Key, Unit: e.Unit, Demanded: e.Demanded, Sent: e.Do, Text: e.Text})
	case effect.Stop:
		f.put(recorder.Action{What: "stop", Key: e.Key, Unit: e.Unit})
	case effect.Move:
		f.sample.Demanded, f.sample.Sent = velocity(e.Demanded.VX, e.Demanded.WZ), velocity(e.VX, e.WZ)
		f.until = f.at.Add(e.TTL)
	case effect.Publish:
		if e.Topic == schema.TopicAck {
			f.put(recorder.Answer{Client: e.Param, Ack: e.Payload})
		}
	case effect.SaveEvent:
		f.put(recorder.Event{Payload: e.Payload})
	case effect.LogTransition:
		f.put(recorder.Transition{Machine: e.Machine, From: e.From, To: e.To, Why: e.Why, Cause: e.Cause})
	case effect.LogAlert:
		f.put(recorder.Alert{Level: e.Level, Type: e.Type, Source: e.Source, Detail: e.Detail, Hint: e.Hint})
	}
}

// end records the robot's state after the steps of a tick, and of another event that changed the
// safety state: the next tick of a robot at rest is up to 250 ms later.
func (f *flight) end(ev event.Event, now schema.AckState) {
	if f == nil {
		return
	}
	tick, ok := ev.(event.Tick)
	if !ok && now.Safety == f.sample.Safety {
		return
	}
	s := &f.sample
	if f.drives && f.at.After(f.until) { // no velocity of frames or of a mode is in force; an action may drive it
		s.Demanded, s.Sent = &recorder.Velocity{}, &recorder.Velocity{}
	}
	s.StepUS, s.LateUS = time.Since(f.at).Microseconds(), tick.Late.Microseconds()
	s.Safety, s.Mode, s.Auto = now.Safety, now.Mode, now.Auto
	f.put(*s)
}

func (f *flight) put(r recorder.Record) { f.to.Put(f.at, r) }

// flightEvery is how often the robot looks at how the recorder is doing.
const flightEvery = 5 * time.Second

// watch tells the loop how the recorder is doing, when that changes.
func (f *flight) watch(ctx context.Context, l *loop) {
	if f == nil {
		return
	}
	var told event.Recorder
	each := time.NewTicker(flightEvery)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-each.C:
		}
		if now := (event.Recorder{Dropped: f.to.Dropped(), Failing: f.to.Failing()}); now != told {
			told = now
			l.send(ctx, now)
		}
	}
}

func velocity(vx, wz float64) *recorder.Velocity {
	return &recorder.Velocity{VXMPS: body.Rounded(vx), WZRadPS: body.Rounded(wz)}
}
