package brain

import (
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/schema"
)

// stateDocument is the state document of the robot as it is now.
func (t *step) stateDocument() *schema.State {
	d := &schema.State{
		TS: t.now.Wall, Session: t.report.Session(), Boot: t.report.Boot(), StateSeq: t.report.StateSeq(),
		Safety: t.safetyStep().Document(),
		Mode:   t.modes.Document(t.perform.Auto().Status == schema.AutoPaused),
		Queue:  t.report.Queue(append(t.lanes.Acts(manual.ActLane), t.perform.Acts(&t.lanes)...)), Intent: t.intent.Document(),
		Life:  t.lifeStep().Document(t.perform.Performs),
		Link:  t.link.Link(t.now, t.cfg.Mode.Settings(t.modes.Active()).LinkLoss),
		Units: t.body.UnitStates(), Diagnosis: t.diagnosis.Document(),
		Control: t.manual.Document(), Recording: t.manualStep().Recording(),
		Alerts: append([]schema.Alert{}, t.report.Alerts()...),
		Log:    t.report.LogOn(), Dropped: schema.DroppedCounters{Events: t.report.Dropped(), Acks: t.requests.Dropped(),
			Records: t.report.RecordsDropped()},
	}
	d.Safety.NotPersisted, d.Safety.Latches = t.latches.NotPersisted(), t.latches.Document()
	d.Running = t.requests.Running()
	if last, ok := t.requests.Last(); ok {
		d.LastReq = &last
	}
	for _, v := range t.signals.List() {
		d.Signals = append(d.Signals, schema.SignalState{Signal: string(v.Signal), Name: v.Name, Level: v.Level, Since: t.now.At(v.Since)})
	}
	t.perform.Fill(d, t.now, &t.link, &t.lanes)
	d.At = t.body.Place()
	return d
}

// snapshot is the robot as the page at the robot shows it.
func (t *step) snapshot() effect.Snapshot {
	s := effect.Snapshot{
		State: t.stateDocument(), Caps: t.body.Caps(t.cfg, manual.Verbs(&t.body)),
		Mono: t.now.Mono, Boot: t.report.Boot(), Volume: 1,
		FleetStops: t.latches.RecordedIDs(), LinkBudget: t.cfg.Link.Lost, ContinueOnReturn: t.cfg.ContinueOnReturn,
	}
	if v := t.body.Volume(); v.Given {
		s.Volume = v.Value
	}
	t.toModes(func(m mode.Step) { s.Modes = m.List(t.body.CalibrationChecks(t.cfg.Languages)) })
	return s
}

// AckState is the robot's state as in answers.
func (s *State) AckState() schema.AckState {
	return schema.AckState{Mode: s.modes.Active(), Safety: s.safety.At, Auto: s.perform.Auto().Status}
}

func (t *step) heartbeatDocument(seq int64, next time.Duration) *schema.Heartbeat {
	h := &schema.Heartbeat{
		Session: t.report.Session(), Seq: seq, MonoMS: t.now.Mono.Milliseconds(), Boot: t.report.Boot(),
		Mode: t.modes.Active(), Safety: t.safety.At, StateSeq: t.report.StateSeq(),
	}
	if next != schema.DefaultHeartbeat {
		h.NextMS = next.Milliseconds()
	}
	t.link.Fill(h, t.now)
	return h
}
