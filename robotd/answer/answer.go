// Package answer takes a command from its arrival to its answer: through the journal of
// requests, and until a published state shows its effect. It also knows which commands are
// retained.
package answer

import (
	"slices"
	"strings"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/verb"
)

// State is the state of the commands.
type State struct {
	journal  *request.State
	effects  []request.Effect // of one step of the journal; the buffer is reused
	replies  []effect.Reply   // that wait for a state that shows their effect
	acks     []request.SendAck
	cancels  []pendingCancel
	alerts   []request.Alert // to be raised, see NoteAlert
	retained map[string]bool // topics of retained commands, see retainedTopic
}

// pendingCancel is a sys/cancel that is answered after the command that it cancels.
type pendingCancel struct{ by, target command.Key }

// Restore returns the state of a robot that has just started.
func Restore(boots int64, records []command.Record, out *effect.List) State {
	journal, effects := request.Restore(boots, records, nil)
	for _, e := range effects {
		if save, ok := e.(request.Save); ok {
			out.Do(effect.SaveRequests{Save: save})
		}
	}
	return State{journal: journal}
}

// Step is the part of one step of the robot that concerns commands.
type Step struct {
	*State
	Facts
	Now clock.Now
	Out *effect.List
}

// Facts are the facts about other parts.
type Facts struct {
	Robot        string // its id
	CurrentState schema.Precondition
	Current      schema.AckState
	FleetOffset  time.Duration // the fleet's time minus the robot's
	ClockKnown   bool
	Pending      bool // an input waits for a later step of this event
	Report       Report
}

// Report is what the package asks of the published state.
type Report interface {
	Session() string
	SessionEnded() time.Duration
	StateSeq() int64
	// Clean reports whether the newest published state shows the robot as it is, and
	// CleanButRequests whether it differs at most in the list of commands.
	Clean() bool
	CleanButRequests() bool
	StateDue(now time.Duration) bool
	Changed(effect.Urgency)
}

// Journal is the journal of requests.
func (s *State) Journal() *request.State { return s.journal }

// ToJournal gives the journal of requests one input. Answers are collected, and published at the
// end of the step.
func (t Step) ToJournal(in request.Input) {
	t.effects = request.Step(t.journal, request.Now{Mono: t.Now.Mono, Wall: t.Now.Wall, Offset: t.FleetOffset, ClockKnown: t.ClockKnown, CurrentState: t.CurrentState}, in, t.effects[:0])
	for _, e := range t.effects {
		switch e := e.(type) {
		case request.Dispatch:
			t.Out.Do(effect.Dispatch{Dispatch: e})
		case request.Save:
			t.Out.Do(effect.SaveRequests{Save: e})
		case request.SendAck:
			t.acks = append(t.acks, e)
			t.Report.Changed(effect.FlushRequests)
		case request.Alert:
			t.NoteAlert(e)
		}
	}
	clear(t.effects)
}

// Tick gives the journal the time if it is due.
func (t Step) Tick() {
	if at, ok := t.journal.Deadline(); ok && t.Now.Mono >= at {
		t.ToJournal(request.Tick{})
	}
}

// Reply holds a reply back until a published state shows the effect. What the robot does by
// itself has no key, and gets no answer.
func (t Step) Reply(r effect.Reply) {
	if r.To == "" {
		return
	}
	if !r.Status.Final() {
		t.Report.Changed(effect.FlushSoon) // it is listed as running from now on
	}
	t.replies = append(t.replies, r)
	if r.Status.Final() {
		t.answerCancels(r.To, r.Verdict)
	}
}

// Release passes verdicts on to the journal of requests: refusals at once, because nothing
// was changed; successes when the state that shows them is published in this step, or was
// published before. For them it is published as soon as all steps of one event are done. A
// command that changed nothing does not wait if that state is not due.
func (t Step) Release() {
	shown := func(r *effect.Reply) bool {
		return t.Report.Clean() || r.Reason == schema.ReasonUnchanged && t.Report.CleanButRequests()
	}
	for i := range t.replies {
		if r := &t.replies[i]; r.Status == schema.StatusSucceeded && !shown(r) {
			t.Report.Changed(effect.FlushAnswer)
		}
	}
	due := !t.Pending && (t.Report.Session() == "" || t.Report.StateDue(t.Now.Mono))
	keep := t.replies[:0]
	for _, r := range t.replies {
		current, seq := t.Current, t.Report.StateSeq()
		switch {
		case shown(&r):
		case due || r.Status != schema.StatusSucceeded:
			seq++
		case r.Reason != schema.ReasonUnchanged:
			keep = append(keep, r)
			continue
		}
		t.ToJournal(request.Outcome{
			Key: r.To, Verdict: r.Verdict, Lease: r.Lease, StateSeq: seq, Current: &current, StartsMotion: r.StartsMotion,
		})
	}
	t.replies = keep
}

// Acks returns the answers of this step, to be published. The list is valid until the next
// step.
func (s *State) Acks() []request.SendAck {
	acks := s.acks
	s.acks = s.acks[:0]
	return acks
}

// CancelAfterDisconnect cancels a command whose MQTT connection was lost while the disk wrote it, and
// reports whether it did: its sender cannot see the robot any more, and nothing moves by itself
// after a lost link. Stops are carried out all the same. So are commands of control and sys, as
// none of them begins a motion, and a lease ends by itself if its holder stays away. In every other class
// some command can begin one, so all of them are cancelled; their senders ask again.
func (t Step) CancelAfterDisconnect(o request.Dispatch) bool {
	switch o.Verb.Class {
	case verb.ClassStop, verb.ClassSys, verb.ClassControl:
		return false
	}
	if o.Arrived >= t.Report.SessionEnded() || o.Client == schema.LocalClient {
		return false
	}
	t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonLinkLost, Detail: "the connection broke before it was begun; ask again"})
	return true
}

// Revoke notifies the client that had control that it has lost it, in a second answer to its
// request. If the first answer was not published yet, that answer says so.
func (t Step) Revoke(in effect.Revoke) {
	for i := range t.replies {
		if r := &t.replies[i]; r.To == in.Key {
			r.Verdict, r.Lease = schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonNotInControl, Detail: in.Detail, Refs: in.By}, in.Lease
			return
		}
	}
	t.ToJournal(request.Revoked{Key: in.Key, Reason: schema.ReasonNotInControl, Detail: in.Detail, Lease: in.Lease, Refs: in.By})
}

// CancelLater notes a sys/cancel that is answered after the command that it cancels.
func (s *State) CancelLater(by, target command.Key) {
	s.cancels = append(s.cancels, pendingCancel{by, target})
}

// answerCancels answers the commands that cancelled a command which ended with r.
func (s *State) answerCancels(target command.Key, r schema.Verdict) {
	answer := schema.Verdict{Status: schema.StatusSucceeded, Refs: target.Refs()}
	if r.Status != schema.StatusCancelled {
		answer = schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonInvalidTransition, Pointer: "/args/id", Detail: "it ended by itself: " + string(r.Status)}
	}
	s.cancels = slices.DeleteFunc(s.cancels, func(c pendingCancel) bool {
		if c.target != target {
			return false
		}
		s.replies = append(s.replies, effect.Reply{To: c.by, Verdict: answer})
		return true
	})
}

// IsStop reports whether a verb is a stop, which never waits.
func IsStop(id string) bool {
	group, name, _ := strings.Cut(id, "/")
	v, ok := verb.Of(group, name)
	return ok && v.Class == verb.ClassStop
}
