package brain

import (
	"cmp"
	"time"

	"troupe/robotd/auto"
	"troupe/robotd/desired"
	"troupe/robotd/event"
	"troupe/robotd/interrupt"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/perform"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
)

// commanded takes a command as it came. A stop overtakes other messages on its way; what
// arrived before the stop and is read after it is too late.
func (t *step) commanded(ev event.Command) {
	if t.isRemoval(ev) && !isStop(ev.Group+"/"+ev.Verb) {
		return
	}
	t.noteRetained(ev)
	a := request.Arrival{Client: ev.Client, Group: ev.Group, Verb: ev.Verb, Payload: ev.Payload, Retained: ev.Retained, Local: ev.Local, DiskBehind: ev.Behind, Late: t.late(ev)}
	if isStop(ev.Group + "/" + ev.Verb) {
		t.stopped = max(t.stopped, ev.N)
	} else {
		a.Overtaken = ev.N != 0 && ev.N < t.stopped
	}
	t.stepRequests(a)
}

// dispatch hands an order to the machine that decides it. The machine answers in this
// step or in a later one.
func (t *step) dispatch(o request.Perform) {
	if t.cancelledByLinkLoss(o) || t.uncontrolled(o) {
		return
	}
	if !t.met(o.Key, o.If) {
		return
	}
	switch o.Verb.ID() {
	case "safety/stop", "safety/soft-stop", "safety/halt", "safety/estop", "safety/enable", "safety/reset":
		t.askSafety(o)
	case "mode/set":
		t.askMode(o, mode.Input{Kind: mode.Set, Mode: o.Args.Mode, Restart: o.Args.Restart})
	case "mode/pause":
		if t.mode.Active == schema.ModeAto {
			t.perform.AskAuto(o, auto.Pause) // the pauses of ato are its tokens, whoever asks
			return
		}
		t.askMode(o, mode.Input{Kind: mode.Pause})
	case "mode/resume":
		if t.mode.Active == schema.ModeAto {
			t.perform.AskAuto(o, auto.Continue)
			return
		}
		t.askMode(o, mode.Input{Kind: mode.Resume})
	case "mode/kill":
		t.askMode(o, mode.Input{Kind: mode.Kill})
	case "mode/enable":
		t.askMode(o, mode.Input{Kind: mode.Enable, Mode: o.Args.Mode})
	case "mode/disable":
		t.askMode(o, mode.Input{Kind: mode.Disable, Mode: o.Args.Mode})
	case "auto/start":
		t.perform.AskAuto(o, auto.StartStory)
	case "auto/stop":
		t.perform.AskAuto(o, auto.StopStory)
	case "auto/pause":
		t.perform.AskAuto(o, auto.Pause)
	case "auto/continue":
		t.perform.AskAuto(o, auto.Continue)
	case "interrupt/request":
		t.perform.AskQueue(o, interrupt.Input{What: interrupt.Request, Handler: o.Args.Handler, Interrupter: cmp.Or(o.Args.Interrupter, "screen")})
	case "interrupt/cancel":
		t.perform.AskQueue(o, interrupt.Input{What: interrupt.Cancel, ID: o.Args.ID, Reason: schema.ReasonStopped})
	case "interrupter/run":
		t.perform.AskQueue(o, interrupt.Input{What: interrupt.Run, Interrupter: o.Args.Interrupter})
	case "interrupter/stop":
		t.perform.AskQueue(o, interrupt.Input{What: interrupt.Stop, Interrupter: o.Args.Interrupter})
	case "control/acquire", "control/renew", "control/release", "control/takeover":
		t.toManual(func(m manual.Step) { m.AskControl(o) })
	case "manual/stop", "manual/goto", "manual/head", "manual/say", "manual/sound", "manual/volume", "manual/face", "manual/led", "manual/act":
		t.askManual(o)
	case "act/perform":
		if t.mode.Active == schema.ModeAto {
			t.toPerform(func(p perform.Step) { p.AskAct(o) })
			return
		}
		t.askManual(o)
	case "sys/cancel":
		t.cancel(o)
	case "sys/resync":
		t.resync(o)
	case "sys/replay":
		t.toReport(func(r report.Step) { r.Replay(o) })
	case "sys/adopt":
		t.toDesired(func(d desired.Step) { d.Adopt(o) })
	default:
		t.reply(o.Key, request.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonUnknownVerb, Detail: "this robot does not know " + o.Verb.ID()})
	}
}

// cancelledByLinkLoss refuses an order that came over a connection that broke while the
// disk was busy with it: its sender no longer sees the robot, and nothing may move by
// itself after a lost link.
func (t *step) cancelledByLinkLoss(o request.Perform) bool {
	switch o.Verb.Class {
	case schema.ClassStop, schema.ClassSys, schema.ClassControl:
		return false
	}
	if o.Local || o.Arrived >= t.report.Ended() {
		return false
	}
	t.reply(o.Key, request.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonLinkLost, Detail: "the connection broke before it was begun; ask again"})
	return true
}

// standing is what an order may make a condition. Between two modes neither is in charge.
func (t *step) standing() schema.Precondition {
	p := schema.Precondition{Mode: t.mode.Active, StateSeq: t.report.StateSeq(), Session: t.report.Session(), StoryRev: t.perform.StoryRev()}
	if t.mode.Next != "" {
		p.Mode = "on its way to " + t.mode.Next
	}
	return p
}

// met reports whether the condition of an order still holds, and refuses the order if
// not. It is asked as the order is dispatched and again as a machine takes it, for what
// stood before it in the inbox may have changed the robot.
func (t *step) met(by request.Key, when schema.Precondition) bool {
	v, fails := request.Unmet(when, t.standing())
	if fails {
		t.reply(by, v)
	}
	return !fails
}

// askSafety hands a request to the safety core. A stop goes before everything that waits
// and removes it: what was asked before a stop does not happen after it.
func (t *step) askSafety(o request.Perform) {
	r := safety.Request{
		Verb: safety.Verb(o.Verb.Name), ID: string(o.Key), Source: "operator", By: t.asker(o.Client, o.By),
		Why: cmp.Or(o.Args.Why, o.Why), Local: o.Local, Asked: o.Arrived, HasAsked: true,
	}
	if o.Args.SeenMonoMS != 0 {
		r.Seen, r.HasSeen = time.Duration(o.Args.SeenMonoMS)*time.Millisecond, true
	}
	switch o.Args.SeenBoot {
	case "":
	case t.report.Boot():
		r.SeenIn = safety.ThisRun
	default:
		r.SeenIn = safety.OtherRun
	}
	if r.Verb == safety.Reset && r.Local {
		t.resetHere()
	}
	if r.Verb.Stops() {
		t.stopOrdered(o)
		t.toSafety.Clear(func(w request.Waiting[safety.Request]) {
			t.reply(w.By, request.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: "a stop came before it was done", Refs: o.Key.Refs()})
		})
	}
	t.toSafety.Put(r, o.Key, o.If)
}

// requestStop lets a part of the robot itself ask for STOP.
func (t *step) requestStop(source, why string) {
	t.toSafety.Add(safety.Request{Verb: safety.Stop, Source: source, Why: why})
}

func (t *step) askMode(o request.Perform, in mode.Input) {
	in.Req = string(o.Key)
	t.toMode.Put(in, o.Key, o.If)
}

// uncontrolled refuses an order whose sender lacks the control that it needs.
func (t *step) uncontrolled(o request.Perform) (refused bool) {
	t.toManual(func(m manual.Step) { refused = m.Uncontrolled(o) })
	return refused
}

func (t *step) askManual(o request.Perform) {
	asker := t.asker(o.Client, o.By)
	t.toManual(func(m manual.Step) { m.Ask(o, asker) })
}

func (t *step) refuse(o request.Perform, why schema.Reason, pointer, detail string) {
	t.reply(o.Key, request.Verdict{Status: schema.StatusRejected, Reason: why, Pointer: pointer, Detail: detail})
}
