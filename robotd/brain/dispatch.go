package brain

import (
	"cmp"
	"time"

	"troupe/robotd/answer"
	"troupe/robotd/auto"
	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/intent"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/perform"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/verb"
)

// commanded takes a command as received. A stop overtakes other messages; a command that
// arrived before the stop and is read after it is too late.
func (t *step) commanded(ev event.Command) {
	stop := answer.IsStop(ev.Group + "/" + ev.Verb)
	if t.answers.IsRemoval(ev) && !stop {
		return
	}
	t.answers.NoteRetained(ev)
	a := request.Arrival{Client: ev.Client, Group: ev.Group, Verb: ev.Verb, Payload: ev.Payload, Retained: ev.Retained, DiskBehind: ev.Behind, Late: t.beats.Late(t.now, ev), InForce: t.modes.InForce()}
	if stop {
		t.stopped = max(t.stopped, ev.N)
	} else {
		a.Overtaken = ev.N != 0 && ev.N < t.stopped
	}
	t.stepRequests(a)
}

// dispatch passes a command to the machine that decides it. The machine answers in this
// step or in a later one.
func (t *step) dispatch(o request.Perform) {
	if t.cancelledByLinkLoss(o) || t.uncontrolled(o) {
		return
	}
	if !t.met(o.Key, o.If) {
		return
	}
	taken := true
	switch o.Verb.Part { // no table of functions: t would escape, and each step would allocate it
	case verb.PartSafety:
		t.askSafety(o)
	case verb.PartMode:
		taken = t.takeMode(o)
	case verb.PartLife:
		taken = t.life.Ask(o, t.beats.Asker(o.Client, o.By))
	case verb.PartStory:
		taken = t.perform.Ask(o)
	case verb.PartControl:
		t.toManual(func(m manual.Step) { m.AskControl(o) })
	case verb.PartManual:
		t.takeManual(o)
	case verb.PartIntent:
		taken = t.takeIntent(o)
	case verb.PartRequests:
		taken = t.takeRequests(o)
	case verb.PartReport:
		taken = t.takeReport(o)
	case verb.PartDesired:
		taken = t.takeDesired(o)
	case verb.PartRobot:
		taken = t.takeRobot(o)
	case verb.PartDiagnosis:
		taken = t.takeDiagnosis(o)
	default:
		taken = false
	}
	if !taken {
		t.refuse(o, schema.ReasonUnknownVerb, "", "this robot does not know "+o.Verb.ID())
	}
}

// takeMode takes a command of modes. A mode that performs is paused by tokens of the story,
// whichever verb requests it.
func (t *step) takeMode(o request.Perform) bool {
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
	return t.modes.Ask(o, t.beats.Asker(o.Client, o.By))
}

func (t *step) takeManual(o request.Perform) {
	if a, ok := o.Args.(verb.Perform); ok && t.modes.InCharge().Performs {
		t.toPerform(func(p perform.Step) { p.AskAct(o, a) })
		return
	}
	asker := t.beats.Asker(o.Client, o.By)
	t.toManual(func(m manual.Step) { m.Ask(o, asker) })
}

func (t *step) takeIntent(o request.Perform) bool {
	a, ok := o.Args.(verb.PostIntent)
	if ok {
		t.toIntent(func(i intent.Step) { i.Post(o, a) })
	}
	return ok
}

// takeRequests takes commands about other commands. Package request answers the others of
// them itself.
func (t *step) takeRequests(o request.Perform) bool {
	a, ok := o.Args.(verb.Cancel)
	if ok {
		t.cancel(o, a.ID)
	}
	return ok
}

func (t *step) takeReport(o request.Perform) bool {
	switch a := o.Args.(type) {
	case verb.Resync:
		t.resync(o)
	case verb.Replay:
		t.toReport(func(r report.Step) { r.Replay(o, a) })
	case verb.ExportRecord:
		t.toReport(func(r report.Step) { r.ExportRecord(o, a) })
	case verb.LogOn, verb.LogOff:
		t.toReport(func(r report.Step) { r.SetLog(o, o.Args == verb.LogOn{}) })
	default:
		return false
	}
	return true
}

func (t *step) takeDesired(o request.Perform) bool {
	a, ok := o.Args.(verb.Adopt)
	if ok {
		t.toDesired(func(d desired.Step) { d.Adopt(o, string(a.FleetID)) })
	}
	return ok
}

// takeRobot takes commands about robotd itself.
func (t *step) takeRobot(o request.Perform) bool {
	a, ok := o.Args.(verb.Reboot)
	if ok {
		t.reboot(o, cmp.Or(a.Why, o.Why))
	}
	return ok
}

// reboot ends robotd like a shutdown. Its answer precedes the end, because the connection
// ends with robotd.
func (t *step) reboot(o request.Perform, why string) {
	if t.feeding() {
		t.refuse(o, schema.ReasonBusy, "", "the robot may move, it is "+string(t.safety.At)+"; safety/stop ends that")
		return
	}
	t.modes.Add(mode.Input{Kind: mode.Shutdown, Restart: true})
	t.recordEvent("ending", "brain", "sys/reboot by "+t.beats.Asker(o.Client, o.By), string(o.Key), effect.Described{Detail: why})
	t.reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Detail: "robotd ends; its supervisor starts it again"})
}

func (t *step) takeDiagnosis(o request.Perform) bool {
	a, ok := o.Args.(verb.AckFault)
	if ok {
		t.collect(func() { t.healths().Acknowledge(o, a.Source) })
	}
	return ok
}

// cancelledByLinkLoss refuses a command whose connection was lost while the disk wrote it:
// its sender cannot see the robot any more, and nothing moves by itself after a lost link.
func (t *step) cancelledByLinkLoss(o request.Perform) bool {
	switch o.Verb.Class {
	case verb.ClassStop, verb.ClassSys, verb.ClassControl:
		return false
	}
	if o.Arrived >= t.report.SessionEnded() || o.Client == schema.LocalClient {
		return false
	}
	t.reply(o.Key, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonLinkLost, Detail: "the connection broke before it was begun; ask again"})
	return true
}

// currentState returns what the condition of a command can refer to. Between two modes neither
// is in charge.
func (t *step) currentState() schema.Precondition {
	m := t.modes.Mode()
	p := schema.Precondition{Mode: m.Active, StateSeq: t.report.StateSeq(), Session: t.report.Session(), StoryRev: t.perform.StoryRev()}
	if m.Next != "" {
		p.Mode = "on its way to " + m.Next
	}
	return p
}

// met reports whether the condition of a command still holds, and otherwise refuses the
// command. It is checked when the command is dispatched and again when a machine takes it,
// because commands before it in the inbox may have changed the robot.
func (t *step) met(by request.Key, when schema.Precondition) bool {
	v, fails := request.Unmet(when, t.currentState())
	if fails {
		t.reply(by, v)
	}
	return !fails
}

// askSafety passes a request to the safety core. A stop precedes everything that waits, and
// removes it: what was requested before a stop does not happen after it.
func (t *step) askSafety(o request.Perform) {
	r := safety.Request{
		Verb: safety.Verb(o.Verb.Name), ID: string(o.Key), Source: "operator", By: t.beats.Asker(o.Client, o.By),
		Why: o.Why, Asked: o.Arrived, HasAsked: true,
	}
	switch a := o.Args.(type) {
	case verb.Stop:
		r.Why = cmp.Or(a.Why, o.Why)
	case verb.Allow:
		r.Seen, r.HasSeen = time.Duration(a.SeenMonoMS)*time.Millisecond, a.SeenMonoMS != 0
		switch a.SeenBoot {
		case "":
		case t.report.Boot():
			r.SeenIn = safety.ThisRun
		default:
			r.SeenIn = safety.OtherRun
		}
	}
	if r.Verb.Stops() {
		t.stopOrdered(o, r.Why)
		t.toSafety.Clear(func(w request.Waiting[safety.Request]) {
			t.reply(w.By, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: "a stop came before it was done", Refs: o.Key.Refs()})
		})
	}
	t.toSafety.Put(r, o.Key, o.If)
}

// uncontrolled refuses a command whose sender lacks the control that it needs.
func (t *step) uncontrolled(o request.Perform) (refused bool) {
	t.toManual(func(m manual.Step) { refused = m.RefuseWithoutControl(o) })
	return refused
}

func (t *step) refuse(o request.Perform, why schema.Reason, pointer, detail string) {
	t.reply(o.Key, schema.Verdict{Status: schema.StatusRejected, Reason: why, Pointer: pointer, Detail: detail})
}
