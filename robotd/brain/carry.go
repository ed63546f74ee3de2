package brain

import (
	"fmt"

	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/perform"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/schema"
)

// settle carries out what a part of the robot has left in the list from the i-th on,
// in the order in which it stands there.
func (t *step) settle(from int) {
	for i, n := from, t.list.Len(); i < n; i++ {
		switch in := t.list.At(i).(type) {
		case effect.Effect:
			t.do(in)
		case effect.Event:
			t.tell(in.Kind, in.Source, in.Cause, in.Req, in.Data)
		case effect.Raise:
			t.raise(in.Kind, in.Level, in.Source, in.Detail, in.Hint)
		case effect.Clear:
			t.clear(in.Kind, in.Source)
		case effect.Reply:
			t.reply(in.To, in.Verdict)
		case effect.Revoke:
			t.revoke(in.Key, in.Detail, in.Lease, in.By)
		case effect.Ask:
			t.asking(in.Input)
		case effect.Changed:
			t.dirty(in.Urgency)
		case effect.Document:
			t.publish(in)
		case effect.Disk:
			t.disk(in.Refused)
		case effect.Tried:
			t.toDesired(func(d desired.Step) { d.Tried(in) })
		case effect.SetMode:
			t.toMode.Put(mode.Input{Kind: mode.Set, Mode: in.Mode, Req: string(in.By)}, in.By, schema.Precondition{})
		case effect.ActCompleted:
			t.report.ActCompleted(in.ID)
		case effect.ActFailed:
			t.actFailed(in.ID, in.Reason, in.Detail)
		case effect.Caps:
			t.tellCaps()
		default:
			panic(fmt.Sprintf("brain: no such intent: %T", in))
		}
	}
	t.list.Cut(from)
}

// reports is the part that publishes, within this step.
func (t *step) reports() report.Step { return report.Step{State: &t.report, Now: t.now, Out: &t.list} }

// toReport lets it do something, and carries out what follows.
func (t *step) toReport(do func(report.Step)) {
	from := t.list.Len()
	do(t.reports())
	t.settle(from)
}

// tell makes an event of history.
func (t *step) tell(kind, source, cause, req string, data any) {
	t.toReport(func(r report.Step) { r.Event(kind, source, cause, req, data) })
}

// note leaves a line for the log: one for each edge that a machine takes.
func (t *step) note(machine, from, to, why, cause string) {
	t.do(effect.Note{Machine: machine, From: from, To: to, Why: why, Cause: cause})
}

// raise puts an alert on the state, and clear takes it off.
func (t *step) raise(kind string, level schema.AlertLevel, source, detail, hint string) {
	t.toReport(func(r report.Step) { r.Raise(kind, level, source, detail, hint, t.body.Has(source)) })
}

func (t *step) clear(kind, source string) {
	t.toReport(func(r report.Step) { r.Clear(kind, source) })
}

func (t *step) dirty(u effect.Urgency) { t.report.Changed(u) }

func (t *step) disk(refused schema.Reason) { t.toReport(func(r report.Step) { r.Disk(refused) }) }

func (t *step) publish(d effect.Document) { t.toReport(func(r report.Step) { r.PublishWithin(d) }) }

func (t *step) actFailed(id string, why schema.Reason, detail string) {
	t.toReport(func(r report.Step) { r.ActFailed(id, why, detail) })
}

func (t *step) cancelReplay(of, by request.Key) (found bool) {
	t.toReport(func(r report.Step) { found = r.CancelReplay(of, by) })
	return found
}

// manuals is the part that does what is asked for manually, within this step.
func (t *step) manuals() manual.Step {
	lost, _ := t.linkLost()
	f := manual.Facts{
		Standing: t.standing(), Safety: t.safety.At, Session: t.report.Session(), Body: &t.body,
		InMnl:     t.mode.Active == schema.ModeMnl && t.mode.Phase == mode.Ready && !t.mode.Paused(&t.cfg.Mode),
		Reachable: !lost && t.report.Session() != "",
	}
	f.Story.Acts, f.Story.Files, f.Story.Languages = t.perform.Repertoire()
	return manual.Step{State: &t.manual, Facts: f, Now: t.now, Lanes: &t.lanes, Out: &t.list}
}

// toManual lets it do something, and carries out what follows.
func (t *step) toManual(do func(manual.Step)) {
	from := t.list.Len()
	do(t.manuals())
	t.settle(from)
}

// performs is the part that performs, within this step.
func (t *step) performs() perform.Step {
	lost, _ := t.linkLost()
	return perform.Step{State: &t.perform, Now: t.now, Lanes: &t.lanes, Out: &t.list, Facts: perform.Facts{
		Standing: t.standing(), Safety: t.safety.At, Stopped: len(t.stops.Latches()) > 0,
		LinkLost: lost && t.linkLossOf(schema.ModeAto) != schema.LinkLossContinue,
		Running:  t.mode.System == schema.SystemRunning,
		Battery:  perform.Battery(t.body.Battery()), Body: &t.body,
	}}
}

// toPerform lets it do something, and carries out what follows.
func (t *step) toPerform(do func(perform.Step)) {
	from := t.list.Len()
	do(t.performs())
	t.settle(from)
}

// desires is the part that takes in desired documents, within this step.
func (t *step) desires() desired.Step {
	d := desired.Step{State: &t.desired, Now: t.now, Session: t.report.Session(), Out: &t.list}
	if fleet, known := t.clock.At(t.now); known {
		d.Fleet = fleet
	}
	return d
}

// toDesired lets it do something, and carries out what follows. The performance takes
// over the story that is active then.
func (t *step) toDesired(do func(desired.Step)) {
	from := t.list.Len()
	do(t.desires())
	l, why := t.desired.Story().Playing()
	t.performs().Accept(l, why)
	t.settle(from)
}
