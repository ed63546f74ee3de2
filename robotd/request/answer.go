package request

import (
	"cmp"
	"slices"

	"troupe/robotd/command"
	"troupe/schema"
	"troupe/schema/verb"
)

// refuse answers a command that is not admitted. Its id may be used again.
func (s *State) refuse(v verb.Verb, client, id string, ans schema.Verdict, out []Effect) []Effect {
	if ans.Status == "" {
		ans.Status = schema.StatusRejected
	}
	ans = complete(v, ans)
	a := ack(v.ID(), id, ans)
	if id != "" {
		s.last = schema.LastRequest{ID: id, Client: client, Verb: v.ID(), Status: ans.Status, Result: ans.Result, Reason: ans.Reason}
	}
	return append(out, SendAck{Client: client, Ack: a})
}

// resend sends the newest answer again. If there is none yet, the coming answer
// serves both copies.
func (s *State) resend(e *entry, out []Effect) []Effect {
	switch e.phase {
	case Done:
		t := e.finalAck()
		t.Key, t.Ack.Dup = "", true
		return append(out, t)
	case Working, Acknowledged:
		a := ack(e.rec.Verb, e.rec.ID, schema.Verdict{Status: cmp.Or(e.lastInterim, schema.StatusAccepted)})
		a.Dup, a.Progress, a.UncheckedAge = true, e.progress, e.rec.Answer.UncheckedAge
		return append(out, SendAck{Client: e.rec.Client, Ack: a})
	}
	return out
}

// saved performs the commands whose records are on disk now and refuses those
// that the disk refused. If the disk is full, it erases old finished records and
// tries once more.
func (s *State) saved(now Now, in Saved, out []Effect) []Effect {
	var again []command.Record
	diskFull := in.Refused == schema.ReasonNoSpace && s.finished() > minFinished
	for _, k := range in.Keys {
		e := s.openByKey(k)
		if e == nil {
			if in.Refused != "" {
				out = s.unwritten(now, k, out)
			}
			continue
		}
		if diskFull && e.phase == Saving && !e.retried {
			e.retried = true
			again = append(again, e.rec)
			continue
		}
		if in.Refused != "" {
			if e.transition(OnUnsaved) {
				v := e.dispatch.Verb
				s.closeEntry(e)
				s.remove(e)
				s.unmarkSeq(e)
				s.toErase = append(s.toErase, k) // it may have been written in part
				out = s.refuse(v, e.rec.Client, e.rec.ID, schema.Verdict{Reason: in.Refused, Detail: "the robot could not write the command down, so it was not begun"}, out)
			}
			continue
		}
		if e.phase == Saving && e.expires > 0 && now.Mono >= e.expires {
			out = s.expire(e, out)
			continue
		}
		if e.transition(OnSaved) {
			out = append(out, e.dispatch)
		}
	}
	if len(again) > 0 {
		out = append(out, s.save(s.evictHalf(), again...))
	}
	return out
}

// unwritten handles a finished record that the disk refused: the final answer is
// sent at once, and the write is repeated until the disk accepts it.
func (s *State) unwritten(now Now, k command.Key, out []Effect) []Effect {
	e := s.find(k)
	if e == nil || e.phase != Done {
		return out
	}
	s.saveLater(e)
	s.rewriteAt = now.Mono + rewriteEvery
	if e.answered || e.rec.Delivered {
		return out
	}
	e.answered = true
	return append(out, e.finalAck())
}

func (s *State) expire(e *entry, out []Effect) []Effect {
	e.transition(OnExpired)
	return s.finish(e, schema.Verdict{Status: schema.StatusExpired, Reason: schema.ReasonExpired, Detail: "its time to live ended before it was begun"}, out)
}

// outcome processes the result of a command. It ignores the outcome of a command
// that has its final answer, since there is exactly one.
func (s *State) outcome(now Now, o Outcome, out []Effect) []Effect {
	e := s.openByKey(o.Key)
	if e == nil {
		return out
	}
	e.stateSeq, e.current, e.lease, e.refs = o.StateSeq, o.Current, o.Lease, o.Refs
	if !o.Status.Final() {
		if o.Progress != nil {
			e.progress, e.remaining = o.Progress, o.Remaining
		}
		if !e.transition(OnBegun) {
			return out
		}
		if e.interimAt = e.arrived + acceptWithin; o.StartsMotion {
			e.interimAt = now.Mono
		}
		if e.class == verb.ClassMode {
			out = s.supersede(e, out)
		}
		return s.tick(now, out)
	}
	if e.transition(OnEnded) {
		out = s.finish(e, o.Verdict, out)
	}
	return out
}

// supersede ends the older commands of the mode class that have begun, because e
// has begun. A mode command that ends at once, such as mode/enable, supersedes
// none.
func (s *State) supersede(e *entry, out []Effect) []Effect {
	for _, old := range slices.Clone(s.open) {
		if old != e && old.class == verb.ClassMode && old.rec.N < e.rec.N && old.transition(OnSuperseded) {
			old.refs = refsTo(e)
			out = s.finish(old, schema.Verdict{Status: schema.StatusSuperseded, Reason: schema.ReasonSuperseded, Detail: e.rec.Verb + " " + e.rec.Word + " came later"}, out)
		}
	}
	return out
}

// finish gives e its one final answer. The record is written before the answer is
// sent, except for a stop, whose answer does not wait for the disk.
func (s *State) finish(e *entry, ans schema.Verdict, out []Effect) []Effect {
	ans.Detail, ans.Refs = schema.SanitizeTextWithin(ans.Detail, MaxDetail), nil
	e.rec.Answer.Verdict = complete(verbOf(e.rec.Verb), ans)
	s.closeEntry(e)
	s.noteLast(e)
	t := e.finalAck()
	if !e.inJournal {
		t.Key = ""
		return append(out, t)
	}
	if e.class == verb.ClassStop {
		e.answered = true
		return append(out, t, s.save(nil, e.rec))
	}
	return append(out, s.save(nil, e.rec), t)
}

func (s *State) noteLast(e *entry) {
	s.last = schema.LastRequest{ID: e.ackID, Client: e.rec.Client, Verb: e.rec.Verb, FirstArgument: e.rec.Word,
		Status: e.rec.Answer.Status, Result: e.rec.Answer.Result, Reason: e.rec.Answer.Reason}
}

// revoked notifies the sender of a succeeded command that what it granted was taken
// away. This is the only case of a second final answer: from now on the command
// is CANCELLED, also for repetitions. A command that was evicted from the journal
// is ignored.
func (s *State) revoked(in Revoked, out []Effect) []Effect {
	e := s.find(in.Key)
	if e == nil || e.rec.Answer.Status != schema.StatusSucceeded || !e.transition(OnRevoked) {
		return out
	}
	e.rec.Answer.Verdict = complete(verbOf(e.rec.Verb), schema.Verdict{
		Status: schema.StatusCancelled, Reason: in.Reason, Detail: schema.SanitizeTextWithin(in.Detail, MaxDetail),
	})
	e.rec.Delivered, e.lease, e.refs = false, in.Lease, in.Refs
	return append(out, s.save(nil, e.rec), e.finalAck())
}

// delivered records that an answer need not be sent again. This goes to disk with
// the next Save, since sending an answer twice after a crash does no harm.
func (s *State) delivered(k command.Key) {
	if e := s.find(k); e != nil && e.phase == Done && !e.rec.Delivered {
		e.rec.Delivered = true
		s.saveLater(e)
	}
}

// saveLater adds a finished record to the next Save.
func (s *State) saveLater(e *entry) {
	if e == nil || e.phase != Done {
		return
	}
	s.unsaved = slices.DeleteFunc(s.unsaved, func(r command.Record) bool { return r.N == e.rec.N })
	s.unsaved = append(s.unsaved, e.rec)
}

// connected sends every final answer that the broker has not confirmed, oldest
// first.
func (s *State) connected(out []Effect) []Effect {
	var unconfirmed []*entry
	for _, j := range s.journals {
		for _, e := range j.entries {
			if e.phase == Done && !e.rec.Delivered {
				unconfirmed = append(unconfirmed, e)
			}
		}
	}
	slices.SortFunc(unconfirmed, func(a, b *entry) int { return cmp.Compare(a.rec.N, b.rec.N) })
	for _, e := range unconfirmed {
		out = append(out, e.finalAck())
	}
	return out
}

func (s *State) tick(now Now, out []Effect) []Effect {
	if s.rewriteAt > 0 && now.Mono >= s.rewriteAt {
		if s.rewriteAt = 0; len(s.unsaved) > 0 {
			out = append(out, s.save(nil))
		}
	}
	for _, e := range slices.Clone(s.open) {
		switch {
		case e.phase == Saving && e.expires > 0 && now.Mono >= e.expires:
			out = s.expire(e, out)
		case e.interimAt == 0 || now.Mono < e.interimAt:
		case e.transition(OnAckDue):
			out = s.sendInterim(now, e, schema.StatusAccepted, out)
		case e.transition(OnProgressDue):
			out = s.sendInterim(now, e, schema.StatusInProgress, out)
		}
	}
	return out
}

func (s *State) sendInterim(now Now, e *entry, status schema.Status, out []Effect) []Effect {
	e.interimAt = now.Mono + progressEvery
	a := ack(e.rec.Verb, e.rec.ID, schema.Verdict{Status: status})
	a.StateSeq, a.Current, a.UncheckedAge = e.stateSeq, e.current, e.rec.Answer.UncheckedAge
	if e.lastInterim = status; status == schema.StatusInProgress {
		a.Progress, a.EtaMS = e.progress, e.remaining.Milliseconds()
	}
	s.last = schema.LastRequest{ID: e.rec.ID, Client: e.rec.Client, Verb: e.rec.Verb, FirstArgument: e.rec.Word, Status: status}
	return append(out, SendAck{Client: e.rec.Client, Ack: a})
}

// finalAck returns the message with e's final answer. The state document's number,
// the lease and the refs are valid within one boot only, so they are omitted after
// a restart.
func (e *entry) finalAck() SendAck {
	id := e.ackID
	if e.rec.IDUnreadable {
		id = ""
	}
	a := ack(e.rec.Verb, id, e.rec.Answer.Verdict)
	a.StateSeq, a.Current, a.Lease, a.Refs, a.Dup, a.UncheckedAge = e.stateSeq, e.current, e.lease, e.refs, e.dup, e.rec.Answer.UncheckedAge
	return SendAck{Client: e.rec.Client, Key: e.rec.Key(), Ack: a}
}

// ack returns an answer's message; id is empty if it could not be read.
func ack(verbID, id string, ans schema.Verdict) schema.Ack {
	a := schema.Ack{Verb: verbID, Status: ans.Status, Result: ans.Result, Reason: ans.Reason, Detail: ans.Detail, Pointer: ans.Pointer}
	if id != "" {
		a.ID = &id
	}
	if ans.Reason != "" && ans.Status != schema.StatusSucceeded {
		a.Retry = ans.Reason.Describe().Retry
	}
	if ans.Reason == schema.ReasonOverloaded {
		a.RetryMS = 1000
	}
	return a
}

// refsTo returns a reference to the command of e.
func refsTo(e *entry) []schema.Ref {
	return []schema.Ref{{Kind: schema.RefCommand, ID: string(e.rec.Key())}}
}

// complete fills in the result: commands of the mode class use the mode
// supervisor's MS_* codes, a malformed command of any class MS_INV_CMD; a success of any other class is ok, and what did
// not succeed has none.
func complete(v verb.Verb, ans schema.Verdict) schema.Verdict {
	if ans.Result != "" || !ans.Status.Final() {
		return ans
	}
	mode := v.Class == verb.ClassMode
	switch {
	case ans.Status == schema.StatusSucceeded && mode:
		ans.Result = schema.ResultSuccess
	case ans.Status == schema.StatusSucceeded:
		ans.Result = schema.ResultOK
	case malformed(ans.Reason):
		ans.Result = schema.ResultInvCmd
	case !mode || ans.Status != schema.StatusRejected && ans.Status != schema.StatusFailed:
	case ans.Reason == schema.ReasonInvalidTransition:
		ans.Result = schema.ResultInvCmd
	case ans.Reason == schema.ReasonUnknownMode, ans.Reason == schema.ReasonModeDisabled:
		ans.Result = schema.ResultNoMode
	case ans.Reason == schema.ReasonNotCalibrated:
		ans.Result = schema.ResultNoCalib
	default:
		ans.Result = schema.ResultNotReady
	}
	return ans
}

// malformed reports whether r is about the form of a command, not about the
// robot's state.
func malformed(r schema.Reason) bool {
	switch r {
	case schema.ReasonBadRequest, schema.ReasonUnknownVerb, schema.ReasonTooBig, schema.ReasonRetainedCommand, schema.ReasonIDReuse, schema.ReasonClockSkew:
		return true
	}
	return false
}
