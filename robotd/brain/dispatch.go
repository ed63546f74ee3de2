package brain

import (
	"troupe/robotd/auto"
	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/intent"
	"troupe/robotd/latch"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/perform"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/verb"
)

// commanded takes a command as received. A stop overtakes other messages; a command that
// arrived before the stop and is read after it is too late.
func (t *step) commanded(ev event.Command) {
	stop := request.IsStop(ev.Group + "/" + ev.Verb)
	if t.requests.IsRemoval(ev) && !stop {
		return // the empty message with which fleetd removes a retained command
	}
	t.requests.NoteRetained(ev)
	overtaken := false
	if stop {
		t.latches.NoteNewest(ev.N)
	} else {
		overtaken = t.latches.Overtook(ev.N)
	}
	late, inForce := t.link.Late(t.now, ev), t.modes.InForce()
	t.toRequests(func(q request.Step) { q.Arrive(ev, overtaken, late, inForce) })
}

// dispatch passes a command to the machine that decides it. The machine answers in this
// step or in a later one.
func (t *step) dispatch(o effect.Dispatch) {
	t.limitMotion(o)
	if acts(&o.Verb) { // also if it is refused below: its sender meant to act
		t.desired.NoteActed()
	}
	refused := false
	t.toRequests(func(q request.Step) { refused = q.CancelAfterDisconnect(o) })
	if refused || t.uncontrolled(o) {
		return
	}
	met := false // its condition; the part that takes it checks again, because commands before it may change the robot
	if t.runAndCarryOut(func() { met = t.list.Met(o.Key, o.If, t.preconditionNow()) }); !met {
		return
	}
	taken, asker := true, t.link.Asker(o.Client, o.By)
	switch o.Verb.Part { // no table of functions: t would escape, and each step would allocate it
	case verb.PartSafety:
		t.toLatches(func(l latch.Step) { l.Command(o) })
		t.runAndCarryOut(func() { t.safetyStep().Ask(o, asker) })
	case verb.PartMode:
		taken = t.takeMode(o, asker)
	case verb.PartLife:
		taken = t.life.Ask(o, asker)
	case verb.PartStory:
		taken = t.perform.Ask(o)
	case verb.PartControl:
		t.toManual(func(m manual.Step) { m.AskControl(o) })
	case verb.PartManual:
		t.takeManual(o, asker)
	case verb.PartIntent:
		t.toIntent(func(i intent.Step) { taken = i.Ask(o) })
	case verb.PartRequests:
		taken = t.takeRequests(o)
	case verb.PartReport:
		t.toReport(func(r report.Step) { taken = r.Ask(o) })
	case verb.PartDesired:
		t.toDesired(func(d desired.Step) { taken = d.Ask(o) })
	case verb.PartRobot:
		t.toModes(func(m mode.Step) { taken = m.AskRobot(o, asker) })
	case verb.PartDiagnosis:
		if t.toPerform(func(p perform.Step) { taken = p.AskHelp(o) }); !taken {
			t.runAndCarryOut(func() { taken = t.diagnosisStep().Ask(o) })
		}
	default:
		taken = false
	}
	if !taken {
		t.reply(o.Key, schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonUnknownVerb, Detail: "this robot does not know " +
			o.Verb.ID()})
	}
}

// acts reports whether a command is about what the robot does, not only about its answers, reports and documents.
func acts(v *verb.Verb) bool {
	return v.Journal != verb.JournalNever && v.Part != verb.PartReport && v.Part != verb.PartDesired
}

// limitMotion lets the motion that a command permits begin no later than the command lives. A command that comes at the
// end of its time to live has commandTime nevertheless. One that permits no motion leaves the time to
// that of others, which may begin in the same step.
func (t *step) limitMotion(o effect.Dispatch) {
	switch {
	case o.Expires == 0 || o.Verb.Unit != "" && !o.Verb.Unit.Moves():
		return
	case o.Verb.Class == verb.ClassStop || o.Verb.Class == verb.ClassControl:
		return
	case o.Verb.Class == verb.ClassSys && o.Verb.Part != verb.PartDiagnosis: // an acknowledged fault bars motion no more
		return
	}
	t.motionUntil = min(t.motionUntil, max(o.Expires, t.now.Mono+commandTime))
}

// takeRequests takes commands about other commands. Package request answers the others of
// them itself.
func (t *step) takeRequests(o effect.Dispatch) bool {
	a, ok := o.Args.(verb.Cancel)
	if ok {
		t.cancel(o, a.ID)
	}
	return ok
}

// takeMode takes a command of modes. A mode that performs is paused by tokens of the story,
// whichever verb requests it.
func (t *step) takeMode(o effect.Dispatch, asker string) bool {
	if t.modes.InCharge().Performs {
		switch o.Args.(type) {
		case verb.PauseMode:
			t.perform.AskAuto(o, auto.Input{What: auto.Pause})
			return true
		case verb.ResumeMode:
			t.perform.AskAuto(o, auto.Input{What: auto.Continue})
			return true
		}
	}
	return t.modes.Ask(o, asker)
}

func (t *step) takeManual(o effect.Dispatch, asker string) {
	if a, ok := o.Args.(verb.Perform); ok && t.modes.InCharge().Performs {
		t.toPerform(func(p perform.Step) { p.AskAct(o, a) })
		return
	}
	t.toManual(func(m manual.Step) { m.Ask(o, asker) })
}

// preconditionNow returns what the condition of a command can refer to. Between two modes neither
// is in charge.
func (t *step) preconditionNow() schema.Precondition {
	m := t.modes.Mode()
	p := schema.Precondition{Mode: m.Active, StateSeq: t.report.StateSeq(), Session: t.report.Session(), StoryRev: t.perform.StoryRev()}
	if m.Next != "" {
		p.Mode = "on its way to " + m.Next
	}
	return p
}

// uncontrolled refuses a command whose sender lacks the control that it needs.
func (t *step) uncontrolled(o effect.Dispatch) (refused bool) {
	t.toManual(func(m manual.Step) { refused = m.RefuseWithoutControl(o) })
	return refused
}
