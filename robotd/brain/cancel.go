package brain

import (
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/manual"
	"troupe/schema"
)

// cancel carries out sys/cancel. A command that still waits in an inbox is removed. A
// change of modes, a calibration, an act and a replay are ended. Everything else is too
// short, or would leave the robot in an undefined state.
func (t *step) cancel(o effect.Dispatch, id string) {
	target := command.KeyOf(o.Client, id)
	switch {
	case t.unqueue(target):
		t.reply(target, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonCancelled, Detail: "it was cancelled before it began",
			Refs: o.Key.Refs()})
	case t.modes.Cancel(target, o):
		return // the supervisor answers both
	case t.cancelManual(target, o.Key), t.perform.Cancel(target, o.Key):
		t.requests.CancelLater(o.Key, target)
		t.reply(o.Key, schema.Verdict{Status: schema.StatusAccepted})
		return // the lane ends it in a later step
	case t.cancelReplay(target, o.Key):
	default:
		t.reply(o.Key, schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonInvalidTransition, Pointer: "/args/id",
			Detail: "it is being done and cannot be cancelled; its answer follows"})
		return
	}
	t.reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Refs: target.Refs()})
}

// unqueue removes a command from the inbox in which it waits.
func (t *step) unqueue(k command.Key) bool {
	found := false
	for _, q := range []interface{ Drop(command.Key) bool }{&t.safety, &t.modes, &t.life, &t.perform, &t.manual} {
		found = q.Drop(k) || found
	}
	return found
}

func (t *step) cancelManual(of, by command.Key) (found bool) {
	t.toManual(func(m manual.Step) { found = m.Cancel(of, by) })
	return found
}
