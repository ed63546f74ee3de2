package safety

import (
	"cmp"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/verb"
)

// State is the safety core, and what waits for it.
type State struct {
	CoreState
	limits *Limits
	boot   string // id of this run of robotd

	inbox     command.Inbox[Request] // the core takes one in each step
	asked     []Request              // stops that parts of the robot ask for; the core takes them together
	resetting command.Key            // a granted reset that has not ended
	refusals  refusals
}

// New returns the state of a robot that has just started and did not wait for a reset when it
// ended.
func New(limits *Limits, boot string, now clock.Now) State {
	return State{CoreState: Boot(now.Mono), limits: limits, boot: boot}
}

// Restore makes the robot wait for a reset that it waited for before the restart.
func (s *State) Restore(now clock.Now, pending PendingReset) {
	s.CoreState = BootPending(now.Mono, pending)
}

// Step is the part of one step of the robot that concerns the permission to move.
type Step struct {
	*State
	Facts
	Now clock.Now
	Out *effect.List
}

// Len returns how many requests and stops wait for the core.
func (s *State) Len() int { return s.inbox.Len() + len(s.asked) }

// Drop removes a command that waits.
func (s *State) Drop(k command.Key) bool { return s.inbox.Drop(k) }

// AskStop lets the mode in charge, a unit or robotd itself ask for a stop. A verb that is no
// stop counts as Stop.
func (s *State) AskStop(in effect.AskStop) {
	r := Request{Verb: Verb(in.Verb), Source: in.Source, Key: in.Key, Why: in.Why}
	if !r.Verb.Stops() {
		r.Verb = Stop
	}
	s.asked = append(s.asked, r)
}

// ResetAtRobot takes a reset of a person at the robot.
func (s *State) ResetAtRobot() {
	s.inbox.Add(Request{Verb: Reset, Source: "input", Local: true})
}

// Ask takes a command to the core. A stop precedes everything that waits, and removes it:
// what was requested before a stop does not happen after it.
func (t Step) Ask(o effect.Dispatch, asker string) {
	r := Request{
		Verb: Verb(o.Verb.Name), ID: string(o.Key), Source: "operator", By: asker,
		Why: o.Why, AskedAt: o.Arrived, HasAskedAt: true,
	}
	switch a := o.Args.(type) {
	case verb.Stop:
		r.Why = cmp.Or(a.Why, o.Why)
	case verb.EnableOrReset:
		r.Seen, r.HasSeen = time.Duration(a.SeenMonoMS)*time.Millisecond, a.SeenMonoMS != 0
		switch a.SeenBoot {
		case "":
		case t.boot:
			r.SeenIn = ThisRun
		default:
			r.SeenIn = OtherRun
		}
	}
	if r.Verb.Stops() {
		t.inbox.Clear(func(w command.Waiting[Request]) {
			t.Out.Reply(w.By, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: "a stop came before it was done",
				Refs: o.Key.Refs()})
		})
	}
	t.inbox.Put(r, o.Key, o.If)
}

// Decide gives the core the oldest waiting request, or none. It returns the command of that
// request, which Answer answers.
func (t Step) Decide() (d Decision, by command.Key) {
	in, waits := t.inbox.Take()
	if waits && !t.Out.Met(in.By, in.When, t.CurrentState) {
		in = command.Waiting[Request]{}
	}
	t.StopsAsked = t.asked
	d = t.step(t.Now.Mono, *t.limits, t.Facts, in.In)
	t.asked = t.asked[:0]
	if d.Changed {
		t.Out.Changed(effect.FlushNow)
		t.Out.LogTransition("safety", string(d.From), string(d.To), d.Why, d.Cause.String())
		t.Out.Event("safety_changed", "safety", d.Cause.String(), d.Cause.Req, effect.Transition{From: string(d.From), To: string(d.To),
			Reason: d.Cause.Reason})
	}
	return d, in.By
}

// refusedEvery is the shortest time between two events about resets at the robot that were refused
// for the same reason: somebody may press the button again and again.
const refusedEvery = time.Second

// refusedReset is the data of an event reset_refused. Count is how many presses it is about.
type refusedReset struct {
	Reason schema.Reason `json:"reason"`
	Detail string        `json:"detail,omitempty"`
	Count  int64         `json:"count"`
}

// refusals are the refused resets at the robot that no event has reported yet, for the reason that
// the newest event reported.
type refusals struct {
	refusedReset
	at time.Duration // of the newest event
}

// refuseReset takes a refused reset of a person at the robot. The first one for a reason is reported
// at once.
func (t Step) refuseReset(a Answer) {
	r := &t.refusals
	if r.Reason != a.Reason {
		t.reportRefusals()
		r.at = t.Now.Mono - refusedEvery
	}
	r.refusedReset = refusedReset{a.Reason, a.Detail, r.Count + 1}
}

// reportRefusals reports the refused resets that no event has reported yet.
func (t Step) reportRefusals() {
	r := &t.refusals
	if r.Count > 0 {
		t.Out.Event("reset_refused", "safety", string(r.Reason), "", r.refusedReset)
		r.Count, r.at = 0, t.Now.Mono
	}
}

// Answer answers the command that led to a decision, and a granted reset when it has ended.
func (t Step) Answer(d Decision, by command.Key) {
	if a := d.Answer; a.Present {
		v := schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultOK, Reason: a.Reason, Detail: a.Detail}
		switch {
		case !a.Taken:
			v.Status, v.Result = schema.StatusRejected, ""
		case d.Changed && d.To == schema.SafetyReset:
			t.resetting = by // answered again when the reset has ended
			v = schema.Verdict{Status: schema.StatusAccepted}
		}
		if by == "" && !a.Taken { // the robot's own requests have no answer, and a person at the robot waits for one
			t.refuseReset(a)
		}
		t.Out.Do(effect.Reply{To: by, Verdict: v, StartsMotion: v.Status == schema.StatusAccepted})
	}
	if t.Now.Mono >= t.refusals.at+refusedEvery {
		t.reportRefusals()
	}
	if t.resetting == "" || t.At == schema.SafetyReset {
		return
	}
	v := schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultOK}
	if t.At != schema.SafetyDisabled {
		v = schema.Verdict{Status: schema.StatusFailed, Reason: t.Cause.Reason, Detail: t.Cause.String()}
	}
	t.Out.Reply(t.resetting, v)
	t.resetting = ""
}

// Document is the part of the state document with the safety core.
func (t Step) Document() schema.StateSafety {
	return schema.StateSafety{
		State: t.At, Cause: t.Cause.Reason, StoppedBy: StoppedBy(t.CoreState, t.Facts),
		CauseDetail: t.CauseDetail(), EStopInput: len(t.Inputs) > 0,
		LocalReset: Halts(t.At) && (t.Physical || len(t.Inputs) > 0),
	}
}
