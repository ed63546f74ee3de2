package brain

import (
	"slices"

	"troupe/robotd/command"
	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/intent"
	"troupe/robotd/request"
	"troupe/schema"
)

// toRequests gives the part request its facts.
func (t *step) toRequests(do func(request.Step)) {
	f := request.Facts{Robot: t.cfg.ID, CurrentState: t.preconditionNow(), Current: t.AckState(), Pending: t.Pending(), Report: &t.report}
	f.FleetOffset, f.ClockKnown = t.link.Offset(t.now)
	t.runAndCarryOut(func() { do(request.Step{State: &t.requests, Facts: f, Now: t.now, Out: &t.list}) })
}

// reply answers a command.
func (t *step) reply(to command.Key, v schema.Verdict) { t.answer(effect.Reply{To: to, Verdict: v}) }

// answer passes a reply on to the sender of the command.
func (t *step) answer(r effect.Reply) {
	if desired.AsksMode(r.To) {
		t.toDesired(func(d desired.Step) { d.Answered(r.To, r.Verdict) })
		return
	}
	if intent.FromBody(r.To) {
		t.toIntent(func(i intent.Step) { i.Answered(r.To, r.Verdict) })
		return
	}
	if r.To != "" && r.Refs == nil {
		r.Refs = t.inTheWay(r.Verdict)
	}
	t.toRequests(func(q request.Step) { q.Reply(r) })
}

// publishAnswers publishes the answers of this step; those to the robot's own page need no
// session. A refusal because the disk hangs does
// not wait for that disk. The answer that a stop succeeded waits, for a limited time, until
// the latches are on the disk. An answer that motion is permitted precedes the events of that, all
// others follow theirs.
func (t *step) publishAnswers() {
	answers := t.requests.Acks()
	if t.report.Session() == "" { // the journal keeps them for the next session
		answers = slices.DeleteFunc(answers, func(a request.SendAck) bool { return a.Client != schema.LocalClient })
	}
	for _, a := range answers {
		if permitsMotion(a) {
			t.publishAnswer(a)
		}
	}
	if !t.Pending() { // then they are published
		t.recordLater()
	}
	for _, held := range t.latches.TakeHeldBack(slices.DeleteFunc(answers, permitsMotion)) {
		if held.Ack.Status != schema.StatusSucceeded || !request.IsStop(held.Ack.Verb) || !t.latches.HoldBack(&held) {
			t.publishAnswer(held.SendAck)
		}
	}
}

// permitsMotion reports whether an answer is that of a command which permits motion, if granted.
func permitsMotion(a request.SendAck) bool {
	return a.Ack.Verb == "safety/enable" || a.Ack.Verb == "safety/reset"
}

func (t *step) publishAnswer(s request.SendAck) {
	a := s.Ack
	a.TS, a.Session = t.now.Wall, t.report.Session()
	if a.Reason == schema.ReasonPrecondition && a.Current == nil {
		current := t.AckState()
		a.Current = &current
	}
	t.publish(effect.Document{Topic: schema.TopicAck, Param: s.Client, Value: &a, First: request.IsStop(a.Verb) ||
		a.Reason == schema.ReasonOverloaded, Confirm: s.Key})
}

// inTheWay lists what a failed command conflicts with, so that its sender need not look for
// it in the state.
func (t *step) inTheWay(r schema.Verdict) []schema.Ref {
	if !r.Status.Final() || r.Status == schema.StatusSucceeded {
		return nil
	}
	var refs []schema.Ref
	switch r.Reason {
	case schema.ReasonLatched:
		refs = t.latches.Refs()
	case schema.ReasonEStopInput, schema.ReasonUnitError:
		refs = t.body.Refs(r.Reason)
	case schema.ReasonUnitCritical, schema.ReasonDeviceDisabled:
		refs = t.diagnosis.Refs(r.Reason)
	case schema.ReasonNotInControl, schema.ReasonResourceBusy:
		refs = t.manual.Refs(r.Reason)
	case schema.ReasonAlreadyRunning, schema.ReasonNotPerforming:
		refs = t.perform.Refs(r.Reason)
	case schema.ReasonStopped, schema.ReasonNeedsReset:
		if at := t.safety.At; at != schema.SafetyEnabled && at != schema.SafetyDisabled {
			refs = command.Key(t.safety.Cause.Req).Refs()
		}
	}
	refs = append(refs, t.report.AlertRefs(r.Reason)...)
	return refs[:min(len(refs), schema.MaxRefs)]
}
