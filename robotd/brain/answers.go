package brain

import (
	"strings"

	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/verb"
)

// stepRequests gives the journal of requests one input and carries out its decision.
// Answers are collected and published at the end of the step.
func (t *step) stepRequests(in request.Input) {
	fleet, known := t.beats.Offset(t.now)
	from := len(t.answers)
	t.answers = request.Step(t.requests, request.Now{Mono: t.now.Mono, Wall: t.now.Wall, Offset: fleet, ClockKnown: known, CurrentState: t.standing()}, in, t.answers)
	keep := t.answers[:from]
	for _, e := range t.answers[from:] {
		switch e := e.(type) {
		case request.Perform:
			t.dispatch(e)
		case request.Save:
			t.do(effect.SaveRequests{Save: e})
		case request.SendAck:
			keep = append(keep, e)
			t.changed(effect.FlushRequests)
		case request.Alert:
			t.alarms = append(t.alarms, e)
		}
	}
	t.answers = keep
}

// reply answers a command.
func (t *step) reply(to request.Key, v schema.Verdict) { t.answer(effect.Reply{To: to, Verdict: v}) }

// answer holds a reply back until a published state shows the effect. What the robot does
// by itself has no key, and gets no answer.
func (t *step) answer(r effect.Reply) {
	if desired.AsksMode(r.To) {
		t.toDesired(func(d desired.Step) { d.Answered(r.To, r.Verdict) })
		return
	}
	if r.To != "" {
		if !r.Status.Final() {
			t.changed(effect.FlushSoon) // it is listed as running from now on
		}
		if r.Refs == nil {
			r.Refs = t.inTheWay(r.Verdict)
		}
		t.replies = append(t.replies, r)
		if r.Status.Final() {
			t.answerCancels(r.To, r.Verdict)
		}
	}
}

// releaseReplies passes verdicts on to the journal of requests: refusals at once, because
// nothing was changed; successes when the state that shows them is published in this step,
// or was published before. For them it is published as soon as all steps of one event are
// done. A command that changed nothing does not wait if that state is not due.
func (t *step) releaseReplies() {
	shown := func(r *effect.Reply) bool {
		return t.report.Clean() || r.Reason == schema.ReasonUnchanged && t.report.CleanButRequests()
	}
	for i := range t.replies {
		if r := &t.replies[i]; r.Status == schema.StatusSucceeded && !shown(r) {
			t.changed(effect.FlushAnswer)
		}
	}
	due := !t.Pending() && (t.report.Session() == "" || t.reports().StateDue())
	keep := t.replies[:0]
	for _, r := range t.replies {
		seq := t.report.StateSeq()
		switch {
		case shown(&r):
		case due || r.Status != schema.StatusSucceeded:
			seq++
		case r.Reason != schema.ReasonUnchanged:
			keep = append(keep, r)
			continue
		}
		t.stepRequests(request.Outcome{
			Key: r.To, Verdict: r.Verdict, Lease: r.Lease, StateSeq: seq, Current: t.current(), StartsMotion: r.Moves,
		})
	}
	t.replies = keep
}

// publishAnswers publishes the answers of this step. A refusal because the disk hangs does
// not wait for that disk. The answer that a stop succeeded waits, for a limited time, until
// the latches are on the disk.
func (t *step) publishAnswers() {
	answers := t.answers
	if t.report.Session() == "" { // the journal keeps them for the next session
		answers = nil
	}
	for _, held := range t.stops.TakeHeldBack(answers) {
		if held.Ack.Status == schema.StatusSucceeded && isStop(held.Ack.Verb) && t.stops.HoldBack(&held) {
			continue
		}
		a := held.Ack
		a.TS, a.Session = t.now.Wall, t.report.Session()
		if a.Reason == schema.ReasonPrecondition && a.Current == nil {
			a.Current = t.current()
		}
		t.publish(effect.Document{Topic: schema.TopicAck, Param: held.Client, Value: &a, First: isStop(a.Verb) || a.Reason == schema.ReasonOverloaded, Confirm: held.Key})
	}
	clear(t.answers)
	t.answers = t.answers[:0]
}

// isStop reports whether a verb is a stop, which never waits.
func isStop(id string) bool {
	group, name, _ := strings.Cut(id, "/")
	v, ok := verb.Of(group, name)
	return ok && v.Class == verb.ClassStop
}

// raiseAlarms raises the alerts of the journal of requests, after the safety core has
// decided.
func (t *step) raiseAlarms() {
	for _, a := range t.alarms {
		t.raise(string(a.Reason), schema.AlertWarn, alarmed(a), a.Verb+": "+a.Detail, "fleetd removes it from the broker; without one, remove the retained message")
	}
	t.alarms = t.alarms[:0]
}

// revoke notifies the client that had control that it has lost it, in a second answer to
// its request. If the first answer was not published yet, that answer says so.
func (t *step) revoke(key request.Key, detail string, now *schema.Lease, by []schema.Ref) {
	for i := range t.replies {
		if r := &t.replies[i]; r.To == key {
			r.Verdict, r.Lease = schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonNotInControl, Detail: detail, Refs: by}, now
			return
		}
	}
	t.stepRequests(request.Revoked{Key: key, Reason: schema.ReasonNotInControl, Detail: detail, Lease: now, Refs: by})
}

// alertsOf returns the alerts about what a reason names.
var alertsOf = map[schema.Reason]string{
	schema.ReasonUnitError:     "unit_error",
	schema.ReasonLinkLost:      "link_lost",
	schema.ReasonNotCalibrated: "calibration_failed",
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
		refs = t.stops.Refs()
	case schema.ReasonEStopInput, schema.ReasonUnitError:
		refs = t.body.Refs(r.Reason)
	case schema.ReasonNotInControl, schema.ReasonResourceBusy:
		refs = t.manual.Refs(r.Reason)
	case schema.ReasonIgnoredDuplicate, schema.ReasonIgnoredGlobal:
		refs = t.perform.Refs(r.Reason)
	case schema.ReasonStopped, schema.ReasonSafetyLatched:
		if at := t.safety.At; at != schema.SafetyEnabled && at != schema.SafetyDisabled {
			refs = request.Key(t.safety.Cause.Req).Refs()
		}
	}
	for _, a := range t.report.Alerts() {
		if a.Type == alertsOf[r.Reason] {
			refs = append(refs, schema.Ref{Kind: schema.RefAlert, ID: a.ID})
		}
	}
	return refs[:min(len(refs), schema.MaxRefs)]
}
