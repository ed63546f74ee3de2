package request

import (
	"slices"
	"strings"

	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/verb"
)

// pendingCancel is a sys/cancel that is answered after the command that it cancels.
type pendingCancel struct{ by, target command.Key }

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

// Release answers commands: refusals at once, because nothing
// was changed; successes when the state that shows them is published in this step, or was
// published before. For them it is published as soon as all steps of one event are done. A
// command that changed nothing does not wait if that state is not due.
func (t Step) Release() {
	shown := func(r *effect.Reply) bool {
		return t.Report.Clean() || r.Reason == schema.ReasonUnchanged && t.Report.CleanButMinor()
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
		t.outcome(r, seq, &current)
	}
	t.replies = keep
}

// Acks returns the answers of this step, to be published. The list is valid until the next
// step.
func (s *State) Acks() []SendAck {
	acks := s.acks
	s.acks = s.acks[:0]
	return acks
}

// CancelAfterDisconnect cancels a command whose MQTT connection was lost while the disk wrote it, and
// reports whether it did: its sender cannot see the robot any more, and nothing moves by itself
// after a lost link. Stops are carried out all the same. So are commands of control and sys, as
// none of them begins a motion, and a lease ends by itself if its holder stays away. In every other class
// some command can begin one, so all of them are cancelled; their senders ask again.
func (t Step) CancelAfterDisconnect(o effect.Dispatch) bool {
	switch o.Verb.Class {
	case verb.ClassStop, verb.ClassSys, verb.ClassControl:
		return false
	}
	if o.Arrived >= t.Report.SessionEnded() || o.Client == schema.LocalClient {
		return false
	}
	t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonLinkLost,
		Detail: "the connection broke before it was begun; ask again"})
	return true
}

// Revoke notifies the client that had control that it has lost it, in a second answer to its
// request. If the first answer was not published yet, that answer says so.
func (t Step) Revoke(in effect.Revoke) {
	for i := range t.replies {
		if r := &t.replies[i]; r.To == in.Key {
			r.Verdict, r.Lease = schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonNotInControl, Detail: in.Detail, Refs: in.By},
				in.Lease
			return
		}
	}
	t.revoked(in)
}

// CancelLater notes a sys/cancel that is answered after the command that it cancels.
func (s *State) CancelLater(by, target command.Key) {
	s.cancels = append(s.cancels, pendingCancel{by, target})
}

// answerCancels answers the commands that cancelled a command which ended with r.
func (s *State) answerCancels(target command.Key, r schema.Verdict) {
	answer := schema.Verdict{Status: schema.StatusSucceeded, Refs: target.Refs()}
	if r.Status != schema.StatusCancelled {
		answer = schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonInvalidTransition, Pointer: "/args/id",
			Detail: "it ended by itself: " + string(r.Status)}
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
