package brain

import (
	"cmp"
	"fmt"

	"troupe/robotd/act"
	"troupe/robotd/command"
	"troupe/robotd/control"
	"troupe/robotd/delivery"
	"troupe/robotd/desired"
	"troupe/robotd/diagnosis"
	"troupe/robotd/effect"
	"troupe/robotd/intent"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/operatorlink"
	"troupe/robotd/perform"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// carryOut carries out, in order, what a part of the robot added to the list from index from
// on.
func (t *step) carryOut(from int) {
	for i, n := from, t.list.Len(); i < n; i++ {
		switch in := t.list.At(i).(type) {
		case effect.Move:
			t.move(in)
		case effect.SaveValue:
			t.values.Saving(in)
			t.do(in)
		case effect.Effect:
			t.do(in)
		case effect.Event:
			t.recordEvent(in.Kind, in.Source, in.Cause, in.Req, in.Data)
		case effect.RaiseAlert:
			t.raise(in)
		case effect.ClearAlert:
			t.clear(in.Kind, in.Source)
		case effect.Reply:
			t.answer(in)
		case effect.Revoke:
			t.toRequests(func(q request.Step) { q.Revoke(in) })
		case effect.Dispatch:
			t.dispatch(in)
		case effect.Progress:
			t.toRequests(func(q request.Step) { q.Progress(in) })
		case effect.CancelWaiting:
			t.toRequests(func(q request.Step) { q.CancelWaiting(in) })
		case effect.StateChanged:
			t.changed(in.Urgency)
		case effect.Document:
			t.publish(in)
		case effect.DiskRefused:
			t.noteDiskWrite(in.Refused)
		case effect.StoryTried:
			t.toDesired(func(d desired.Step) { d.StoryTried(in) })
		case effect.SetMode:
			t.modes.Set(in.Mode, in.By)
		case effect.ModeIntended:
			t.desiredStep().NoteIntendedMode(in.By, in.Mode)
		case effect.PerformStory:
			if in.On {
				t.perform.Enter(in.Asked)
			} else {
				t.perform.Leave()
			}
		case effect.FocusActivity:
			t.toPerform(func(p perform.Step) { p.Focus(in) })
		case effect.EndActivity:
			t.toPerform(func(p perform.Step) { p.EndFocus(in) })
		case effect.ActivityEnded:
			t.life.Ended(in)
		case effect.Abilities:
			t.perform.SetAbilities(in.Names)
		case effect.AskStop:
			t.safety.AskStop(in)
		case effect.ActCompleted:
			t.report.ActCompleted(in.ID, in.Req)
		case effect.ActFailed:
			t.toReport(func(r report.Step) { r.ActFailed(in.ID, in.Req, in.Reason, in.Detail) })
		case effect.Look:
			t.look(in)
		case effect.PublishAll:
			t.publishRetained()
		case effect.CapsChanged:
			t.publishCaps()
		case effect.TaughtChanged:
			t.shareTaught()
			t.publishCaps()
			t.publishActs()
			t.toDesired(desired.Step.RobotChanged)
		default:
			panic(fmt.Sprintf("brain: no part takes the output %T", in))
		}
	}
	t.list.Cut(from)
}

// runAndCarryOut calls do and carries out what it adds to the list.
func (t *step) runAndCarryOut(do func()) {
	from := t.list.Len()
	do()
	t.carryOut(from)
}

// reportStep returns the part report with its facts.
func (t *step) reportStep() report.Step {
	return report.Step{State: &t.report, Now: t.now, Out: &t.list}
}

// toReport and its siblings call a part and carry out what it returns.
func (t *step) toReport(do func(report.Step)) { t.runAndCarryOut(func() { do(t.reportStep()) }) }

// recordEvent adds an event to the history.
func (t *step) recordEvent(kind, source, cause, req string, data any) {
	t.signals.Note(t.now.Mono, kind)
	if t.permitted {
		t.later = append(t.later, effect.Event{Kind: kind, Source: source, Cause: cause, Req: req, Data: data})
		return
	}
	t.toReport(func(r report.Step) { r.Event(kind, source, cause, req, data) })
}

// recordLater adds the entries to the history that waited for an answer.
func (t *step) recordLater() {
	for _, e := range t.later {
		t.toReport(func(r report.Step) {
			r.AfterAnswer = true
			r.Event(e.Kind, e.Source, e.Cause, e.Req, e.Data)
		})
	}
	clear(t.later)
	t.permitted, t.later = false, t.later[:0]
}

// log adds a line to the log: one for each transition of a machine.
func (t *step) log(machine, from, to, why, cause string) {
	t.do(effect.LogTransition{Machine: machine, From: from, To: to, Why: why, Cause: cause})
}

// raise adds an alert to the state, and clear removes it.
func (t *step) raise(a effect.RaiseAlert) {
	t.toReport(func(r report.Step) { r.RaiseAlert(a, t.body.Has(a.Source)) })
}

func (t *step) clear(kind, source string) {
	t.toReport(func(r report.Step) { r.Clear(kind, source) })
}

func (t *step) changed(u effect.Urgency) { t.report.Changed(u) }

// noteDiskWrite notes whether the disk refused a write; refused is empty if it did not.
func (t *step) noteDiskWrite(refused schema.Reason) {
	t.toReport(func(r report.Step) { r.NoteDiskWrite(refused) })
}

func (t *step) publish(d effect.Document) { t.toReport(func(r report.Step) { r.PublishWithin(d) }) }

func (t *step) cancelReplay(of, by command.Key) (found bool) {
	t.toReport(func(r report.Step) { found = r.CancelReplay(of, by) })
	return found
}

// manualStep returns the part manual with its facts.
func (t *step) manualStep() manual.Step {
	lost, _ := t.link.Lost(t.now)
	f := manual.Facts{
		CurrentState: t.preconditionNow(), Safety: t.safety.At, Session: t.report.Session(), Body: &t.body, Health: &t.diagnosis,
		Standstill: t.standstill(), Manual: t.modes.Manual(), Modes: &t.modes,
		Reachable: !lost && (t.report.Session() != "" || t.link.AtRobot(t.now)),
	}
	f.Story.Acts, f.Story.Files, f.Story.Languages = t.perform.Repertoire()
	return manual.Step{State: &t.manual, Facts: f, Now: t.now, Lanes: &t.lanes, Out: &t.list}
}

func (t *step) toManual(do func(manual.Step)) { t.runAndCarryOut(func() { do(t.manualStep()) }) }

// performStep returns the part perform with its facts.
func (t *step) performStep() perform.Step {
	lost, _ := t.link.Lost(t.now)
	people, bearing := t.modes.People()
	return perform.Step{State: &t.perform, Now: t.now, Lanes: &t.lanes, Out: &t.list, Facts: perform.Facts{
		CurrentState: t.preconditionNow(), Safety: t.safety.At, Standstill: t.standstill(),
		LinkLostForAto:  lost && t.cfg.Mode.Settings(t.modes.Performer().ID).LinkLoss != schema.LinkLossContinue,
		LinkLostForMode: lost && t.cfg.Mode.Settings(t.modes.Mode().Active).LinkLoss != schema.LinkLossContinue,
		InCalibration:   t.modes.InCalibration(),
		Running:         t.modes.Mode().System == schema.SystemRunning,
		Pause:           t.diagnosis.AtoPaused(), EntryRefused: t.diagnosis.EntryRefused(), UnitCritical: len(t.diagnosis.Causes()) > 0,
		Battery: perform.Battery(t.body.Battery()), Body: &t.body,
		People: people, Bearing: bearing, Signals: &t.signals, Health: &t.diagnosis, Activities: t.desired.Activities(),
	}}
}

func (t *step) toPerform(do func(perform.Step)) { t.runAndCarryOut(func() { do(t.performStep()) }) }

func (t *step) toLink(do func(operatorlink.Step)) {
	t.runAndCarryOut(func() {
		do(operatorlink.Step{State: &t.link, Now: t.now, Alerts: t.report.Alerts(), Indifferent: t.indifferentToLink(), Out: &t.list})
	})
}

func (t *step) toIntent(do func(intent.Step)) {
	from := t.list.Len()
	m := (*desiredView)(t.State).ModeFacts()
	do(intent.Step{State: &t.intent, Now: t.now, Out: &t.list, Facts: intent.Facts{Session: t.report.Session(), Boot: t.report.Boot(),
		ModePrevented: m.Prevented, Detail: m.Detail}})
	t.carryOut(from)
}

// diagnosisStep returns the part diagnosis.
func (t *step) diagnosisStep() diagnosis.Step {
	return diagnosis.Step{State: &t.diagnosis, Now: t.now, Lanes: &t.lanes, Out: &t.list}
}

// desiredStep returns the part desired with its facts.
func (t *step) desiredStep() desired.Step {
	d := desired.Step{State: &t.desired, Now: t.now, Out: &t.list}
	if !t.report.DocumentsPending() { // a new session gets the reports after the state
		d.Session = t.report.Session()
	}
	if fleet, known := t.link.FleetTime(t.now); known {
		d.Fleet = fleet
	}
	return d
}

// toDesired also makes the performance follow the active story.
func (t *step) toDesired(do func(desired.Step)) {
	from := t.list.Len()
	do(t.desiredStep())
	l, why := t.desired.Story().InUse()
	t.performStep().Accept(l, why, t.desired.Story().WhyUnusable())
	t.carryOut(from)
}

// desiredView is the robot as the part desired sees it.
type desiredView State

// Capabilities are those that stories are fitted to.
func (s *desiredView) Capabilities() schema.Caps { return s.body.Capabilities(s.cfg.Languages) }

// Check lets the executor check an act.
func (s *desiredView) Check(a *score.Act) *act.Refusal { return s.lanes.Check(a) }

// Taught are the acts that people taught the robot, and their digest.
func (s *desiredView) Taught() (map[string]score.Act, string) {
	taught := s.manual.Taught()
	return taught.Acts(), taught.Digest()
}

// shareTaught gives the other parts what people taught the robot.
func (s *State) shareTaught() {
	s.body.SetTaught(s.manual.Taught().Points())
	s.perform.SetTaught(s.manual.Taught().Acts())
}

// SetPlaces gives the fleet's places to the body.
func (s *desiredView) SetPlaces(p *score.Places) { s.body.SetPlaces(p) }

// AtoPerforms reports whether ato performs the story.
func (s *desiredView) AtoPerforms() bool { return s.perform.Auto().Status == schema.AutoPerforming }

// DeliveryFacts are the facts about the performance for the delivery of stories.
func (s *desiredView) DeliveryFacts() delivery.Facts {
	at := s.perform.Auto().Status
	return delivery.Facts{
		Performing:  at == schema.AutoPerforming || at == schema.AutoPaused,
		Paused:      at == schema.AutoPaused,
		BetweenActs: s.perform.BetweenActs(),
		Interrupted: s.perform.InterruptRuns(),
	}
}

// ModeFacts are the facts for the desired mode.
func (s *desiredView) ModeFacts() desired.ModeFacts {
	m := s.modes.Mode()
	f := desired.ModeFacts{Active: m.Active, Settled: m.Phase == mode.Ready || m.Phase == mode.Safe}
	switch c, waits := s.manual.Control(), s.perform.Auto().NeedsContinue(); {
	case m.Phase == mode.Safe || m.Next == s.cfg.Mode.Safe:
		f.Prevented, f.Detail = cmp.Or(m.Reason, schema.ReasonModeFailed), "the robot is in "+string(s.cfg.Mode.Safe)+
			"; only an operator leads out"
	case safety.NeedsReset(s.safety.At):
		f.Prevented, f.Detail = schema.ReasonNeedsReset, (*State)(s).standstill().String()
	case len(s.latches.Latches()) > 0:
		f.Prevented, f.Detail = schema.ReasonLatched, (*State)(s).standstill().String()
	case waits != "": // a switch of modes would release the pause that waits for auto/continue
		f.Prevented, f.Detail = waits, string(m.Active)+" was stopped or lost its link; auto/continue continues it"
	case c.At == control.Held:
		f.Prevented, f.Detail = schema.ReasonNotInControl, c.Lease.Who.String()+" has control of the robot"
	}
	return f
}
