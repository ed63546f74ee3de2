package brain

import (
	"troupe/robotd/auto"
	"troupe/robotd/control"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/safety"
	"troupe/schema"
)

// stateDocument is the state document of the robot as it is now.
func (t *step) stateDocument() *schema.State {
	d := &schema.State{
		TS: t.now.Wall, Session: t.report.Session(), Boot: t.report.Boot(), StateSeq: t.report.StateSeq(),
		Safety: schema.StateSafety{
			NotPersisted: t.stops.NotPersisted(),
			State:        t.safety.At, Cause: t.safety.Cause.Reason,
			LatchedBy:  safety.LatchedBy(t.safety, t.safetyFacts()),
			EStopInput: len(t.body.Inputs()) > 0,
			Latches:    t.stops.Document(),
		},
		Mode: schema.StateMode{
			System: t.mode.System, Active: t.activeMode(), Intended: t.mode.Intended,
			Phase: t.mode.DocumentPhase(), Paused: t.modePaused(), Since: t.modeSince,
			FallbackFrom: t.mode.FellFrom, Calibrated: t.mode.Calibrated,
		},
		Auto: schema.StateAuto{
			Status: t.perform.Auto().Status, Reason: t.perform.Auto().Reason,
			ActIndex: t.perform.Auto().Act, Act: t.perform.ActName(), Loop: t.perform.Auto().Loop,
			PauseCount: t.perform.Auto().Count(), PauseHolders: []schema.Pause{},
		},
		Interrupts: []schema.Interrupt{}, Interrupters: []schema.Interrupter{},
		Queue:   t.queueDocument(),
		Link:    t.beats.Link(t.now, t.cfg.Mode.Rule(t.activeMode()).LinkLoss),
		Units:   t.body.UnitStates(),
		Control: t.manual.Document(),
		Alerts:  append([]schema.Alert{}, t.report.Alerts()...),
		Dropped: schema.DroppedCounters{Events: t.report.Dropped(), Acks: t.requests.Dropped()},
	}
	d.Running = t.requests.Running()
	if last, ok := t.requests.Last(); ok {
		d.LastReq = &last
	}
	d.Auto.Story = t.perform.Story()
	for _, p := range t.perform.Auto().Held() {
		by := p.Client
		if p.Kind == auto.ByOperator {
			by = t.beats.Asker(p.Client, p.Person)
		}
		d.Auto.PauseHolders = append(d.Auto.PauseHolders, schema.Pause{Token: p.Name(), By: by, Why: p.Why, Since: t.now.At(p.Since)})
	}
	for _, e := range t.perform.Queue().Running() {
		d.Interrupts = append(d.Interrupts, schema.Interrupt{ID: e.ID, Handler: e.Handler, Interrupter: e.Interrupter, Since: t.now.At(e.Since)})
	}
	for i, id := range t.cfg.Interrupts.Interrupters {
		d.Interrupters = append(d.Interrupters, schema.Interrupter{ID: id, State: t.perform.Queue().Interrupter(i)})
	}
	return d
}

// activeMode is the mode in charge. Between two modes it is the requested one, so that the
// field is never empty while phase is "switching".
func (t *step) activeMode() schema.ModeID {
	switch {
	case t.mode.Active != "":
		return t.mode.Active
	case t.mode.Next != "":
		return t.mode.Next
	case t.lastMode != "":
		return t.lastMode
	}
	return t.cfg.Mode.Calibration
}

// modePaused reports whether the active mode is paused. A mode that performs is paused by
// the tokens of the story, the others by the supervisor.
func (t *step) modePaused() bool {
	if t.inCharge().Performs {
		return t.perform.Auto().Status == schema.AutoPaused
	}
	return t.mode.Paused(&t.cfg.Mode)
}

// current is the robot's state as in answers.
func (t *step) current() *schema.Now {
	return &schema.Now{Mode: t.activeMode(), Safety: t.safety.At, Auto: t.perform.Auto().Status}
}

// modesDocument is the catalogue of modes, with the reasons why each cannot be selected
// now.
func (t *step) modesDocument() *schema.Modes {
	leased := t.cfg.Control.Required == control.RequireAll
	return &schema.Modes{Session: t.report.Session(), Modes: t.mode.List(&t.cfg.Mode, t.modeFacts(mode.Input{}), t.modes, leased)}
}

func (t *step) heartbeatDocument(seq int64) *schema.Heartbeat {
	h := &schema.Heartbeat{
		Session: t.report.Session(), Seq: seq, MonoMS: t.now.Mono.Milliseconds(), Boot: t.report.Boot(),
		Mode: t.activeMode(), Safety: t.safety.At, StateSeq: t.report.StateSeq(),
	}
	t.beats.Fill(h, t.now)
	return h
}

func (t *step) queueDocument() schema.StateQueue {
	q := t.report.Acts()
	if acts := append(t.lanes.Acts(manual.Acts), t.perform.Acts(&t.lanes)...); len(acts) > 0 {
		q.Current, q.Waiting = acts[0], append(q.Waiting, acts[1:]...)
	}
	return q
}
