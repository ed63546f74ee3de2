package brain

import (
	"troupe/robotd/auto"
	"troupe/robotd/effect"
	"troupe/robotd/perform"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
)

// stepSafety gives the safety core the oldest waiting request, or none. It runs before
// everything else that decides.
func (t *step) stepSafety() {
	in, waits := t.toSafety.Take()
	if waits && !t.met(in.By, in.When) {
		in = request.Waiting[safety.Request]{}
	}
	d := safety.Step(&t.safety, t.now.Mono, t.cfg.Safety, t.safetyFacts(), in.In)
	t.toSafety.asked = t.toSafety.asked[:0]
	t.stops.SetPendingReset(t.safety)
	if d.Changed {
		t.changed(effect.FlushNow)
		t.log("safety", string(d.From), string(d.To), d.Why, d.Cause.String())
		t.recordEvent("safety_changed", "safety", d.Cause.String(), d.Cause.Req, effect.Transition{From: string(d.From), To: string(d.To), Reason: d.Cause.Reason})
		t.toPerform(func(p perform.Step) { p.SafetyChanged(d) })
	}
	if d.Answer.Asked {
		t.answerSafety(d, in.In.Verb, in.By)
	}
	t.settleReset()
}

// toSafety is what waits for the safety core: requests, of which it takes one in each step,
// and stops that parts of the robot ask for, which it takes together.
type toSafety struct {
	request.Inbox[safety.Request]
	asked []safety.Request
}

func (q *toSafety) Len() int { return q.Inbox.Len() + len(q.asked) }

// askStop lets the mode in charge, a unit or robotd itself ask for a stop. What is no stop
// counts as safety.Stop.
func (t *step) askStop(r safety.Request) {
	if !r.Verb.Stops() {
		r.Verb = safety.Stop
	}
	t.toSafety.asked = append(t.toSafety.asked, r)
}

// safetyFacts are the facts for the safety core. The slices belong to the parts, so that
// nothing is allocated.
func (t *step) safetyFacts() safety.Facts {
	active, wants, switching := t.modes.Mode().SafetyMode(&t.cfg.Mode)
	return safety.Facts{
		Units:    t.body.Movers(),
		Inputs:   t.body.PressedInputs(),
		Latches:  t.stops.Latches(),
		Asked:    t.toSafety.asked,
		Critical: t.health.Causes(),
		Mode: safety.Mode{
			Active: active, Wants: wants, Switching: switching,
			ShutdownDone: t.lanes.Idle(perform.SafetyLane),
		},
		NeedsContinue: t.needsContinue(),
	}
}

// standstill is what keeps the robot at rest, for texts that lead people out of it.
func (t *State) standstill() safety.Standstill {
	return t.safety.Standstill(t.body.PressedInputs(), t.stops.Latches(), t.needsContinue())
}

// wayOutOfUnitError is the hint of an alert about a unit in error.
func (t *step) wayOutOfUnitError() string {
	if t.safety.Physical {
		return t.standstill().WayOut()
	}
	return "check what caused it, then send safety/reset"
}

// needsContinue reports whether ato waits for auto/continue after a stop or a lost link.
func (t *State) needsContinue() bool {
	ato := t.perform.Auto()
	return ato.NeedsContinueAfter(auto.BySafety) || ato.NeedsContinueAfter(auto.ByLink)
}

func (t *step) answerSafety(d safety.Decision, v safety.Verb, by request.Key) {
	a := d.Answer
	r := schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultOK, Reason: a.Reason, Detail: a.Detail}
	switch {
	case !a.Taken:
		r.Status, r.Result = schema.StatusRejected, ""
	case d.Changed && d.To == schema.SafetyReset:
		t.resetting = by // answered again when the reset has ended
		r = schema.Verdict{Status: schema.StatusAccepted}
	}
	t.reply(by, r)
}

// settleReset answers a granted reset when it has ended.
func (t *step) settleReset() {
	if t.resetting == "" || t.safety.At == schema.SafetyReset {
		return
	}
	r := schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultOK}
	if t.safety.At != schema.SafetyDisabled {
		r = schema.Verdict{Status: schema.StatusFailed, Reason: t.safety.Cause.Reason, Detail: t.safety.Cause.String()}
	}
	t.reply(t.resetting, r)
	t.resetting = ""
}
