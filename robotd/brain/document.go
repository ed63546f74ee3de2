package brain

import (
	"troupe/robotd/auto"
	"troupe/robotd/effect"
	"troupe/robotd/manual"
	"troupe/robotd/safety"
	"troupe/robotd/supervisor"
	"troupe/schema"
)

// stateDocument is the state document of the robot as it is now.
func (t *step) stateDocument() *schema.State {
	d := &schema.State{
		TS: t.now.Wall, Session: t.report.Session(), Boot: t.report.Boot(), StateSeq: t.report.StateSeq(),
		Safety: schema.StateSafety{
			NotPersisted: t.stops.NotPersisted(),
			State:        t.safety.At, Cause: t.safety.Cause.Reason,
			LatchedBy:   safety.LatchedBy(t.safety, t.safetyFacts()),
			CauseDetail: t.safety.CauseDetail(),
			EStopInput:  len(t.body.PressedInputs()) > 0,
			Latches:     t.stops.Document(),
		},
		Mode: t.modes.Document(t.perform.Auto().Status == schema.AutoPaused),
		Auto: schema.StateAuto{
			Status: t.perform.Auto().Status, Reason: t.perform.Auto().Reason,
			ActIndex: t.perform.Auto().Act, Act: t.perform.ActName(), Loop: t.perform.Auto().Loop, FailedRounds: t.perform.Auto().FailedRounds,
			PauseCount: t.perform.Auto().Count(), PauseHolders: []schema.Pause{},
		},
		Interrupts: []schema.Interrupt{}, Interrupters: []schema.Interrupter{},
		Queue: t.queueDocument(), Intent: t.intent.Document(), Life: t.lives().Document(t.perform.Performs),
		Link:  t.beats.Link(t.now, t.cfg.Mode.Rule(t.modes.Active()).LinkLoss),
		Units: t.body.UnitStates(), Diagnosis: t.health.Document(),
		Control: t.manual.Document(), Recording: t.manuals().Recording(),
		Alerts: append([]schema.Alert{}, t.report.Alerts()...),
		Log:    t.report.LogOn(), Dropped: schema.DroppedCounters{Events: t.report.Dropped(), Acks: t.answers.Journal().Dropped(), Records: t.report.RecordsDropped()},
	}
	d.Running = t.answers.Journal().Running()
	if last, ok := t.answers.Journal().Last(); ok {
		d.LastReq = &last
	}
	for _, v := range t.signals.List() {
		d.Signals = append(d.Signals, schema.SignalState{Signal: string(v.Signal), Name: v.Name, Level: v.Level, Since: t.now.At(v.Since)})
	}
	d.Auto.Story = t.perform.Story()
	for _, p := range t.perform.Auto().Held() {
		by := p.Client
		if p.Kind == auto.ByOperator {
			by = t.beats.Asker(p.Client, p.Person)
		}
		d.Auto.PauseHolders = append(d.Auto.PauseHolders, schema.Pause{Token: p.Name(), By: by, Why: p.Why, Since: t.now.At(p.Since), NeedsContinue: p.NeedsContinue()})
	}
	for _, e := range t.perform.Queue().Running() {
		d.Interrupts = append(d.Interrupts, schema.Interrupt{ID: e.ID, Handler: e.Handler, Interrupter: e.Interrupter, Since: t.now.At(e.Since)})
	}
	for i, id := range t.cfg.Interrupts.Interrupters {
		d.Interrupters = append(d.Interrupters, schema.Interrupter{ID: id, State: t.perform.Queue().Interrupter(i)})
	}
	return d
}

// snapshot is the robot as the page at the robot shows it.
func (t *step) snapshot() effect.Snapshot {
	s := effect.Snapshot{
		State: t.stateDocument(), Caps: t.body.Caps(t.cfg, manual.Verbs(&t.body)),
		Mono: t.now.Mono, Boot: t.report.Boot(), Volume: 1,
	}
	if v := t.body.Volume(); v.Given {
		s.Volume = v.Value
	}
	t.toModes(func(m supervisor.Step) { s.Modes = m.List(t.body.Critical(t.cfg.Languages)) })
	return s
}

// Current is the robot's state as in answers.
func (s *State) Current() schema.AckState {
	return schema.AckState{Mode: s.modes.Active(), Safety: s.safety.At, Auto: s.perform.Auto().Status}
}

func (t *step) heartbeatDocument(seq int64) *schema.Heartbeat {
	h := &schema.Heartbeat{
		Session: t.report.Session(), Seq: seq, MonoMS: t.now.Mono.Milliseconds(), Boot: t.report.Boot(),
		Mode: t.modes.Active(), Safety: t.safety.At, StateSeq: t.report.StateSeq(),
	}
	t.beats.Fill(h, t.now)
	return h
}

func (t *step) queueDocument() schema.StateQueue {
	q := t.report.EndedActs()
	q.Queued = append(t.lanes.Acts(manual.ActLane), t.perform.Acts(&t.lanes)...)
	for i, a := range q.Queued {
		if i == 0 {
			q.Current = a.Act
		} else {
			q.Waiting = append(q.Waiting, a.Act)
		}
	}
	return q
}
